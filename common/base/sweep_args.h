// Parsers of the values of the sweeps' flags.
//
// Each takes the flag's name, as in "--sizes", and returns InvalidArgument with one line that names
// the flag, the offending part of the value and what is allowed. Blanks around the items of a list
// are allowed. Items that repeat an earlier one are dropped, so that nothing is measured twice.

#ifndef STRIDEWISE_COMMON_BASE_SWEEP_ARGS_H_
#define STRIDEWISE_COMMON_BASE_SWEEP_ARGS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace stridewise {

// Limits, beyond which a value is taken for a typing error.
inline constexpr int64_t kMaxSize = int64_t{1} << 24;
inline constexpr int64_t kMaxItems = 100000;  // In one list, counting repeated items.
inline constexpr int64_t kMaxExtent = int64_t{1} << 31;
inline constexpr int64_t kMaxElements = int64_t{1} << 40;  // The product of any two extents.

struct Shape2 {
  int64_t rows = 0;
  int64_t cols = 0;
};

struct Shape3 {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
};

struct BlockShape {
  int x = 0;
  int y = 0;
};

// Parses a comma list of N, A:B:STEP (A, A + STEP and so on up to B) and A:B:*FACTOR (A, A * FACTOR
// and so on up to B): "1:5001:10,8192", "32:4096:*2". Sizes are 0 to kMaxSize. An empty text is an
// error.
absl::StatusOr<std::vector<int64_t>> ParseSizes(absl::string_view flag, absl::string_view text);

// Parses a comma list of shapes: "4096x512,7x5" for two dimensions. Extents are 0 to kMaxExtent,
// and the product of any two is at most kMaxElements. One dimension is a list of sizes as
// ParseSizes() takes them. An empty text is an error. REQUIRES: dimensions > 0.
absl::StatusOr<std::vector<std::vector<int64_t>>> ParseExtents(absl::string_view flag,
                                                               absl::string_view text,
                                                               int dimensions);

// Returns the extents as ParseExtents() reads them: "4096x512".
std::string ShapeText(absl::Span<const int64_t> extents);

// Call ParseExtents() for MxNxK and for ROWSxCOLS.
absl::StatusOr<std::vector<Shape3>> ParseShapes(absl::string_view flag, absl::string_view text);
absl::StatusOr<std::vector<Shape2>> ParseShapes2(absl::string_view flag, absl::string_view text);

// Parses a comma list of thread block shapes, XxY: each extent 1 to 1024, and at most 1024 threads.
// An empty text is an error.
absl::StatusOr<std::vector<BlockShape>> ParseBlocks(absl::string_view flag, absl::string_view text);

// Parses the number of problems of one shape in a batch: 1 to kMaxExtent.
absl::StatusOr<int64_t> ParseBatch(absl::string_view flag, absl::string_view text);

// A part of a sweep: every count-th point, beginning with the index-th, counted from 1.
struct Shard {
  int64_t index = 1;
  int64_t count = 1;
};

// Parses I/N with 1 <= I <= N <= 1000000.
absl::StatusOr<Shard> ParseShard(absl::string_view flag, absl::string_view text);

// Returns the indices, ascending, of the names that match any of `patterns`: a comma list of names
// and of globs with *, ? and [sets]. An empty text selects all. A pattern that matches no name is
// an error that lists the names.
absl::StatusOr<std::vector<size_t>> SelectByGlob(absl::string_view flag, absl::string_view patterns,
                                                 const std::vector<std::string>& available_names);

// Whether samples find their data in the L2 cache.
enum class L2Mode { kCold, kHot };
absl::string_view L2ModeName(L2Mode mode);  // "cold", "hot"
absl::StatusOr<L2Mode> ParseL2Mode(absl::string_view flag, absl::string_view text);

// How results are checked: every element, samples and projections only, or not at all.
enum class VerifyMode { kFull, kFast, kOff };
absl::string_view VerifyModeName(VerifyMode mode);  // "full", "fast", "off"
absl::StatusOr<VerifyMode> ParseVerifyMode(absl::string_view flag, absl::string_view text);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_SWEEP_ARGS_H_
