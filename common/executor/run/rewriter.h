// Turns preprocessed CUDA C++ into C++ that Clang compiles for the host executor.
//
//   kernel<T><<<grid, block>>>(a, b)   becomes a call of simt::Launch() with the same arguments
//   __device__ float table[9];         gets a section of its own, by which the executor finds it
//   __cluster_dims__(2, 1, 1)         goes into the kernel, which asks for that cluster first
//   __global__, __device__, __host__   are dropped from functions
//
// Every line stays where it was, so that findings and the compiler's messages name the lines of the
// source.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_REWRITER_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_REWRITER_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace stridewise::executor {

// Something that the host executor does not run, and where it stands.
struct Unsupported {
  std::string file;
  int line = 0;
  std::string what;  // "a kernel launch in device code (dynamic parallelism)"
};

struct RewrittenSource {
  std::string text;
  std::vector<Unsupported> unsupported;
  int launches = 0;  // The number of <<<...>>> in the source.
  bool has_device_code = false;
  bool has_volatile = false;    // Whether the program's own files have the word.
  bool has_structures = false;  // Whether they define structures with members.
};

// What asm becomes in device code.
inline constexpr absl::string_view kDeviceAsm = "simt_asm";
// What clock becomes there.
inline constexpr absl::string_view kDeviceClock = "simt_device_clock";

// Rewrites what `clang -E` printed, with its line markers. `section_prefix` makes the names of
// variables' sections different from those of other files of the program.
RewrittenSource RewriteCuda(absl::string_view preprocessed, absl::string_view section_prefix);

// The sections of __device__ and __managed__ variables, and of __constant__ ones, begin with these.
inline constexpr absl::string_view kDeviceSection = ".simt_device.";
inline constexpr absl::string_view kConstantSection = ".simt_constant.";

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_REWRITER_H_
