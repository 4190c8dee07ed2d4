#!/bin/bash
# Takes nvcc's command line and builds the program with simt_run: make NVCC=.../simt_nvcc.
#
# An "object" of -c is a note of the source and its flags; the sources are compiled where they are linked. What only
# matters to a GPU or to nvcc is passed over (-arch, -O3, -Xcompiler, CUDA's libraries), and any other option is an error.
set -u
run=$(dirname "$(readlink -f "$0")")/simt_run
note="simt_nvcc: a source and its flags"
no() {
  echo "simt_nvcc: $*" >&2
  exit 2
}

compile=0 output= standard=
flags=() sources=() include_dirs=() defines=() libraries=()
# Adds what the command line, or the note of an object, says.
read_arguments() {
  while [[ $# -gt 0 ]]; do
    local argument=$1
    shift
    case $argument in
      -o | -I | -D | -isystem | -std | -x | -arch | -code | -gencode | -Xcompiler | -Xptxas | -Xlinker | -ccbin | -L | -MF | -MT)
        [[ $# -gt 0 ]] || no "'$argument' needs a value"
        value=$1
        shift
        ;;
      *) value= ;;
    esac
    case $argument in
      -o) output=$value ;;
      --output-file=*) output=${argument#*=} ;;
      -I | -isystem) include_dirs+=("$(readlink -m "$value")") ;;
      -I*) include_dirs+=("$(readlink -m "${argument#-I}")") ;;
      -D) defines+=("$value") ;;
      -D*) defines+=("${argument#-D}") ;;
      -std) standard=$value ;;
      -std=* | --std=*) standard=${argument#*=} ;;
      -c | -dc | --compile) compile=1 ;;
      -lcu* | -lnv* | -lstdc++) ;;
      -l*) libraries+=("$argument") ;;
      -x | -arch | -code | -gencode | -Xcompiler | -Xptxas | -Xlinker | -ccbin | -L | -MF | -MT) ;;
      -O* | -g | -G | -w | -W* | -f* | -m64 | -M* | -L* | -arch=* | -code=* | -gencode=* | --generate-code=* | --gpu-architecture=*) ;;
      -lineinfo | -rdc=* | --relocatable-device-code=* | -use_fast_math | --use_fast_math | --expt-* | -extended-lambda | --extended-lambda) ;;
      -Xcompiler=* | -Xptxas=* | --compiler-options=* | --ptxas-options=* | -cudart* | --cudart* | --threads=* | -t* | --restrict) ;;
      -*) no "the option '$argument' is not known" ;;
      *.cu | *.cpp | *.cc | *.cxx) sources+=("$(readlink -f "$argument" || no "there is no file '$argument'")") ;;
      *)
        [[ -f $argument && $(head -n 1 "$argument" | tr -d '\0') == "$note" ]] ||
          no "'$argument' is neither a source in CUDA or C++ nor an object of simt_nvcc"
        local lines
        mapfile -t lines < <(tail -n +2 "$argument")
        read_arguments "${lines[@]}"
        ;;
    esac
  done
}
read_arguments "$@"
[[ ${#sources[@]} -gt 0 ]] || no "there is no source"

if [[ $compile == 1 ]]; then
  [[ ${#sources[@]} == 1 ]] || no "-c takes one source"
  name=$(basename "${sources[0]}")
  {
    echo "$note"
    printf '%s\n' "${sources[0]}" "${include_dirs[@]/#/-I}" "${defines[@]/#/-D}" ${standard:+"-std=$standard"}
  } | grep . >"${output:-${name%.*}.o}"
  exit 0
fi
joined() { local IFS=,; echo "$*"; }
[[ ${#include_dirs[@]} == 0 ]] || flags+=("--include_dirs=$(joined "${include_dirs[@]}")")
[[ ${#defines[@]} == 0 ]] || flags+=("--defines=$(joined "${defines[@]}")")
[[ ${#libraries[@]} == 0 ]] || flags+=("--link_flags=${libraries[*]}")
[[ -z $standard ]] || flags+=("--std=$standard")
exec "$run" "${flags[@]}" "--output=${output:-a.out}" "${sources[@]}"
