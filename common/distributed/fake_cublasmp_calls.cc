// The products and transposes of fake_cublasmp.cc. Each call asks for workspaces whose sizes depend
// on its arguments, and writes all of both.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <mutex>
#include <utility>
#include <vector>

#include "common/distributed/cublasmp_library.h"
#include "common/distributed/fake_cublasmp_grid.h"

namespace stridewise {
namespace {

// What a call does wrong; see FakeCublasMpDoes().
enum Fault : int { kNone = 0, kWritesBesideWorkspace = 1, kNeverEnds = 2 };
std::atomic<int> fault{kNone};

// What a call that never ends still has.
std::mutex held_mutex;
std::vector<std::pair<char*, size_t>>& Held() {
  static auto& held = *new std::vector<std::pair<char*, size_t>>;
  return held;
}

// Returns the bytes of a workspace, of which a call with other arguments asks for others.
size_t WorkspaceBytes(std::initializer_list<int64_t> extents,
                      std::initializer_list<const void*> arguments) {
  uint64_t hash = 1;
  for (const int64_t extent : extents) hash = hash * 31 + static_cast<uint64_t>(extent);
  for (const void* const argument : arguments) {
    hash = hash * 31 + reinterpret_cast<uintptr_t>(argument) / 4;
  }
  return 1 + hash % 5000;
}

// Uses the workspaces of a call. Returns false, if they are not those that it asked for.
bool UseWorkspaces(CublasMpHandle handle, size_t asked, void* device, size_t device_bytes,
                   void* host, size_t host_bytes) {
  if (device == nullptr || device_bytes != asked || host == nullptr || host_bytes != asked) {
    return false;
  }
  std::memset(device, 0x11, device_bytes);
  std::memset(host, 0x22, host_bytes);
  if (fault == kWritesBesideWorkspace) static_cast<char*>(host)[host_bytes] = 0x33;
  if (fault != kNeverEnds) return true;
  ++*handle->queued;
  const std::lock_guard<std::mutex> lock(held_mutex);
  Held().emplace_back(static_cast<char*>(host), host_bytes);
  return true;
}

template <typename T>
CublasMpStatus Add(int64_t m, int64_t n, const void* alpha, const void* a, CublasMpMatrix a_matrix,
                   const void* beta, void* c, CublasMpMatrix c_matrix) {
  const T factor = *static_cast<const T*>(alpha);
  if (*static_cast<const T*>(beta) != 0) return kInvalidValue;
  if (m != c_matrix->rows.extent || n != c_matrix->cols.extent) return kInvalidValue;
  if (a_matrix->rows.extent != n || a_matrix->cols.extent != m) return kInvalidValue;
  if (a_matrix->rows.block != c_matrix->cols.block) return kInvalidValue;
  if (a_matrix->cols.block != c_matrix->rows.block) return kInvalidValue;
  Compute(*c_matrix, static_cast<T*>(c), {{a, a_matrix->ld}},
          [&](const auto& parts, int64_t row, int64_t col) {
            return factor * Element<T>(parts, 0, *a_matrix, col, row);
          });
  return kCublasMpSuccess;
}

}  // namespace

extern "C" {

// From now on calls write a byte behind their workspace on the host (1), leave work on the stream
// that never ends (2), or do nothing wrong (0).
void FakeCublasMpDoes(int wrong) { fault = wrong; }

// Writes to the workspaces of calls that never ended, which must still be there.
void FakeCublasMpWritesLate() {
  const std::lock_guard<std::mutex> lock(held_mutex);
  for (const auto& [data, bytes] : Held()) std::memset(data, 0x44, bytes);
}

CublasMpStatus cublasMpGemm_bufferSize(CublasMpHandle, CublasMpOperation, CublasMpOperation,
                                       int64_t m, int64_t n, int64_t k, const void* alpha,
                                       const void* a, int64_t, int64_t, CublasMpMatrix a_matrix,
                                       const void* b, int64_t, int64_t, CublasMpMatrix b_matrix,
                                       const void* beta, void* c, int64_t, int64_t,
                                       CublasMpMatrix c_matrix, CublasMpCompute,
                                       size_t* device_bytes, size_t* host_bytes) {
  if (a_matrix->type != kCublasMpFloat || b_matrix->type != kCublasMpFloat) return kInvalidValue;
  *device_bytes = *host_bytes =
      WorkspaceBytes({m, n, k}, {alpha, a, a_matrix, b, b_matrix, beta, c, c_matrix});
  return kCublasMpSuccess;
}

CublasMpStatus cublasMpGemm(CublasMpHandle handle, CublasMpOperation a_operation,
                            CublasMpOperation b_operation, int64_t m, int64_t n, int64_t k,
                            const void* alpha, const void* a, int64_t a_row, int64_t a_col,
                            CublasMpMatrix a_matrix, const void* b, int64_t b_row, int64_t b_col,
                            CublasMpMatrix b_matrix, const void* beta, void* c, int64_t c_row,
                            int64_t c_col, CublasMpMatrix c_matrix, CublasMpCompute compute,
                            void* device, size_t device_bytes, void* host, size_t host_bytes) {
  if (a_operation != kCublasMpN || b_operation != kCublasMpN) return kInvalidValue;
  for (const int64_t first : {a_row, a_col, b_row, b_col, c_row, c_col}) {
    if (first != 1) return kInvalidValue;
  }
  if (m != a_matrix->rows.extent || k != a_matrix->cols.extent || k != b_matrix->rows.extent ||
      n != b_matrix->cols.extent || m != c_matrix->rows.extent || n != c_matrix->cols.extent) {
    return kInvalidValue;
  }
  if (compute != kCublasMpCompute32F || c_matrix->type != kCublasMpFloat) return kInvalidValue;
  const size_t asked =
      WorkspaceBytes({m, n, k}, {alpha, a, a_matrix, b, b_matrix, beta, c, c_matrix});
  if (!UseWorkspaces(handle, asked, device, device_bytes, host, host_bytes) ||
      *static_cast<const float*>(beta) != 0) {
    return kInvalidValue;
  }
  const float factor = *static_cast<const float*>(alpha);
  Compute(*c_matrix, static_cast<float*>(c), {{a, a_matrix->ld}, {b, b_matrix->ld}},
          [&](const auto& parts, int64_t row, int64_t col) {
            float sum = 0;
            for (int64_t i = 0; i < k; ++i) {
              sum += Element<float>(parts, 0, *a_matrix, row, i) *
                     Element<float>(parts, 1, *b_matrix, i, col);
            }
            return factor * sum;
          });
  return kCublasMpSuccess;
}

CublasMpStatus cublasMpGeadd_bufferSize(CublasMpHandle, CublasMpOperation, int64_t m, int64_t n,
                                        const void* alpha, const void* a, int64_t, int64_t,
                                        CublasMpMatrix a_matrix, const void* beta, void* c, int64_t,
                                        int64_t, CublasMpMatrix c_matrix, size_t* device_bytes,
                                        size_t* host_bytes) {
  *device_bytes = *host_bytes = WorkspaceBytes({m, n}, {alpha, a, a_matrix, beta, c, c_matrix});
  return kCublasMpSuccess;
}

CublasMpStatus cublasMpGeadd(CublasMpHandle handle, CublasMpOperation operation, int64_t m,
                             int64_t n, const void* alpha, const void* a, int64_t a_row,
                             int64_t a_col, CublasMpMatrix a_matrix, const void* beta, void* c,
                             int64_t c_row, int64_t c_col, CublasMpMatrix c_matrix, void* device,
                             size_t device_bytes, void* host, size_t host_bytes) {
  if (operation != kCublasMpT || a_matrix->type != c_matrix->type) return kInvalidValue;
  if (a_row != 1 || a_col != 1 || c_row != 1 || c_col != 1) return kInvalidValue;
  const size_t asked = WorkspaceBytes({m, n}, {alpha, a, a_matrix, beta, c, c_matrix});
  if (!UseWorkspaces(handle, asked, device, device_bytes, host, host_bytes)) return kInvalidValue;
  const auto add = c_matrix->type == kCublasMpFloat ? Add<float> : Add<double>;
  return add(m, n, alpha, a, a_matrix, beta, c, c_matrix);
}

}  // extern "C"

}  // namespace stridewise
