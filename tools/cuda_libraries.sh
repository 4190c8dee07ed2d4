# shellcheck shell=sh
# Source it: sets `libraries` to the value of LD_LIBRARY_PATH with which the programs of the bundle find cuBLAS, which is
# all that they may need and the bundle does not hold.

# Only version 13 has folders named cu13.
site_packages=$(python3 -c 'import sys; print("\n".join(p for p in sys.path if p.endswith("-packages")))' 2>/dev/null)
libraries=${LD_LIBRARY_PATH:-}
IFS='
'
for folder in /usr/local/cuda/lib64 /usr/local/cuda/lib \
  "${XDG_CACHE_HOME:-$HOME/.cache}"/stridewise/cuda-*/nvidia/cu13/lib \
  $(printf '%s\n' "$site_packages" | sed '/./s|$|/nvidia/cu13/lib|'); do
  [ -d "$folder" ] && libraries=$libraries${libraries:+:}$folder
done
unset IFS
