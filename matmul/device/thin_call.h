// What thin.cu makes of a call: which operand is the long one, and into how many parts its terms
// are divided.

#ifndef STRIDEWISE_MATMUL_DEVICE_THIN_CALL_H_
#define STRIDEWISE_MATMUL_DEVICE_THIN_CALL_H_

#include <algorithm>
#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/thin_block.h"

namespace stridewise {

struct ThinCall {
  ThinProduct product;  // The tiles and parts apart.
  bool along;           // Neighbours in x are terms.
  bool vectors;         // x consists of vectors.

  explicit ThinCall(const MatMulArgs& args) {
    const Gemm gemm = GemmOf(args);
    const bool few_rows = args.m <= args.n;
    const Operand& x = few_rows ? gemm.b : gemm.a;
    const Operand& y = few_rows ? gemm.a : gemm.b;
    const bool y_along = few_rows ? !args.a.transposed : args.b.transposed;
    along = few_rows ? args.b.transposed : !args.a.transposed;
    vectors = x.vectors;
    product.x = {x.data, x.ld, x.lines, few_rows ? gemm.stride_b : gemm.stride_a};
    product.y = {y.data, y_along ? y.ld : 1, y_along ? 1 : y.ld, y.lines,
                 few_rows ? gemm.stride_a : gemm.stride_b};
    product.result = {gemm.c.data,
                      few_rows ? 1 : gemm.c.ld,
                      few_rows ? gemm.c.ld : 1,
                      gemm.stride_c,
                      /*part_step=*/0,
                      gemm.scale};
    product.batch = args.batch;
    product.depth = gemm.depth;
  }

  // For ThinLine, which counts lines and terms in 32 bits.
  bool IsLine() const {
    constexpr int64_t kMost = 1 << 30;
    return product.y.lines == 1 && !along && vectors && product.batch <= kMaxGridYZ &&
           product.depth <= kMost && std::max(product.x.lines, product.x.ld) <= kMost;
  }

  int64_t Elements() const { return product.batch * product.x.lines * product.y.lines; }
  int64_t Parts() const {
    return product.depth == 0 ? 1 : CeilDiv(product.depth, product.depth_of_a_block);
  }
  int64_t WorkspaceBytes() const {
    return Parts() == 1 ? 0 : Parts() * Elements() * static_cast<int64_t>(sizeof(float));
  }

  // `parts` may turn out fewer.
  void DivideTerms(int64_t parts) {
    const int64_t depth = CeilDiv(CeilDiv(product.depth, parts), kVector) * kVector;
    product.depth_of_a_block = static_cast<int>(std::min(depth, int64_t{product.depth}));
  }
};

// Into how many parts to divide the terms, of which the long lines of a tile have `tile_bytes`, for
// `slots` blocks at one time. What a part costs, in bytes that could be read instead: its share of
// the second kernel, and of the time until the first loads arrive.
inline int64_t BestParts(int64_t tiles, int64_t tile_bytes, int64_t slots) {
#ifdef STRIDEWISE_HOST_EXECUTOR
  constexpr int64_t kPartBytes = 1 << 10;  // Small tests have parts, too.
#else
  constexpr int64_t kPartBytes = 256 << 10;
#endif
  constexpr int64_t kMostRounds = 8;  // With more the last one's gaps do not matter.
  int64_t best = 1;
  int64_t best_cost = CeilDiv(tiles, slots) * tile_bytes;
  for (int64_t parts = 2; tiles * parts <= kMostRounds * slots; ++parts) {
    const int64_t cost = CeilDiv(tiles * parts, slots) * (tile_bytes / parts + kPartBytes);
    if (cost < best_cost) {
      best = parts;
      best_cost = cost;
    }
  }
  return best;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_THIN_CALL_H_
