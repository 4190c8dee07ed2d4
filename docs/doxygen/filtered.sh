#!/bin/sh
# Prints what filter_files.py made of a file of the manual: Doxygen's filter (FILTER_PATTERNS).
exec cat "$FILTERED/${1#"$ROOT/"}"
