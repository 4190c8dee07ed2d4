#include "benchmarks/matmul/operation.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/matmul/axes.h"
#include "benchmarks/matmul/product.h"
#include "benchmarks/matmul/product_args.h"
#include "benchmarks/matmul/random_shapes.h"
#include "benchmarks/matmul/streamed_entry.h"
#include "common/base/status_macros.h"
#include "common/gpu/device.h"
#include "common/gpu/device_model.h"
#include "matmul/dispatch.h"
#include "matmul/host_executor.h"
#include "matmul/registry.h"

namespace stridewise {
namespace {

constexpr Column kExtents[] = {Column::kRows, Column::kCols, Column::kDepth};
// cuBLAS itself has no products of FP8, and Eigen none of BF16.
constexpr Peer kPeers[] = {{"cublas", Column::kVsCublas, 1, "cublaslt"},
                           {"eigen", Column::kVsEigen, 1, "onednn_matmul", "eigen_1core"},
                           {"onednn_matmul", Column::kVsOneDnn, 1, nullptr, "onednn_matmul_1core"},
                           {"cpu_threads", Column::kVsChooser, 1, nullptr, "cpu_packed"}};

constexpr absl::string_view kOnAllCores[] = {"cpu_threads", "eigen",  "openblas",
                                             "blis",        "onednn", "onednn_matmul"};

const MatMulImplementation& Own(const Implementation& implementation) {
  return static_cast<const MatMulImplementation&>(implementation);
}

class Products : public Operation {
 public:
  absl::string_view name() const override { return "matmul"; }
  absl::string_view description() const override { return "matrix multiplication"; }
  absl::Span<const Column> extent_columns() const override { return kExtents; }
  absl::Span<const absl::string_view> types() const override { return MatMulTypeNames(); }
  absl::Span<const Axis> axes() const override { return MatMulAxes(); }
  absl::Span<const Preset> presets() const override { return MatMulPresets(); }
  absl::Span<const Limit> limits() const override { return MatMulLimits(); }
  absl::Span<const Peer> peers() const override { return kPeers; }
  const RandomShapes& random_shapes() const override { return MatMulRandomShapes(); }
  const RandomShapes& host_random_shapes() const override { return MatMulHostRandomShapes(); }

  std::vector<const Implementation*> implementations() const override {
    std::vector<const Implementation*> all;
    for (const MatMulImplementation& i : MatMulImplementations()) all.push_back(&i);
    return all;
  }

  const Implementation* beyond_card() const override { return &StreamedMatMulEntry(); }

  void DescribeImplementation(const Implementation& implementation, ResultRow* row) const override {
    Operation::DescribeImplementation(implementation, row);
    row->Set(Column::kMath, Own(implementation).math);
  }

  bool UsesAllCores(const Implementation& implementation) const override {
    return std::find(std::begin(kOnAllCores), std::end(kOnAllCores), implementation.name) !=
           std::end(kOnAllCores);
  }

  bool Takes(const Implementation& implementation, const Point& point) const override {
    const bool form = Own(implementation).general || (IsPlain(FormOf(point)) && point.batch == 1);
    // What takes no FP32 is for other types alone: it is planned for no point of FP32.
    const bool type = point.type != "float" || TakesType(Own(implementation), ElementType::kFloat);
    const MatMulPrecision asked = FormOf(point).precision;
    const ElementType operands = TypesOf(point.type).a;
    // What takes a precision of other operands is refused by CheckMatMulArgs(), which says so.
    const bool precision =
        !IsPrecisionOf(asked, operands) || TakesPrecision(Own(implementation), asked, operands);
    const bool epilogue = Own(implementation).takes_epilogue || HasNoEpilogue(FormOf(point));
    const bool batch = point.batch == 1 || !implementation.on_host_memory;
    return form && type && precision && epilogue && batch;
  }

  absl::Status CheckSupported(const Implementation& implementation,
                              const Point& point) const override {
    if (FindTypes(Own(implementation), GaplessArgs(point)) == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(implementation.name, " takes no elements of type ", point.type));
    }
    if (implementation.name == "cublaslt" && !CublasLtTakesLayouts(GaplessArgs(point))) {
      return absl::InvalidArgumentError(absl::StrCat(implementation.name,
                                                     " takes elements of type ", point.type,
                                                     " along k alone: --layouts=nt or tn_col"));
    }
    return absl::OkStatus();
  }

  std::string ChosenBy(const Implementation& implementation, const Point& point,
                       const DeviceInfo& device) const override {
    MatMulArgs args = GaplessArgs(point);
    if (implementation.name != "auto" || args.m * args.n == 0) return "";
    const DeviceModel model = ModelOf(device);
    args.device_model = &model;
    if (FormOf(point).workspace) {
      args.workspace_bytes = MatMulWorkspaceBytes(Own(implementation), args);
    }
    return ChooseMatMul(args, model).implementation;
  }

  std::unique_ptr<Problem> MakeProblem(const Point& point) const override {
    return std::make_unique<Product>(point);
  }

  absl::StatusOr<std::unique_ptr<Implementation>> OnExecutor(
      const Implementation& implementation) const override {
    ASSIGN_OR_RETURN(MatMulImplementation on_executor, OnHostExecutor(Own(implementation)));
    return std::make_unique<MatMulImplementation>(std::move(on_executor));
  }

  // Two for each multiply-add.
  double EstimatedAccesses(const Point& point, int64_t side) const override {
    return 2 * RoundedUp(point.extents[0], side) * RoundedUp(point.extents[1], side) *
           RoundedUp(point.extents[2], 32);
  }

  double PeakGflops(const Point& point, const DeviceInfo& device) const override {
    const double tensor = PeakTensor16BitGflops(device);
    const ElementType operands = TypesOf(point.type).a;
    if (ElementBytes(operands) == 2) return tensor;
    if (ElementBytes(operands) == 1) return 2 * tensor;
    if (operands != ElementType::kFloat) return 0;
    switch (FormOf(point).precision) {
      case MatMulPrecision::kTf32:
        return tensor / 2;
      case MatMulPrecision::kFp32Split:
      case MatMulPrecision::kFp32SplitInt8:  // Six of twice the rate.
        return tensor / 3;                   // Three products of 16 bits.
      case MatMulPrecision::kFp32Medium:     // One, and two of twice the rate.
        return tensor / 2;
      case MatMulPrecision::kBf16:
      case MatMulPrecision::kFp16:
        return tensor;
      case MatMulPrecision::kFp32:
      case MatMulPrecision::kFp16Sums:  // Not of floats.
      case MatMulPrecision::kFastSums:
        break;
    }
    return PeakFp32Gflops(device);
  }

  // Not every implementation multiplies float in every precision. Of 8-bit operands cuBLASLt takes
  // those along k alone, with rows of whole 16 bytes.
  Point TinyPoint(const Point& like) const override {
    Point tiny = Operation::TinyPoint(like);
    tiny.axes[kPrecisionAxis] = like.axes[kPrecisionAxis];
    if (ElementBytes(TypesOf(like.type).a) == 1) {
      tiny.axes[kLayoutAxis] = like.axes[kLayoutAxis];
      tiny.extents.assign(tiny.extents.size(), 16);
    }
    return tiny;
  }

  // References are FP64 products, which cuBLAS computes fastest.
  bool VerifiesWithCublas() const override { return true; }

  std::string TakesText(const Implementation& implementation) const override {
    return absl::StrCat(Own(implementation).math, Own(implementation).general ? " general" : "");
  }

  std::string ListNotes() const override {
    std::string text = "auto runs the one that is predicted to be the fastest of these:\n";
    for (const MatMulDispatch& row : MatMulDispatchTable()) {
      absl::StrAppendFormat(&text, "  %-28s takes %s\n", row.implementation, row.takes.text);
    }
    if (!TuningFileStatus().ok()) {
      absl::StrAppend(&text, TuningFileStatus().message(), "; the tunings built in are used\n");
    }
    return text;
  }
};

}  // namespace

const Operation& MatMulOperation() {
  static const Products operation;
  return operation;
}

}  // namespace stridewise
