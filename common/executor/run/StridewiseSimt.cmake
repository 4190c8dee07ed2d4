# stridewise_add_simt_test(): a CUDA program as a test that runs on the CPU.
#
#   include(path/to/StridewiseSimt.cmake)
#   stridewise_add_simt_test(NAME saxpy SOURCES saxpy.cu ARGUMENTS 1000 INCLUDE_DIRS include DEFINES N=3)
#
# Builds the program with simt_run as the target NAME, part of `all`, and adds the test NAME, which fails where the
# program does and where the host executor finds something (exit code 3). Neither CUDA nor a GPU is needed.

find_program(STRIDEWISE_SIMT_RUN simt_run HINTS "${CMAKE_CURRENT_LIST_DIR}/../../../bin" REQUIRED
             DOC "simt_run of Stridewise")

function(stridewise_add_simt_test)
  cmake_parse_arguments(PARSE_ARGV 0 SIMT "" "NAME" "SOURCES;ARGUMENTS;INCLUDE_DIRS;DEFINES;DEPENDS")
  if(NOT SIMT_NAME OR NOT SIMT_SOURCES OR SIMT_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "stridewise_add_simt_test: NAME and SOURCES are needed; unknown: ${SIMT_UNPARSED_ARGUMENTS}")
  endif()
  set(sources)
  foreach(source IN LISTS SIMT_SOURCES)
    get_filename_component(source "${source}" ABSOLUTE)
    list(APPEND sources "${source}")
  endforeach()
  set(flags)
  set(folders)
  foreach(folder IN LISTS SIMT_INCLUDE_DIRS)
    get_filename_component(folder "${folder}" ABSOLUTE)
    list(APPEND folders "${folder}")
  endforeach()
  if(folders)
    string(REPLACE ";" "," folders "${folders}")
    list(APPEND flags "--include_dirs=${folders}")
  endif()
  if(SIMT_DEFINES)
    string(REPLACE ";" "," defines "${SIMT_DEFINES}")
    list(APPEND flags "--defines=${defines}")
  endif()
  set(program "${CMAKE_CURRENT_BINARY_DIR}/${SIMT_NAME}.simt")
  add_custom_command(
    OUTPUT "${program}"
    COMMAND "${STRIDEWISE_SIMT_RUN}" ${flags} "--output=${program}" ${sources}
    DEPENDS ${sources} ${SIMT_DEPENDS} "${STRIDEWISE_SIMT_RUN}"
    COMMENT "Compiling ${SIMT_NAME} for the host executor"
    VERBATIM)
  add_custom_target(${SIMT_NAME} ALL DEPENDS "${program}")
  add_test(NAME ${SIMT_NAME} COMMAND "${program}" ${SIMT_ARGUMENTS})
endfunction()
