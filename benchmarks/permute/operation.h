// Permutations of the dimensions of a tensor, and the copy that bounds them, as an operation of the
// harness.
//
// A point has the rows and columns of the tensor as a matrix, whose columns are the tensor's last
// dimension, and an axis of its own: --permutations=64x2048x16x64:0213 gives the extents of `in`
// and the order of its dimensions in `out`. Without one, the point is the transpose of the matrix.

#ifndef STRIDEWISE_BENCHMARKS_PERMUTE_OPERATION_H_
#define STRIDEWISE_BENCHMARKS_PERMUTE_OPERATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "benchmarks/harness/operation.h"
#include "benchmarks/harness/preset.h"
#include "benchmarks/harness/random_shapes.h"

namespace stridewise {

const Operation& PermuteOperation();

// The extents of a tensor and the order of its dimensions.
struct Permutation {
  std::vector<int64_t> extents;
  std::vector<int64_t> order;

  int64_t elements() const;
  std::string Text() const;  // "64x2048x16x64:0213"
};

// Returns the permutation of such a text. InvalidArgument, naming the flag, for any other text.
absl::StatusOr<Permutation> ParsePermutation(absl::string_view flag, absl::string_view text);

// Returns the point of a permutation, and the permutation of a point.
Point PointOfPermutation(const Permutation& permutation, absl::string_view type);
Permutation PermutationOf(const Point& point);

// The parts of the operation that are tables.
absl::Span<const Preset> PermutePresets();
absl::Span<const Limit> PermuteLimits();
const RandomShapes& PermuteRandomShapes();

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_PERMUTE_OPERATION_H_
