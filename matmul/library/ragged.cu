// `warp_specialized`, without the tiles that hold next to nothing: a few rows or columns beyond a
// multiple of the tile are made by `thin`.
//
// 4097 x 4097 takes 33 x 17 tiles of 128 x 256 instead of 32 x 16, 10 % more, for a row and a
// column. Those two take one pass over B and one over A.

#include <algorithm>
#include <cstdint>

#include "common/base/status_macros.h"
#include "matmul/args.h"

namespace stridewise {

absl::Status MatMulStreamK(const MatMulArgs& args);
int64_t MatMulStreamKWorkspaceBytes(const MatMulArgs& args);
absl::Status MatMulWarpSpecialized(const MatMulArgs& args);
int64_t MatMulWarpSpecializedWorkspaceBytes(const MatMulArgs& args);
absl::Status MatMulThin(const MatMulArgs& args);
int64_t MatMulThinWorkspaceBytes(const MatMulArgs& args);

namespace {

#ifdef STRIDEWISE_HOST_EXECUTOR  // Which has no TMA.
constexpr auto* kLargeTiles = MatMulStreamK;
constexpr auto* kLargeTilesWorkspaceBytes = MatMulStreamKWorkspaceBytes;
#else
constexpr auto* kLargeTiles = MatMulWarpSpecialized;
constexpr auto* kLargeTilesWorkspaceBytes = MatMulWarpSpecializedWorkspaceBytes;
#endif

constexpr int64_t kTileRows = 128;  // Of either.
constexpr int64_t kTileCols = 256;
constexpr int64_t kThin = 16;  // What `thin` does in one pass.

// So many of `extent` that what is left over is worth no tile.
int64_t MainPart(int64_t extent, int64_t tile) {
  const int64_t rest = extent % tile;
  return extent > tile && rest <= kThin ? extent - rest : extent;
}

// The part of C from (row, col) on.
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
  MatMulArgs main;
  MatMulArgs bottom;  // The last rows.
  MatMulArgs right;   // The last columns of the others.
};

Parts Divide(const MatMulArgs& args) {
  const int64_t m = MainPart(args.m, kTileRows);
  const int64_t n = MainPart(args.n, kTileCols);
  return {PartOf(args, 0, 0, m, n), PartOf(args, m, 0, args.m - m, args.n),
          PartOf(args, 0, n, m, args.n - n)};
}

}  // namespace

// One after the other, and so in the same place.
int64_t MatMulRaggedWorkspaceBytes(const MatMulArgs& args) {
  const Parts parts = Divide(args);
  return std::max({kLargeTilesWorkspaceBytes(parts.main), MatMulThinWorkspaceBytes(parts.bottom),
                   MatMulThinWorkspaceBytes(parts.right)});
}

absl::Status MatMulRagged(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0) return absl::OkStatus();
  const Parts parts = Divide(args);
  RETURN_IF_ERROR(kLargeTiles(parts.main));
  if (parts.bottom.m > 0) RETURN_IF_ERROR(MatMulThin(parts.bottom));
  if (parts.right.n > 0) RETURN_IF_ERROR(MatMulThin(parts.right));
  return absl::OkStatus();
}

}  // namespace stridewise
