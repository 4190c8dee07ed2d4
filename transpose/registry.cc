#include "transpose/registry.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "transpose/check_args.h"

namespace stridewise {

// Every function of the list, declared: the arguments after the first two do not matter here.
#define DECLARE(name, function, ...) absl::Status function(const TransposeArgs& args);
#define TRANSPOSE_HOST DECLARE
#define TRANSPOSE_COPY DECLARE
#define TRANSPOSE_KERNEL DECLARE
#define TRANSPOSE_BATCHED DECLARE
#define TRANSPOSE_IN_PLACE DECLARE
#define TRANSPOSE_CUBLAS DECLARE
#include "transpose/kernels.inc"  // NOLINT(build/include)
#undef TRANSPOSE_HOST
#undef TRANSPOSE_COPY
#undef TRANSPOSE_KERNEL
#undef TRANSPOSE_BATCHED
#undef TRANSPOSE_IN_PLACE
#undef TRANSPOSE_CUBLAS
#undef DECLARE

namespace {

// Device functions are not linked in where there is no toolkit to compile them.
#if STRIDEWISE_WITH_CUDA
#define DEVICE_FUNCTION(function) function
#else
#define DEVICE_FUNCTION(function) nullptr
#endif

using Function = absl::Status (*)(const TransposeArgs& args);

// A transpose of the device; makers of other kinds change what is different.
TransposeImplementation Kernel(const char* name, Function run, Blocks blocks, const Block& block,
                               Executor executor, int min_compute_capability, const char* summary,
                               const char* teaches) {
  TransposeImplementation made;
  made.name = name;
  made.operation = TransposeOperation::kTranspose;
  made.target = Sm(min_compute_capability);
  made.summary = summary;
  made.teaches = teaches;
  made.blocks = blocks;
  made.default_block = block;
  made.executor = executor;
  made.element_sizes = kAllElementSizes;
  made.is_built_in = run != nullptr;
  made.run = run;
  return made;
}

TransposeImplementation Copy(const char* name, Function run, Blocks blocks, const Block& block,
                             Executor executor, const char* summary, const char* teaches) {
  TransposeImplementation made = Kernel(name, run, blocks, block, executor, 0, summary, teaches);
  made.operation = TransposeOperation::kCopy;
  return made;
}

[[maybe_unused]] TransposeImplementation Batched(const char* name, Function run, const Block& block,
                                                 Executor executor, const char* summary,
                                                 const char* teaches) {
  TransposeImplementation made =
      Kernel(name, run, Blocks::kFixed, block, executor, 0, summary, teaches);
  made.batches = true;
  return made;
}

enum class Shapes { kSquare, kAnyWithWorkspace };

[[maybe_unused]] TransposeImplementation InPlace(const char* name, Function run, Shapes shapes,
                                                 const Block& block, Executor executor,
                                                 const char* summary, const char* teaches) {
  TransposeImplementation made = Batched(name, run, block, executor, summary, teaches);
  made.operation = TransposeOperation::kInPlace;
  made.square_only = shapes == Shapes::kSquare;
  made.needs_workspace = shapes == Shapes::kAnyWithWorkspace;
  return made;
}

TransposeImplementation Library(const char* name, Function run, int element_sizes,
                                const char* summary, const char* teaches) {
  TransposeImplementation made =
      Kernel(name, run, Blocks::kFixed, kNoBlock, Executor::kDeviceOnly, 0, summary, teaches);
  made.needs_cublas = true;
  made.element_sizes = element_sizes;
  return made;
}

TransposeImplementation OnHost(const char* name, Function run, const char* summary,
                               const char* teaches) {
  TransposeImplementation made =
      Kernel(name, run, Blocks::kFixed, kNoBlock, Executor::kDeviceOnly, 0, summary, teaches);
  made.target = kHostCpu;
  return made;
}

}  // namespace

double TransposeBytes(int64_t rows, int64_t cols, int64_t element_bytes) {
  return 2.0 * static_cast<double>(rows) * static_cast<double>(cols) *
         static_cast<double>(element_bytes);
}

int64_t TransposeWorkspaceBytes(const TransposeImplementation& implementation,
                                const TransposeArgs& args) {
  return implementation.needs_workspace ? args.rows * args.cols * args.element_bytes : 0;
}

absl::Span<const TransposeImplementation> TransposeImplementations() {
  static const auto& implementations = *new std::vector<TransposeImplementation>{
#define TRANSPOSE_HOST(name, function, summary, teaches) OnHost(#name, function, summary, teaches),
#define TRANSPOSE_COPY(name, function, blocks, block, executor, summary, teaches)            \
  Copy(#name, DEVICE_FUNCTION(function), Blocks::blocks, block, Executor::executor, summary, \
       teaches),
#define TRANSPOSE_KERNEL(name, function, blocks, block, executor, min_cc, summary, teaches)   \
  Kernel(#name, DEVICE_FUNCTION(function), Blocks::blocks, block, Executor::executor, min_cc, \
         summary, teaches),
#define TRANSPOSE_BATCHED(name, function, block, executor, summary, teaches) \
  Batched(#name, DEVICE_FUNCTION(function), block, Executor::executor, summary, teaches),
#define TRANSPOSE_IN_PLACE(name, function, shapes, block, executor, summary, teaches)           \
  InPlace(#name, DEVICE_FUNCTION(function), Shapes::shapes, block, Executor::executor, summary, \
          teaches),
#define TRANSPOSE_CUBLAS(name, function, element_sizes, summary, teaches) \
  Library(#name, DEVICE_FUNCTION(function), element_sizes, summary, teaches),
#include "transpose/kernels.inc"  // NOLINT(build/include)
#undef TRANSPOSE_HOST
#undef TRANSPOSE_COPY
#undef TRANSPOSE_KERNEL
#undef TRANSPOSE_BATCHED
#undef TRANSPOSE_IN_PLACE
#undef TRANSPOSE_CUBLAS
  };
  return implementations;
}

const TransposeImplementation* FindTransposeImplementation(absl::string_view name) {
  for (const TransposeImplementation& implementation : TransposeImplementations()) {
    if (implementation.name == name) return &implementation;
  }
  return nullptr;
}

absl::Status RunTranspose(const TransposeImplementation& implementation,
                          const TransposeArgs& args) {
  if (implementation.run == nullptr) {
    return absl::UnavailableError("built without a CUDA toolkit");
  }
  TransposeArgs checked = args;
  if (args.block.x == 0 && args.block.y == 0) checked.block = implementation.default_block;
  absl::Status status = CheckTransposeArgs(implementation, checked);
  if (status.ok()) status = implementation.run(checked);
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(implementation.name, ": ", status.message()));
}

}  // namespace stridewise
