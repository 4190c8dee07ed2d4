#!/bin/bash
# Formats the repository's sources in place: C++ and CUDA with clang-format (.clang-format; CI has version 14), BUILD
# files with buildifier where there is one. With --check changes nothing, lists the files that differ, and returns 1.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
check=
case ${1:-} in
  "") ;;
  --check) check=1 ;;
  *)
    echo "usage: tools/format.sh [--check]" >&2
    exit 2
    ;;
esac

# list_files PATTERN...: tracked and new files, not ignored ones, nor those that were removed but not yet from git.
# The lists in .inc files are laid out by hand.
list_files() {
  git ls-files --cached --others --exclude-standard --deduplicate -z -- "$@" |
    while IFS= read -r -d '' file; do
      [[ ! -f $file ]] || printf '%s\0' "$file"
    done
}

# format TOOL FILE...: TOOL turns standard input into what the file should be.
differing=()
format() {
  local tool=$1 file formatted=$work/formatted
  shift
  for file in "$@"; do
    "$tool" "$file" >"$formatted" || exit 2
    cmp -s "$formatted" "$file" && continue
    differing+=("$file")
    [[ $check ]] || cat "$formatted" >"$file" # Keeps the file's mode.
  done
}

cpp() {
  clang-format --style=file --assume-filename="$1" <"$1"
}

bazel_file() {
  buildifier --mode=fix --path="$1" <"$1"
}

command -v clang-format >/dev/null || {
  echo "tools/format.sh needs clang-format: apt-get install clang-format" >&2
  exit 2
}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

mapfile -d '' files < <(list_files '*.h' '*.cc' '*.cu' '*.cuh')
format cpp "${files[@]}"
if command -v buildifier >/dev/null; then
  mapfile -d '' files < <(list_files BUILD '*/BUILD' WORKSPACE '*/WORKSPACE' '*.bzl')
  format bazel_file "${files[@]}"
else
  echo "tools/format.sh: there is no buildifier; BUILD files are left as they are." >&2
fi

((${#differing[@]})) || exit 0
if [[ $check ]]; then
  echo "Not formatted; tools/format.sh mends this:" >&2
  printf '%s\n' "${differing[@]}"
  exit 1
fi
printf 'formatted %s\n' "${differing[@]}"
