// What compiled machine code says about a kernel that the host executor cannot see: registers, and
// the instructions of its loops. tools/compiled_kernels.py makes it.

#ifndef STRIDEWISE_COMMON_EXECUTOR_PREDICT_COMPILED_KERNEL_H_
#define STRIDEWISE_COMMON_EXECUTOR_PREDICT_COMPILED_KERNEL_H_

#include <string>

#include "absl/strings/string_view.h"

namespace stridewise::executor {

// What a warp does in one iteration of a loop, without what is in the loops within it.
struct CompiledLoop {
  int instructions = 0;
  int multiply_adds = 0;  // Of float or double; products and sums on their own are counted too.
  int shared_bytes = 0;   // That a lane loads from shared memory.
  int global_loads = 0;   // Instructions, copies to shared memory among them.
  int barriers = 0;
  double shared_rounds = 0;  // How often a warp waits for loads from shared memory.
};

struct CompiledKernel {
  absl::string_view name;     // As KernelKey() makes it.
  int registers = 0;          // Of a thread.
  int shared_load_bytes = 0;  // Of a lane's widest load from shared memory.
  // Loads of global memory that are in flight when a warp waits; 0 where all of them are copies
  // that an iteration asks for ahead of the one that uses them.
  int loads_together = 0;
  int instructions = 0;  // Outside of all loops.
  CompiledLoop inner =
      {};  // The loop with most multiply-adds. Without instructions if there is none.
  CompiledLoop outer = {};  // The one around it. Without instructions if there is none.

  bool has_loop() const { return inner.instructions > 0; }
};

// Returns "Tiled<float,true,32>" for
// "void stridewise::(anonymous namespace)::Tiled<float, true, 32>(...)".
std::string KernelKey(absl::string_view demangled);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_PREDICT_COMPILED_KERNEL_H_
