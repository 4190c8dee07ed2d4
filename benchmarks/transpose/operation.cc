#include "benchmarks/transpose/operation.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/transpose/random_shapes.h"
#include "benchmarks/transpose/streamed_entry.h"
#include "benchmarks/transpose/transposition.h"
#include "common/base/element_type.h"
#include "common/base/status_macros.h"
#include "transpose/dispatch.h"
#include "transpose/host_executor.h"
#include "transpose/registry.h"

namespace stridewise {
namespace {

constexpr Column kExtents[] = {Column::kRows, Column::kCols};

// Bits are bits: float and int are the same work.
constexpr ElementType kElementTypes[] = {ElementType::kFloat,  ElementType::kInt,
                                         ElementType::kU8,     ElementType::kU16,
                                         ElementType::kDouble, ElementType::kFloat4};
constexpr absl::string_view kTypes[] = {"float", "int", "u8", "u16", "double", "float4"};

// A row is paired with a copy, whose speed bounds it: ours, the driver's, or the host's. Above 1
// byte an element cuBLAS is a peer, too.
constexpr Peer kPeers[] = {{"copy_vector", Column::kPctOfCopy, 100},
                           {"memcpy", Column::kVsMemcpy, 1},
                           {"cublas_geam", Column::kVsCublas, 1},
                           {"cpu_copy", Column::kPctOfCopy, 100}};

constexpr absl::string_view kOnAllCores[] = {"cpu_threads", "cpu_in_place", "cpu_copy"};

const TransposeImplementation& Own(const Implementation& implementation) {
  return static_cast<const TransposeImplementation&>(implementation);
}

bool IsCopy(const Implementation& implementation) {
  return Own(implementation).operation == TransposeOperation::kCopy;
}

int64_t BytesOf(absl::string_view type) {
  for (size_t i = 0; i < std::size(kTypes); ++i) {
    if (kTypes[i] == type) return ElementBytes(kElementTypes[i]);
  }
  return 0;
}

class Transposes : public Operation {
 public:
  absl::string_view name() const override { return "transpose"; }
  absl::string_view description() const override { return "matrix transposes and copies"; }
  absl::Span<const Column> extent_columns() const override { return kExtents; }
  absl::Span<const absl::string_view> types() const override { return kTypes; }
  absl::Span<const Preset> presets() const override { return TransposePresets(); }
  absl::Span<const Limit> limits() const override { return TransposeLimits(); }
  absl::Span<const Peer> peers() const override { return kPeers; }
  absl::string_view usual_peer() const override { return "copy_vector"; }
  const RandomShapes& random_shapes() const override { return TransposeRandomShapes(); }
  const RandomShapes& host_random_shapes() const override { return TransposeHostRandomShapes(); }

  std::vector<const Implementation*> implementations() const override {
    std::vector<const Implementation*> all;
    for (const TransposeImplementation& i : TransposeImplementations()) all.push_back(&i);
    return all;
  }

  const Implementation* beyond_card() const override { return &StreamedTransposeEntry(); }

  void DescribeImplementation(const Implementation& implementation, ResultRow* row) const override {
    switch (Own(implementation).operation) {
      case TransposeOperation::kCopy:
        return row->Set(Column::kOperation, "copy");
      case TransposeOperation::kTranspose:
        return row->Set(Column::kOperation, "transpose");
      case TransposeOperation::kInPlace:
        return row->Set(Column::kOperation, "transpose_in_place");
    }
  }

  // A copy of a batch is a larger copy.
  bool Takes(const Implementation& implementation, const Point& point) const override {
    return point.batch == 1 || Own(implementation).batches || IsCopy(implementation);
  }

  absl::Status CheckSupported(const Implementation& implementation,
                              const Point& point) const override {
    const TransposeImplementation& own = Own(implementation);
    if (own.square_only && point.extents[0] != point.extents[1]) {
      return absl::InvalidArgumentError(absl::StrCat(own.name, " takes squares only"));
    }
    if (!Takes(own, point)) {
      return absl::InvalidArgumentError(absl::StrCat(own.name, " takes one matrix only"));
    }
    const int64_t bytes = BytesOf(point.type);
    if ((own.element_sizes & bytes) != 0) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(own.name, " takes no elements of ", bytes, " bytes"));
  }

  bool UsesAllCores(const Implementation& implementation) const override {
    return std::find(std::begin(kOnAllCores), std::end(kOnAllCores), implementation.name) !=
           std::end(kOnAllCores);
  }

  bool Competes(const Implementation& implementation) const override {
    return !IsCopy(implementation);
  }

  // A copy without a block is the driver's.
  bool HasKernel(const Implementation& implementation) const override {
    return implementation.operands_on_device() &&
           (implementation.default_block.x > 0 || !IsCopy(implementation));
  }

  std::string ChosenBy(const Implementation& implementation, const Point& point,
                       const DeviceInfo& /*device*/) const override {
    if (implementation.name != "auto") return "";
    const Transposition transposition(point, BytesOf(point.type));
    return ChooseTranspose(transposition.ArgsFor(TransposeOperation::kTranspose)).implementation;
  }

  std::unique_ptr<Problem> MakeProblem(const Point& point) const override {
    return std::make_unique<Transposition>(point, BytesOf(point.type));
  }

  absl::StatusOr<std::unique_ptr<Implementation>> OnExecutor(
      const Implementation& implementation) const override {
    ASSIGN_OR_RETURN(TransposeImplementation on_executor, OnHostExecutor(Own(implementation)));
    return std::make_unique<TransposeImplementation>(std::move(on_executor));
  }

  // Four an element: a load and a store, and both again where it goes through shared memory.
  double EstimatedAccesses(const Point& point, int64_t side) const override {
    return 4 * RoundedUp(point.extents[0], side) * RoundedUp(point.extents[1], side);
  }

  std::string TakesText(const Implementation& implementation) const override {
    const TransposeImplementation& own = Own(implementation);
    if (own.blocks == Blocks::kAny) return "any block";
    if (own.operation == TransposeOperation::kInPlace) {
      return own.square_only ? "in place, n^2" : "in place";
    }
    return own.batches ? "batches" : "";
  }

  std::string ListNotes() const override {
    std::string text = "auto runs the first of these that applies:\n";
    for (const TransposeDispatch& row : TransposeDispatchTable()) {
      absl::StrAppendFormat(&text, "  %-28s %s\n", row.implementation, row.when);
    }
    return text;
  }
};

}  // namespace

const Operation& TransposeOperations() {
  static const Transposes operation;
  return operation;
}

}  // namespace stridewise
