// Kernels of large tiles without the tiles that hold next to nothing: a few rows or columns beyond
// a multiple of the tile are computed by `thin`.
//
// 4097 x 4097 takes 33 x 17 tiles of 128 x 256 instead of 32 x 16, 10 % more, for one row and one
// column. Those two take one pass over B and one over A.

#include <algorithm>
#include <cstdint>

#include "common/base/return_if_error.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tile_policies.h"

namespace stridewise {
namespace {

constexpr int64_t kMaxThin = 16;  // Rows or columns that `thin` computes in one pass.

// What computes the bulk, and its tile.
struct Bulk {
  MatMulFunctions functions;
  int64_t rows;
  int64_t cols;
};

// Returns the kernel of that name, whose tile policy it is.
template <typename Policy>
const Bulk& BulkBy(const char* kernel) {
  static const Bulk bulk = {FunctionsOf(kernel), Policy::kBlockM, Policy::kBlockN};
  return bulk;
}

const MatMulFunctions& Thin() {
  static const MatMulFunctions thin = FunctionsOf("thin");
  return thin;
}

// Returns the part of `extent` without a rest that is worth no tile.
int64_t BulkExtent(int64_t extent, int64_t tile) {
  const int64_t rest = extent % tile;
  return extent > tile && rest <= kMaxThin ? extent - rest : extent;
}

// Returns the arguments for the m x n elements of C from (row, col) on.
MatMulArgs PartOf(const MatMulArgs& args, int64_t row, int64_t col, int64_t m, int64_t n) {
  MatMulArgs part = args;
  part.m = m;
  part.n = n;
  part.a = Advanced(args.a, args.a.transposed ? row : row * args.a.ld);
  part.b = Advanced(args.b, args.b.transposed ? col * args.b.ld : col);
  part.c = Advanced(args.c, row * args.c.ld + col);
  return part;
}

struct Parts {
  MatMulArgs bulk;
  MatMulArgs bottom;  // The last rows.
  MatMulArgs right;   // The last columns of the other rows.
};

Parts Divide(const MatMulArgs& args, const Bulk& bulk) {
  const int64_t m = BulkExtent(args.m, bulk.rows);
  const int64_t n = BulkExtent(args.n, bulk.cols);
  return {PartOf(args, 0, 0, m, n), PartOf(args, m, 0, args.m - m, args.n),
          PartOf(args, 0, n, m, args.n - n)};
}

// The parts run one after the other, and so share the workspace.
int64_t WorkspaceBytes(const MatMulArgs& args, const Bulk& bulk) {
  const Parts parts = Divide(args, bulk);
  return std::max({bulk.functions.workspace_bytes(parts.bulk), Thin().workspace_bytes(parts.bottom),
                   Thin().workspace_bytes(parts.right)});
}

LaunchStatus Run(const MatMulArgs& args, const Bulk& bulk) {
  if (args.m == 0 || args.n == 0) return LaunchStatus();
  const Parts parts = Divide(args, bulk);
  RETURN_IF_ERROR(bulk.functions.run(parts.bulk));
  if (parts.bottom.m > 0) RETURN_IF_ERROR(Thin().run(parts.bottom));
  if (parts.right.n > 0) RETURN_IF_ERROR(Thin().run(parts.right));
  return LaunchStatus();
}

}  // namespace

// Defines the two functions of a registry line for that kernel and its tile policy.
#define STRIDEWISE_RAGGED(function, kernel, Policy)          \
  int64_t function##WorkspaceBytes(const MatMulArgs& args) { \
    return WorkspaceBytes(args, BulkBy<Policy>(kernel));     \
  }                                                          \
  LaunchStatus function(const MatMulArgs& args) { return Run(args, BulkBy<Policy>(kernel)); }

STRIDEWISE_RAGGED(MatMulRagged, "warp_specialized", TilePolicyWarpSpecialized)
STRIDEWISE_RAGGED(MatMulRagged128x128, "stream_k_128x128", TilePolicy128x128)
STRIDEWISE_RAGGED(MatMulRagged64x128, "stream_k_64x128", TilePolicy64x128)

}  // namespace stridewise
