// What thin.cu makes of a call: which operand is the large one, and into how many parts k is split.

#ifndef STRIDEWISE_MATMUL_DEVICE_SKINNY_PLAN_H_
#define STRIDEWISE_MATMUL_DEVICE_SKINNY_PLAN_H_

#include <algorithm>
#include <cstdint>

#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/args.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/skinny_block.h"

namespace stridewise {

struct SkinnyPlan {
  SkinnyProduct product;  // Its tiles and k_of_block are set by PlanFor().
  OperandLayout layout;   // The layout of the large operand x.
  bool vectors;           // Whether x is made of vectors.

  explicit SkinnyPlan(const MatMulArgs& args) {
    const Gemm<Float32> gemm = GemmOf<Float32>(args);
    const bool few_rows = args.m <= args.n;
    const Operand<float>& x = few_rows ? gemm.b : gemm.a;
    const Operand<float>& y = few_rows ? gemm.a : gemm.b;
    const bool a_is_k_major = !args.a.transposed;
    const bool b_is_k_major = args.b.transposed;
    const bool y_is_k_major = few_rows ? a_is_k_major : b_is_k_major;
    layout =
        (few_rows ? b_is_k_major : a_is_k_major) ? OperandLayout::kKMajor : OperandLayout::kMnMajor;
    vectors = x.vectors;
    product.x = {x.data, x.ld, x.mn, few_rows ? gemm.stride_b : gemm.stride_a};
    product.y = {y.data, y_is_k_major ? y.ld : 1, y_is_k_major ? 1 : y.ld, y.mn,
                 few_rows ? gemm.stride_a : gemm.stride_b};
    product.result = {gemm.c.data,
                      few_rows ? 1 : gemm.c.ld,
                      few_rows ? gemm.c.ld : 1,
                      gemm.stride_c,
                      /*part_stride=*/0,
                      gemm.epilogue};
    product.batch = args.batch;
    product.k = gemm.k;
  }

  // Returns whether skinny_row.h takes the call. Its kernel counts in 32 bits.
  bool IsRow() const {
    constexpr int64_t kMost = 1 << 30;
    return product.y.rows == 1 && layout == OperandLayout::kMnMajor && vectors &&
           product.batch <= kMaxGridYZ && product.k <= kMost &&
           std::max(product.x.cols, product.x.ld) <= kMost;
  }

  // Returns the number of elements of the batch's C.
  int64_t Elements() const { return product.batch * product.x.cols * product.y.rows; }

  int64_t Parts() const { return product.k == 0 ? 1 : CeilDiv(product.k, product.k_of_block); }

  int64_t WorkspaceBytes() const {
    return Parts() == 1 ? 0 : Parts() * Elements() * static_cast<int64_t>(sizeof(float));
  }

  // Splits k into `parts` parts, or fewer.
  void SplitK(int64_t parts) {
    const int64_t extent = CeilDiv(CeilDiv(product.k, parts), kVector) * kVector;
    product.k_of_block = static_cast<int>(std::min(extent, int64_t{product.k}));
  }

  // Sets the tiles of a kernel, `Form`, and the parts of k that make it fastest on the device.
  template <typename Form>
  void PlanFor(const DeviceModel& device) {
    product.col_tiles = CeilDiv(product.x.cols, Form::kCols);
    product.row_tiles = CeilDiv(product.y.rows, kMaxSkinnyRows);
    SplitK(1);
    const int64_t tiles = product.col_tiles * product.row_tiles * product.batch;
    if (tiles == 0) return;
    const auto col_bytes = static_cast<int64_t>(product.k * sizeof(float));
    const int64_t slots = int64_t{device.multiprocessors} * Form::kBlocksPerMultiprocessor;
    SplitK(BestParts(tiles, Form::kCols * col_bytes, slots, device.k_part_cost_bytes));
  }

 private:
  // Returns the number of parts of k that takes the least time with `slots` blocks at once, where a
  // tile reads `tile_bytes` of the large operand and each part costs the time of `part_cost_bytes`.
  static int64_t BestParts(int64_t tiles, int64_t tile_bytes, int64_t slots,
                           int64_t part_cost_bytes) {
    constexpr int64_t kMaxRounds = 8;  // With more the gaps in the last one do not matter.
    int64_t best = 1;
    int64_t best_cost = CeilDiv(tiles, slots) * tile_bytes;
    for (int64_t parts = 2; tiles * parts <= kMaxRounds * slots; ++parts) {
      const int64_t cost = CeilDiv(tiles * parts, slots) * (tile_bytes / parts + part_cost_bytes);
      if (cost < best_cost) {
        best = parts;
        best_cost = cost;
      }
    }
    return best;
  }
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SKINNY_PLAN_H_
