// What the lines of kernels.inc and library.inc are made of. Included by the files that include
// those lists, in a function that has a vector `made` of entries.

#ifndef STRIDEWISE_TRANSPOSE_REGISTRY_LINE_H_
#define STRIDEWISE_TRANSPOSE_REGISTRY_LINE_H_

#include "common/gpu/registry_line.h"
#include "transpose/registry.h"

// Device functions are not linked in where they are not compiled (//third_party/cuda:device_code).
#if STRIDEWISE_WITH_DEVICE_CODE
#define DEVICE_FUNCTION(function) function
#else
#define DEVICE_FUNCTION(function) nullptr
#endif

#define TRANSPOSE_HOST(name, function, ...)         \
  LaunchStatus function(const TransposeArgs& args); \
  made->push_back((__VA_ARGS__).On(kHostCpu).Finish(#name, Executor::kDeviceOnly, function));
#define TRANSPOSE_DEVICE(name, function, executor, ...) \
  LaunchStatus function(const TransposeArgs& args);     \
  made->push_back((__VA_ARGS__).Finish(#name, Executor::executor, DEVICE_FUNCTION(function)));

namespace stridewise {

// A line of kernels.inc or library.inc, which begins with Step(), Variant() or Library(). Without
// more, the entry is a transpose of one matrix, of any element size.
class TransposeLine : public RegistryLine<TransposeLine, TransposeImplementation> {
 public:
  explicit TransposeLine(int step) : RegistryLine(step) {}

  TransposeLine& Copies() {
    entry_.operation = TransposeOperation::kCopy;
    return *this;
  }
  TransposeLine& Batches() {
    entry_.batches = true;
    return *this;
  }
  TransposeLine& InPlace() {
    entry_.operation = TransposeOperation::kInPlace;
    return Batches();
  }
  TransposeLine& SquareOnly() {
    entry_.square_only = true;
    return *this;
  }
  TransposeLine& NeedsWorkspace() {
    entry_.needs_workspace = true;
    return *this;
  }
  TransposeLine& NeedsCublas() {
    entry_.needs_cublas = true;
    return *this;
  }
  // Takes elements of the sizes that are added here, and no others.
  TransposeLine& ElementSizes(int sum) {
    entry_.element_sizes = sum;
    return *this;
  }
  // `auto` runs the first entry of the list whose condition is true.
  TransposeLine& AutoIf(bool (*applies)(const TransposeArgs& args), const char* when,
                        const char* measured) {
    entry_.dispatch = {when, measured, applies};
    return *this;
  }
};

inline TransposeLine Step(int number) { return TransposeLine(number); }
inline TransposeLine Variant() { return TransposeLine(kNoStep); }
inline TransposeLine Library() { return TransposeLine(kNoStep); }

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_REGISTRY_LINE_H_
