// A copy on all cores with streaming stores: what bounds transposes on the host.

#include <omp.h>

#include <algorithm>
#include <cstring>

#include "transpose/cpu/square.h"
#include "transpose/registry.h"

namespace stridewise {
namespace {

// Copies bytes; whole cache lines of the destination past the caches.
void StreamBytes(const char* from, char* to, int64_t bytes) {
  const auto misaligned = static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % 64);
  const int64_t head = std::min(bytes, misaligned == 0 ? 0 : 64 - misaligned);
  std::memcpy(to, from, static_cast<size_t>(head));
  int64_t at = head;
  for (; at + 64 <= bytes; at += 64) {
#pragma GCC unroll 4
    for (int i = 0; i < 64; i += 16) StoreVector<true>(LoadVector(from + at + i), to + at + i);
  }
  std::memcpy(to + at, from + at, static_cast<size_t>(bytes - at));
}

}  // namespace

LaunchStatus CopyCpuStreaming(const TransposeArgs& args) {
  const int64_t element = args.element_bytes;
  const auto* from = static_cast<const char*>(args.in);
  auto* to = static_cast<char*>(args.out);
  const bool gapless = args.ld_in == args.cols && args.ld_out == args.cols;
  constexpr int64_t kPiece = 1 << 16;
  const int64_t runs = gapless ? 1 : args.rows;
  const int64_t run = gapless ? args.rows * args.cols * element : args.cols * element;
  const int64_t pieces = (run + kPiece - 1) / kPiece;
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int64_t i = 0; i < runs * pieces; ++i) {
      const int64_t row = i / pieces;
      const int64_t first = i % pieces * kPiece;
      StreamBytes(from + row * args.ld_in * element + first,
                  to + row * args.ld_out * element + first, std::min(kPiece, run - first));
    }
    EndStreaming();
  }
  return LaunchStatus();
}

}  // namespace stridewise
