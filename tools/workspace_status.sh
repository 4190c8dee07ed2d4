#!/bin/sh
# Tells Bazel the commit for the git_commit column; -dirty when the tree differs from it.
# The g in front (as in `git describe`) keeps spreadsheets from reading 12e4567 as a number.
commit=$(git rev-parse --short=12 HEAD 2>/dev/null) || exit 0
[ -z "$(git status --porcelain --untracked-files=no 2>/dev/null)" ] || dirty=-dirty
echo "STABLE_GIT_COMMIT g$commit${dirty:-}"
