// The checks that the registries of all exercises make before they run an implementation.

#ifndef STRIDEWISE_COMMON_GPU_ARGUMENT_CHECKS_H_
#define STRIDEWISE_COMMON_GPU_ARGUMENT_CHECKS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/gpu/implementation.h"

namespace stridewise {

// InvalidArgument, naming the argument, its value and what is allowed, unless value >= lowest.
absl::Status CheckAtLeast(absl::string_view argument, int64_t value, int64_t lowest);

// The same unless value <= highest.
absl::Status CheckAtMost(absl::string_view argument, int64_t value, int64_t highest);

// A row-major matrix, or a batch of matrices of one shape, with the names that messages use.
struct MatrixArgument {
  const char* name;
  const char* ld_name;
  const char* stride_name;
  const void* data;
  int64_t rows;
  int64_t cols;
  int64_t ld;
  int64_t batch;
  int64_t stride;  // Elements from one matrix to the next.
  int64_t element_bytes;
};

// Returns the number of bytes from the first element to the last, the gaps between rows and between
// matrices included; 0 if there are no elements, for which `data` may be null. Returns
// InvalidArgument, naming the argument, for ld < cols, a negative stride of a batch, 2^63 bytes or
// more, and a pointer that is null or not a multiple of the element's size.
// REQUIRES: rows, cols, batch >= 0 and element_bytes > 0.
absl::StatusOr<int64_t> CheckMatrixArgument(const MatrixArgument& matrix);

// InvalidArgument if an implementation whose block is fixed is asked for another than its own.
absl::Status CheckBlock(Blocks blocks, const Block& own, const Block& asked);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_ARGUMENT_CHECKS_H_
