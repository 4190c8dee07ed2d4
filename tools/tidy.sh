#!/bin/bash
# Runs clang-tidy (.clang-tidy) on host files: on all of them, on those given, or with --changed on those that differ
# from the last commit. CUDA files are left out: clang 14 cannot read the headers of CUDA 13.
#
# Usage: tools/tidy.sh [--changed | FILE.cc...]

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
command -v clang-tidy >/dev/null || {
  echo "tools/tidy.sh needs clang-tidy: apt-get install clang-tidy" >&2
  exit 2
}

case ${1:-} in
  "") mapfile -t files < <(git ls-files --cached --others --exclude-standard --deduplicate -- '*.cc') ;;
  --changed)
    mapfile -t files < <(
      git diff --name-only --diff-filter=d HEAD -- '*.cc'
      git ls-files --others --exclude-standard -- '*.cc'
    )
    ;;
  *) files=("$@") ;;
esac
((${#files[@]})) || exit 0

tools/compile_commands.py || exit 2
# Each line is one file's findings; xargs returns non-zero when any file has some.
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" \
  clang-tidy -p . --quiet --extra-arg=-Wno-unknown-warning-option 2> >(grep -v ' warnings\? generated\.$' >&2)
