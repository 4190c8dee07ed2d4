#include "benchmarks/permute/operation.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "benchmarks/permute/implementations.h"
#include "benchmarks/permute/permuted_tensor.h"
#include "common/base/element_type.h"
#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"
#include "common/base/sweep_args.h"

ABSL_FLAG(std::string, permutations, "",
          "Of permutations: extents of the tensor and order of its dimensions, as in "
          "64x2048x16x64:0213, instead of the preset's: a list. With --shapes, which says the same "
          "number of elements, only the matrix that rows name changes.");

namespace stridewise {
namespace {

constexpr Column kExtents[] = {Column::kRows, Column::kCols};
constexpr ElementType kElementTypes[] = {ElementType::kFloat, ElementType::kU8, ElementType::kU16,
                                         ElementType::kDouble, ElementType::kFloat4};
constexpr absl::string_view kTypes[] = {"float", "u8", "u16", "double", "float4"};
constexpr Peer kPeers[] = {{"memcpy", Column::kVsMemcpy, 1}};

absl::StatusOr<std::vector<std::string>> ParsePermutations(absl::string_view flag,
                                                           absl::string_view text) {
  std::vector<std::string> values;
  for (absl::string_view item : absl::StrSplit(text, ',')) {
    item = absl::StripAsciiWhitespace(item);
    if (!item.empty()) {
      ASSIGN_OR_RETURN(const Permutation permutation, ParsePermutation(flag, item));
      values.push_back(permutation.Text());
    } else {
      values.emplace_back();
    }
  }
  return values;
}

// Returns the shape of a permutation's tensor as a matrix.
std::string ShapeOf(absl::string_view value) {
  const absl::StatusOr<Permutation> permutation = ParsePermutation("--permutations", value);
  if (!permutation.ok()) return "";
  return absl::StrJoin(PointOfPermutation(*permutation, kTypes[0]).extents, "x");
}

constexpr Axis kAxes[] = {{"permutations", Column::kPermutation, "", ParsePermutations,
                           [] { return absl::GetFlag(FLAGS_permutations); }, ShapeOf}};

const PermuteImplementation& Own(const Implementation& implementation) {
  return static_cast<const PermuteImplementation&>(implementation);
}

int64_t BytesOf(absl::string_view type) {
  for (size_t i = 0; i < std::size(kTypes); ++i) {
    if (kTypes[i] == type) return ElementBytes(kElementTypes[i]);
  }
  return 0;
}

// Returns what kernels get, at addresses as an allocation has them. REQUIRES: there are elements.
PermuteArgs CanonicalAt(const Point& point) {
  PermuteProblem problem = PermutedTensor(PermutationOf(point), BytesOf(point.type)).Gapless();
  PermuteArgs args;
  args.rank = static_cast<int>(problem.rank);
  args.element_bytes = problem.element_bytes;
  for (int i = 0; i < args.rank; ++i) {
    args.dims[i].extent = problem.extents[i];
    args.dims[i].stride_in = problem.strides_in[i];
    args.dims[problem.order[i]].stride_out = problem.strides_out[i];
  }
  return Canonical(args);
}

class Permutations : public Operation {
 public:
  absl::string_view name() const override { return "permute"; }
  absl::string_view description() const override { return "permutations of dimensions"; }
  absl::Span<const Column> extent_columns() const override { return kExtents; }
  absl::Span<const absl::string_view> types() const override { return kTypes; }
  absl::Span<const Axis> axes() const override { return kAxes; }
  absl::Span<const Preset> presets() const override { return PermutePresets(); }
  absl::Span<const Limit> limits() const override { return PermuteLimits(); }
  absl::Span<const Peer> peers() const override { return kPeers; }
  absl::string_view usual_peer() const override { return "memcpy"; }
  const RandomShapes& random_shapes() const override { return PermuteRandomShapes(); }

  std::vector<const Implementation*> implementations() const override {
    std::vector<const Implementation*> all;
    for (const PermuteImplementation& i : PermuteImplementations()) all.push_back(&i);
    return all;
  }

  absl::Status CheckSupported(const Implementation& implementation,
                              const Point& point) const override {
    const Permutation permutation = PermutationOf(point);
    const int64_t elements = point.batch * point.extents[0] * point.extents[1];
    if (permutation.elements() != elements) {
      return absl::InvalidArgumentError(
          absl::StrCat("--permutations: ", permutation.Text(), " has ", permutation.elements(),
                       " elements; allowed is ", elements, ", those of --shapes"));
    }
    const PermuteImplementation& own = Own(implementation);
    if (own.check != nullptr) RETURN_IF_ERROR(own.check(BytesOf(point.type)));
    if (own.takes == nullptr || elements == 0 || own.takes(CanonicalAt(point))) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat(own.name, " does not take this permutation: ", own.takes_not));
  }

  bool Takes(const Implementation& /*implementation*/, const Point& point) const override {
    return point.batch == 1;
  }
  bool Competes(const Implementation& implementation) const override {
    return !Own(implementation).copies;
  }
  bool HasKernel(const Implementation& implementation) const override {
    return !Own(implementation).copies;
  }

  std::string ChosenBy(const Implementation& implementation, const Point& point,
                       const DeviceInfo& /*device*/) const override {
    if (implementation.name != "auto" || point.extents[0] * point.extents[1] == 0) return "";
    switch (ChoosePermute(CanonicalAt(point))) {
      case PermuteMethod::kNothing:
        return "";
      case PermuteMethod::kCopy:
        return "memcpy";
      case PermuteMethod::kTranspose:
        return "transpose";
      case PermuteMethod::kRows:
        return "permute_rows";
      case PermuteMethod::kRowBytes:
        return "permute_row_bytes";
      case PermuteMethod::kInterleave:
        return "permute_interleave";
      case PermuteMethod::kDirect:
        return "permute_direct";
      case PermuteMethod::kVector:
        return "permute_vector";
      case PermuteMethod::kFlat:
        return "permute_flat";
      case PermuteMethod::kJoined:
        return "permute_joined";
      case PermuteMethod::kBlocks:
        return "permute_blocks";
      case PermuteMethod::kTiles:
        return "permute_tile";
    }
    return "";
  }

  std::unique_ptr<Problem> MakeProblem(const Point& point) const override {
    return std::make_unique<PermutedTensor>(PermutationOf(point), BytesOf(point.type));
  }
};

}  // namespace

int64_t Permutation::elements() const {
  int64_t product = 1;
  for (const int64_t extent : extents) product *= extent;
  return product;
}

std::string Permutation::Text() const {
  return absl::StrCat(absl::StrJoin(extents, "x"), ":", absl::StrJoin(order, ""));
}

absl::StatusOr<Permutation> ParsePermutation(absl::string_view flag, absl::string_view text) {
  const absl::Status wrong = RefuseValue(
      flag, text,
      absl::StrCat("1 to ", kMaxPermuteRank,
                   " extents and each dimension's digit once, as in 64x2048x16x64:0213"));
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ':');
  if (parts.size() != 2 || parts[1].empty() || parts[1].size() > size_t{kMaxPermuteRank}) {
    return wrong;
  }
  Permutation permutation;
  const auto rank = static_cast<int>(parts[1].size());
  const absl::StatusOr<std::vector<std::vector<int64_t>>> extents =
      ParseExtents(flag, parts[0], rank);
  if (!extents.ok() || extents->size() != 1) return wrong;
  permutation.extents = extents->front();
  for (const char digit : parts[1]) {
    const int64_t dim = digit - '0';
    const auto& order = permutation.order;
    if (dim < 0 || dim >= rank || std::find(order.begin(), order.end(), dim) != order.end()) {
      return wrong;
    }
    permutation.order.push_back(dim);
  }
  return permutation;
}

Point PointOfPermutation(const Permutation& permutation, absl::string_view type) {
  const int64_t cols = permutation.extents.back();
  return {{cols == 0 ? 0 : permutation.elements() / cols, cols},
          std::string(type),
          1,
          {permutation.Text()}};
}

Permutation PermutationOf(const Point& point) {
  if (point.axes[0].empty()) return {point.extents, {1, 0}};
  return ParsePermutation("--permutations", point.axes[0]).value();
}

const Operation& PermuteOperation() {
  static const Permutations operation;
  return operation;
}

}  // namespace stridewise
