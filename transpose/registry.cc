#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/argument_checks.h"
#include "common/status_macros.h"
#include "transpose/transpose.h"

namespace stridewise {

#define TRANSPOSE_HOST(name, function, summary, teaches) \
  absl::Status function(const TransposeArgs& args);
#define TRANSPOSE_COPY(name, function, blocks, block, executor, summary, teaches) \
  absl::Status function(const TransposeArgs& args);
#define TRANSPOSE_KERNEL(name, function, blocks, block, executor, min_cc, summary, teaches) \
  absl::Status function(const TransposeArgs& args);
#define TRANSPOSE_CUBLAS(name, function, element_sizes, summary, teaches) \
  absl::Status function(const TransposeArgs& args);
#include "transpose/kernels.inc"  // NOLINT(build/include)
#undef TRANSPOSE_HOST
#undef TRANSPOSE_COPY
#undef TRANSPOSE_KERNEL
#undef TRANSPOSE_CUBLAS

namespace {

// Device functions are not linked in where there is no toolkit to compile them.
#if STRIDEWISE_WITH_CUDA
#define DEVICE_FUNCTION(function) function
#else
#define DEVICE_FUNCTION(function) nullptr
#endif

constexpr int kAllSizes = 1 + 2 + 4 + 8 + 16;

absl::Status CheckPointer(const char* argument, const void* data, const TransposeArgs& args) {
  if (args.rows == 0 || args.cols == 0) return absl::OkStatus();
  if (data == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(argument, " is null; allowed only when there are no elements, and there are ",
                     args.rows, "x", args.cols));
  }
  if (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(args.element_bytes) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(argument, " is not a multiple of ",
                                                   args.element_bytes, ", the element's size"));
  }
  return absl::OkStatus();
}

absl::Status CheckArgs(const TransposeImplementation& implementation, const TransposeArgs& args) {
  const int64_t size = args.element_bytes;
  if (size < 1 || size > 16 || (size & (size - 1)) != 0 ||
      (implementation.element_sizes & size) == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "element_bytes is ", size, "; allowed is ",
        implementation.element_sizes == kAllSizes ? "1, 2, 4, 8 and 16" : "4, 8 and 16"));
  }
  RETURN_IF_ERROR(CheckAtLeast("rows", args.rows, 0));
  RETURN_IF_ERROR(CheckAtLeast("cols", args.cols, 0));
  RETURN_IF_ERROR(CheckAtLeast("ld_in", args.ld_in, args.cols));
  const bool copy = implementation.operation == TransposeOperation::kCopy;
  RETURN_IF_ERROR(CheckAtLeast("ld_out", args.ld_out, copy ? args.cols : args.rows));
  RETURN_IF_ERROR(CheckPointer("in", args.in, args));
  RETURN_IF_ERROR(CheckPointer("out", args.out, args));
  return CheckBlock(implementation.blocks, implementation.default_block, args.block);
}

}  // namespace

double TransposeBytes(int64_t rows, int64_t cols, int64_t element_bytes) {
  return 2.0 * static_cast<double>(rows) * static_cast<double>(cols) *
         static_cast<double>(element_bytes);
}

absl::Span<const TransposeImplementation> TransposeImplementations() {
  static const auto& implementations = *new std::vector<TransposeImplementation>{
#define TRANSPOSE_HOST(name, function, summary, teaches) \
  {#name,                                                \
   TransposeOperation::kTranspose,                       \
   Where::kHost,                                         \
   summary,                                              \
   teaches,                                              \
   Blocks::kFixed,                                       \
   kNoBlock,                                             \
   Executor::kDeviceOnly,                                \
   0,                                                    \
   false,                                                \
   kAllSizes,                                            \
   function},
#define TRANSPOSE_COPY(name, function, blocks, block, executor, summary, teaches) \
  {#name,                                                                         \
   TransposeOperation::kCopy,                                                     \
   Where::kDevice,                                                                \
   summary,                                                                       \
   teaches,                                                                       \
   Blocks::blocks,                                                                \
   block,                                                                         \
   Executor::executor,                                                            \
   0,                                                                             \
   false,                                                                         \
   kAllSizes,                                                                     \
   DEVICE_FUNCTION(function)},
#define TRANSPOSE_KERNEL(name, function, blocks, block, executor, min_cc, summary, teaches) \
  {#name,          TransposeOperation::kTranspose,                                          \
   Where::kDevice, summary,                                                                 \
   teaches,        Blocks::blocks,                                                          \
   block,          Executor::executor,                                                      \
   min_cc,         false,                                                                   \
   kAllSizes,      DEVICE_FUNCTION(function)},
#define TRANSPOSE_CUBLAS(name, function, element_sizes, summary, teaches) \
  {#name,                                                                 \
   TransposeOperation::kTranspose,                                        \
   Where::kDevice,                                                        \
   summary,                                                               \
   teaches,                                                               \
   Blocks::kFixed,                                                        \
   kNoBlock,                                                              \
   Executor::kDeviceOnly,                                                 \
   0,                                                                     \
   true,                                                                  \
   element_sizes,                                                         \
   DEVICE_FUNCTION(function)},
#include "transpose/kernels.inc"  // NOLINT(build/include)
#undef TRANSPOSE_HOST
#undef TRANSPOSE_COPY
#undef TRANSPOSE_KERNEL
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
  absl::Status status = CheckArgs(implementation, checked);
  if (status.ok()) status = implementation.run(checked);
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(implementation.name, ": ", status.message()));
}

}  // namespace stridewise
