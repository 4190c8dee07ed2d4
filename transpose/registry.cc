#include "transpose/registry.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "common/gpu/registry_line.h"
#include "transpose/check_args.h"
#include "transpose/dispatch_conditions.h"

namespace stridewise {
namespace {

// Device functions are not linked in where there is no toolkit to compile them.
#if STRIDEWISE_WITH_CUDA
#define DEVICE_FUNCTION(function) function
#else
#define DEVICE_FUNCTION(function) nullptr
#endif

// A line of kernels.inc, which begins with Step() or Library(). Without more, the entry is a
// transpose of one matrix, of any element size.
class Line : public RegistryLine<Line, TransposeImplementation> {
 public:
  explicit Line(int step) : RegistryLine(step) {}

  Line& Copies() {
    entry_.operation = TransposeOperation::kCopy;
    return *this;
  }
  Line& Batches() {
    entry_.batches = true;
    return *this;
  }
  Line& InPlace() {
    entry_.operation = TransposeOperation::kInPlace;
    return Batches();
  }
  Line& SquareOnly() {
    entry_.square_only = true;
    return *this;
  }
  Line& NeedsWorkspace() {
    entry_.needs_workspace = true;
    return *this;
  }
  Line& NeedsCublas() {
    entry_.needs_cublas = true;
    return *this;
  }
  // Takes elements of the sizes that are added here, and no others.
  Line& ElementSizes(int sum) {
    entry_.element_sizes = sum;
    return *this;
  }
  // `auto` runs the first entry of the list whose condition is true.
  Line& AutoIf(bool (*applies)(const TransposeArgs& args), const char* when, const char* measured) {
    entry_.dispatch = {when, measured, applies};
    return *this;
  }
};

Line Step(int number) { return Line(number); }
Line Library() { return Line(kNoStep); }

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
  static const auto& implementations = *[] {
    auto* made = new std::vector<TransposeImplementation>;
#define TRANSPOSE_HOST(name, function, ...)         \
  absl::Status function(const TransposeArgs& args); \
  made->push_back((__VA_ARGS__).On(kHostCpu).Finish(#name, Executor::kDeviceOnly, function));
#define TRANSPOSE_DEVICE(name, function, executor, ...) \
  absl::Status function(const TransposeArgs& args);     \
  made->push_back((__VA_ARGS__).Finish(#name, Executor::executor, DEVICE_FUNCTION(function)));
#include "transpose/kernels.inc"  // NOLINT(build/include)
    return made;
  }();
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
