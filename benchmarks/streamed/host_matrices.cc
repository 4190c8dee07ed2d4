#include "benchmarks/streamed/host_matrices.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/gpu/device_ops.h"
#include "common/gpu/gpu_runtime.h"
#include "common/verify/fill.h"

namespace stridewise {
namespace {

// Fills a part of 256 MB at a time on the device, and copies it.
absl::Status FillParts(HostMatrix* matrix,
                       absl::FunctionRef<absl::Status(Matrix<float> part, int64_t number)> fill) {
  constexpr int64_t kPart = int64_t{64} << 20;
  const int64_t elements = matrix->view.rows * matrix->view.cols;
  ASSIGN_OR_RETURN(const DeviceBuffer part,
                   DeviceBuffer::Allocate(sizeof(float) * std::min(kPart, elements)));
  for (int64_t first = 0; first < elements; first += kPart) {
    const int64_t count = std::min(kPart, elements - first);
    RETURN_IF_ERROR(fill({part.As<float>(), 1, count, count}, first / kPart));
    RETURN_IF_ERROR(gpu::Synchronize(nullptr));
    RETURN_IF_ERROR(gpu::Copy(matrix->view.data + first, part.data(), sizeof(float) * count));
  }
  return absl::OkStatus();
}

absl::Status CheckElement(ConstMatrix<float> in, ConstMatrix<float> out, int64_t r, int64_t c) {
  // As bits, so that a NaN equals itself.
  if (std::memcmp(&in(r, c), &out(c, r), sizeof(float)) == 0) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("out(", c, ", ", r, ") is ", out(c, r), ", in(", r, ", ", c, ") ", in(r, c)));
}

}  // namespace

absl::StatusOr<HostMatrix> AllocateHostMatrix(int64_t rows, int64_t cols, HostMemory kind) {
  HostMatrix matrix;
  ASSIGN_OR_RETURN(matrix.memory, HostBuffer::Allocate(sizeof(float) * rows * cols, kind));
  matrix.view = {matrix.memory.As<float>(), rows, cols, cols};
  return matrix;
}

absl::StatusOr<HostMatrix> CreateMappedMatrix(int64_t rows, int64_t cols,
                                              const std::string& directory) {
  HostMatrix matrix;
  ASSIGN_OR_RETURN(matrix.file, MappedFile::CreateUnnamed(
                                    directory, static_cast<int64_t>(sizeof(float)) * rows * cols));
  matrix.view = {matrix.file.As<float>(), rows, cols, cols};
  return matrix;
}

absl::Status FillUniformThroughDevice(uint64_t seed, HostMatrix* matrix) {
  return FillParts(matrix, [seed](Matrix<float> part, int64_t number) {
    return FillUniformOnDevice(part, Mix64(seed) + static_cast<uint64_t>(number), nullptr);
  });
}

absl::Status PoisonThroughDevice(HostMatrix* matrix) {
  return FillParts(matrix, [](Matrix<float> part, int64_t) {
    return gpu::FillBytes(part.data, 0xff, sizeof(float) * part.cols, nullptr);
  });
}

absl::Status CheckTransposed(ConstMatrix<float> in, ConstMatrix<float> out, bool all) {
  if (in.rows == 0 || in.cols == 0) return absl::OkStatus();
  if (!all) {
    for (uint64_t i = 0; i < 4'000'000; ++i) {
      const auto rows = static_cast<uint64_t>(in.rows);
      const auto cols = static_cast<uint64_t>(in.cols);
      RETURN_IF_ERROR(CheckElement(in, out, static_cast<int64_t>(Mix64(2 * i) % rows),
                                   static_cast<int64_t>(Mix64(2 * i + 1) % cols)));
    }
    return absl::OkStatus();
  }
  constexpr int64_t kTile = 32;  // Of which both matrices stay in a cache.
  for (int64_t row = 0; row < in.rows; row += kTile) {
    for (int64_t col = 0; col < in.cols; col += kTile) {
      for (int64_t r = row; r < std::min(row + kTile, in.rows); ++r) {
        for (int64_t c = col; c < std::min(col + kTile, in.cols); ++c) {
          RETURN_IF_ERROR(CheckElement(in, out, r, c));
        }
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace stridewise
