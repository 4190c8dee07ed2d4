// Permutes dimensions where the innermost ones of `in` and of `out` are different and made of whole
// vectors: attention's (batch, tokens, heads, 80) in any order, pictures whose channels move
// (permute_vector_plan.h). Each tile is a transpose as in tile_vector.cu, of 16 bytes an access on
// all sides, in a matrix whose place a block computes from its number.
//
// permute_flat.cu makes a table of the tile's rows before it loads them, and gathers each vector by
// elements: on an H200 `16x2048x20x128:0321` of 1 byte has 0.84 of a copy there and 0.94 here, and
// `32x197x16x64:2310` of 4 bytes 0.86 and 0.98.

#include <cstdint>

#include "common/gpu/launch.h"
#include "transpose/device/vectors.h"
#include "transpose/element_size.h"
#include "transpose/permute_args.h"
#include "transpose/permute_vector_plan.h"

namespace stridewise {
namespace {

// The host executor has no launch bounds. Blocks that a multiprocessor has registers for: elements
// of 1 and 4 bytes had them for four. Those of 8 bytes lose 3 % with such bounds, those of 2 and 16
// gain nothing.
template <typename T>
[[maybe_unused]] inline constexpr bool kIsBounded = sizeof(T) == 1 || sizeof(T) == 4;
template <typename T>
[[maybe_unused]] inline constexpr int kMaxThreads = kIsBounded<T> ? 256 : 512;
template <typename T>
[[maybe_unused]] inline constexpr int kBlocks = kIsBounded<T> ? 5 : 0;
constexpr int kAhead = 2;  // Stacks that a thread loads before it exchanges the first.

// Rows of a stack that a thread exchanges in registers.
template <typename T>
inline constexpr int kStack = sizeof(T) == 2   ? 2
                              : sizeof(T) <= 4 ? 4
                                               : 1;

// The block's tile.
struct VectorTile {
  const unsigned char* in;
  unsigned char* out;
  int rows;
  int columns;
};

__device__ inline VectorTile FindTile(const PermuteVectorPlan& plan, const unsigned char* in,
                                      unsigned char* out) {
  VectorTile tile = {in, out, plan.rows, plan.columns};
  uint32_t rest = blockIdx.x;
#pragma unroll
  for (int i = 0; i < kMaxPermuteRank; ++i) {
    if (i >= plan.digits) break;
    const VectorDigit& digit = plan.digit[i];
    const uint32_t next = digit.by_count.Quotient(rest);
    const auto index = static_cast<int>(rest - next * digit.count);
    rest = next;
    tile.in += index * digit.in;
    tile.out += index * digit.out;
    tile.rows -= index * digit.rows;
    tile.columns -= index * digit.columns;
  }
  if (tile.rows > plan.tile_rows) tile.rows = plan.tile_rows;
  if (tile.columns > plan.tile_columns) tile.columns = plan.tile_columns;
  return tile;
}

// A column of the tile is 2^log2_groups vectors of shared memory, of which vector g lies at g ^ (v
// mod 2^log2_groups), where v is the vector of a row of `in` that the column is in: threads that
// store the same group of different columns, and those that load one column, access all banks.
template <typename T>
__global__ void __launch_bounds__(kMaxThreads<T>, kBlocks<T>)
    PermuteVectorKernel(const unsigned char* in, unsigned char* out, PermuteVectorPlan plan) {
  using Exchange = Columns<T, kStack<T>>;
  constexpr int kElements = kVectorElements<T>;
  constexpr int kPieces = kElements / kStack<T>;  // Stacks of a group.
  extern __shared__ Vector shared[];
  const VectorTile tile = FindTile(plan, in, out);
  const int groups = 1 << plan.log2_groups;
  const int items = tile.rows / kStack<T> * plan.vectors;
  for (int first = threadIdx.x; first < items; first += kAhead * static_cast<int>(blockDim.x)) {
    Vector rows[kAhead][kStack<T>];
    int vector[kAhead];  // Of a row of `in`; negative: none.
    int stack[kAhead];
#pragma unroll
    for (int n = 0; n < kAhead; ++n) {
      const int item = first + n * static_cast<int>(blockDim.x);
      stack[n] = plan.by_vectors.Quotient(item);
      vector[n] = item - stack[n] * plan.vectors;
      if (item >= items || vector[n] * kElements >= tile.columns) {
        vector[n] = -1;
        continue;
      }
      const unsigned char* const from =
          tile.in + stack[n] * kStack<T> * plan.in_row_bytes + vector[n] * kVectorBytes;
#pragma unroll
      for (int k = 0; k < kStack<T>; ++k) {
        rows[n][k] = *reinterpret_cast<const Vector*>(from + k * plan.in_row_bytes);
      }
    }
#pragma unroll
    for (int n = 0; n < kAhead; ++n) {
      if (vector[n] < 0) continue;
      typename Exchange::Piece columns[kElements];
      Exchange::Take(rows[n], columns);
      const int group = stack[n] / kPieces ^ (vector[n] & (groups - 1));
      Vector* const to = shared + (vector[n] * kElements << plan.log2_groups) + group;
#pragma unroll
      for (int k = 0; k < kElements; ++k) {
        reinterpret_cast<typename Exchange::Piece*>(
            to + (k << plan.log2_groups))[stack[n] % kPieces] = columns[k];
      }
    }
  }
  __syncthreads();
  const int stores = tile.columns << plan.log2_groups;
#pragma unroll 4
  for (int i = threadIdx.x; i < stores; i += static_cast<int>(blockDim.x)) {
    const int group = i & (groups - 1);
    const int column = i >> plan.log2_groups;
    if (group * kElements >= tile.rows) continue;
    const int at = group ^ (column / kElements & (groups - 1));
    StoreVector(tile.out + column * plan.out_row_bytes + group * kVectorBytes,
                shared[(column << plan.log2_groups) + at]);
  }
}

}  // namespace

LaunchStatus PermuteVector(const PermuteArgs& args) {
  const PermuteVectorPlan plan = MakePermuteVectorPlan(
      args, args.vector_limits != nullptr ? *args.vector_limits : VectorLimitsFor(args));
  return ForElementSize(args, [&](auto zero) {
    using T = decltype(zero);
    return Launch(PermuteVectorKernel<T>, Grid{plan.blocks}, Block{plan.threads},
                  static_cast<size_t>(plan.shared_bytes), args.stream,
                  static_cast<const unsigned char*>(args.in), static_cast<unsigned char*>(args.out),
                  plan);
  });
}

}  // namespace stridewise
