#!/bin/bash
# make_archive.sh OUTPUT.tar.gz VERSION SO_VERSION FILE...
# Packs the files into one folder, each where users of C libraries expect it. The same files make the same bytes.

set -euo pipefail
output=$1 version=$2 so_version=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
name=$(basename "$output" .tar.gz)
root=$work/$name
mkdir -p "$root"/{include,lib/cmake/Stridewise,lib/pkgconfig,examples}

# fill_in TEMPLATE TARGET
fill_in() {
  sed -e "s/@VERSION@/$version/g" -e "s/@SO_VERSION@/$so_version/g" "$1" >"$2"
}

for file; do
  base=$(basename "$file")
  case $base in
    stridewise.h) cp "$file" "$root/include" ;;
    libstridewise.so)
      cp "$file" "$root/lib/$base.$version"
      ln -s "$base.$version" "$root/lib/$base.$so_version"
      ln -s "$base.$so_version" "$root/lib/$base"
      ;;
    *.so | *.a) cp "$file" "$root/lib" ;;
    *.cmake.in) fill_in "$file" "$root/lib/cmake/Stridewise/${base%.in}" ;;
    *.pc.in) fill_in "$file" "$root/lib/pkgconfig/${base%.in}" ;;
    README.md.in) fill_in "$file" "$root/README.md" ;;
    LICENSE) cp "$file" "$root" ;;
    *) cp "$file" "$root/examples" ;;
  esac
done

tar --create --directory="$work" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX "$name" |
  gzip --no-name -6 >"$output"
