#include "transpose/permute_vector_plan.h"

#include <algorithm>

#include "common/gpu/launch_geometry.h"

namespace stridewise {
namespace {

constexpr int64_t kVectorBytes = 16;

// Returns the dimension that is contiguous in `in`, or 0, which is the one that is in `out`.
int ColumnDimension(const PermuteArgs& args) {
  for (int d = 1; d < args.rank; ++d) {
    if (args.dims[d].stride_in == 1) return d;
  }
  return 0;
}

VectorDigit Digit(int64_t count, int64_t in, int64_t out, int64_t rows, int64_t columns) {
  return {in,
          out,
          static_cast<int>(rows),
          static_cast<int>(columns),
          static_cast<uint32_t>(count),
          BlockDivisor(static_cast<uint32_t>(count))};
}

}  // namespace

bool IsMadeOfVectors(const PermuteArgs& args) {
  constexpr int64_t kMostElements = int64_t{1} << 31;
  const auto at_vector = [](const void* data) {
    return reinterpret_cast<uintptr_t>(data) % kVectorBytes == 0;
  };
  if (args.rank < 2 || Elements(args) >= kMostElements) return false;
  if (!at_vector(args.in) || !at_vector(args.out)) return false;
  const int column = ColumnDimension(args);
  if (column == 0 || args.dims[0].stride_out != 1 || args.dims[0].stride_in == 1) return false;
  const int64_t elements = kVectorBytes / args.element_bytes;
  for (int d = 0; d < args.rank; ++d) {
    const PermuteDimension& dim = args.dims[d];
    if (d != column && dim.stride_in % elements != 0) return false;
    if (d != 0 && dim.stride_out % elements != 0) return false;
    if ((d == 0 || d == column) && dim.extent % elements != 0) return false;
  }
  return true;
}

// On an H200 `4x21x35x16x3x72:412503` of 4 bytes, whose out rows have 64 bytes, has 0.99 of a copy
// (permute_joined 0.95), but `18x5x6x12x15x14:150342` of 16 bytes, 96 bytes of them, 0.71
// (permute_tile 0.99), and rows of `in` of 48 bytes have a third of it. Short rows of `in` that are
// no whole sectors lose, too: 240 bytes of `10x170x1256x15:1320` have 0.83, and 0.94 in flat tiles.
// So do out rows of large tensors that are no whole sectors, which neighbouring tiles share: on an
// H200 `64x1000x20x128:3021` of 2 bytes has 0.65, and 0.89 in flat tiles; `255x66x29x66:3120` of 16
// bytes on an H100 0.74 and 0.90; 20 of 4 bytes 0.80 and 0.92 in the mean, nine of 1 byte 0.71 and
// 0.78. The L2 cache puts sectors of small ones together: `45x7x68x58:1320` of 16 bytes, 20 MB,
// has 1.02. Out rows of less than 256 bytes of elements of 4 bytes and more are few lines of a
// tile: on an H200 `8x257x32x96:1320` of 16 bytes, whose have 128, has 0.81, and 0.95 in flat
// tiles, and `64x256x20x80:1302` of 8 bytes 0.70 and 0.92.
bool PrefersVectors(const PermuteArgs& args) {
  constexpr int64_t kLeastBytes = 128;
  const int64_t least_row_bytes = args.element_bytes >= 4 ? 2 * kLeastBytes : kLeastBytes;
  constexpr int64_t kManyBytes = 512;
  constexpr int64_t kSectorBytes = 32;
  constexpr int64_t kLargeBytes = 25000000;  // Of a tensor.
  if (!IsMadeOfVectors(args)) return false;
  const auto bytes = [&](int d) { return args.dims[d].extent * args.element_bytes; };
  const int64_t columns = bytes(ColumnDimension(args));
  const bool whole =
      bytes(0) % kSectorBytes == 0 || Elements(args) * args.element_bytes < kLargeBytes;
  return whole && bytes(0) >= least_row_bytes && columns >= kLeastBytes &&
         (columns % kSectorBytes == 0 || columns >= kManyBytes);
}

PermuteVectorLimits VectorLimitsFor(const PermuteArgs& args) {
  PermuteVectorLimits limits;
  limits.log2_groups = args.element_bytes <= 2 ? 3 : args.element_bytes == 4 ? 4 : 5;
  limits.column_bytes = args.element_bytes == 1 ? 128 : 256;
  limits.threads = args.element_bytes == 16 ? 128 : 256;
  return limits;
}

PermuteVectorPlan MakePermuteVectorPlan(const PermuteArgs& args,
                                        const PermuteVectorLimits& limits) {
  const int64_t size = args.element_bytes;
  const int64_t elements = kVectorBytes / size;
  const int column = ColumnDimension(args);
  const PermuteDimension& rows = args.dims[0];
  const PermuteDimension& columns = args.dims[column];
  PermuteVectorPlan plan;
  plan.rows = static_cast<int>(rows.extent);
  plan.columns = static_cast<int>(columns.extent);
  plan.in_row_bytes = rows.stride_in * size;
  plan.out_row_bytes = columns.stride_out * size;
  plan.threads = limits.threads;
  plan.log2_groups = limits.log2_groups;
  while (plan.log2_groups > 0 && rows.extent <= elements << (plan.log2_groups - 1)) {
    --plan.log2_groups;
  }
  plan.tile_rows = static_cast<int>(elements << plan.log2_groups);
  const int64_t tiles = CeilDiv(columns.extent * size, int64_t{limits.column_bytes});
  plan.vectors = static_cast<int>(CeilDiv(CeilDiv(columns.extent, tiles), elements));
  plan.tile_columns = static_cast<int>(plan.vectors * elements);
  plan.by_vectors = SmallDivisor(plan.vectors);
  plan.shared_bytes = static_cast<int>(plan.tile_columns * (kVectorBytes << plan.log2_groups));

  for (int d = 0; d < args.rank; ++d) {
    const PermuteDimension& dim = args.dims[d];
    const int64_t step = d == 0 ? plan.tile_rows : d == column ? plan.tile_columns : 1;
    const int64_t count = CeilDiv(dim.extent, step);
    plan.digit[plan.digits++] =
        Digit(count, step * dim.stride_in * size, step * dim.stride_out * size, d == 0 ? step : 0,
              d == column ? step : 0);
    plan.blocks *= count;
  }
  // Blocks that run at the same time read neighbouring rows of `in` whole.
  SortFew(plan.digit, plan.digits,
          [](const VectorDigit& a, const VectorDigit& b) { return a.in < b.in; });
  return plan;
}

}  // namespace stridewise
