#!/bin/bash
# Makes the reference manual with Doxygen. //docs:manual runs it, at the workspace's root:
#
#   make_manual.sh html OUTPUT_FOLDER MANUAL_FILES    OUTPUT_FOLDER/index.html and all that belongs to it
#   make_manual.sh pdf OUTPUT.pdf MANUAL_FILES
#
# MANUAL_FILES lists the headers, pages and images of the manual, one a line. A warning of Doxygen is an error.

set -eu
format=$1 output=$2
manual_files=$3
image='\.\(png\|svg\)$'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export FILTERED=$work/filtered ROOT # For filtered.sh.
ROOT=$(pwd -P)
PYTHONPATH=$PWD PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -S docs/doxygen/filter_files.py "$manual_files" "$FILTERED"

# need PROGRAM PACKAGE
need() {
  command -v "$1" >/dev/null || {
    echo "The manual needs $1: install Debian's $2." >&2
    exit 1
  }
}

run_doxygen() {
  {
    cat docs/doxygen/Doxyfile
    echo "INPUT = $(grep -v "$image" "$manual_files" | tr '\n' ' ')"
    echo "IMAGE_PATH = $(grep "$image" "$manual_files" | tr '\n' ' ')"
    echo "STRIP_FROM_PATH = $PWD"
    echo "STRIP_FROM_INC_PATH = $PWD"
    printf '%s\n' "$@"
  } | doxygen -
}

need doxygen "doxygen (./bazelw does)"
case $format in
  html)
    run_doxygen "OUTPUT_DIRECTORY = $output" "HTML_OUTPUT = ."
    ;;
  pdf)
    need pdflatex doxygen-latex
    run_doxygen "OUTPUT_DIRECTORY = $work" "GENERATE_HTML = NO" "GENERATE_LATEX = YES" "LATEX_OUTPUT = ."
    # Three times, until the page numbers of contents, index and references have settled. No date of today.
    export SOURCE_DATE_EPOCH=0 FORCE_SOURCE_DATE=1
    for _ in 1 2 3; do
      (cd "$work" && pdflatex -interaction=nonstopmode -halt-on-error refman && makeindex -q refman.idx) \
        >"$work/log" 2>&1 || {
        tail -n 30 "$work/log" >&2
        exit 1
      }
    done
    cp "$work/refman.pdf" "$output"
    ;;
esac
