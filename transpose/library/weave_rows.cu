// For batches of matrices of a few rows of bytes, 2 to 13, which lie one behind the other. In
// batch_small a byte costs 20 instructions, and in tile_bytes most words are ends of columns. Here
// a thread takes four columns of all rows: a word of each row, shifted out of two, from which it
// makes as many words of `out` by byte permutes whose selectors are constants, since the number of
// rows is one. Its columns are one piece of `out`: words are shifted to where they lie there, the
// first of them together with up to three bytes before the piece, which are loaded one by one.
//
// On an H200 13415 matrices of 5x635 bytes have 1.03 of a copy, and 0.60 in batch_small.

#include <algorithm>
#include <cstdint>

#include "common/gpu/launch.h"
#include "transpose/alignment.h"
#include "transpose/args.h"
#include "transpose/device/byte_squares.h"
#include "transpose/device/byte_tile.h"
#include "transpose/device/small_divisor.h"
#include "transpose/device/strip.h"
#include "transpose/device/vectors.h"

namespace stridewise {
namespace {

constexpr int kThreads = 256;
constexpr int kColumns = 4;  // Of a thread.

struct WeaveCut {
  int cols = 0;
  int quads = 0;     // Of columns of a matrix.
  int matrices = 0;  // Of a block.
  int in_bytes = 0;  // Of shared memory for `in`; those of `out` follow.
  SmallDivisor by_quads = SmallDivisor(1);
};

// Returns the word at an address between two words. Only `has` bytes of it matter: what is behind
// them nobody may have written, which a GPU does not mind, and the host executor reports.
__device__ inline uint32_t WordAt(const unsigned char* tile, const unsigned char* data,
                                  [[maybe_unused]] int has) {
  const auto at = static_cast<int>(data - tile);
  const auto* const words = reinterpret_cast<const uint32_t*>(tile + (at & -kWordBytes));
#ifdef STRIDEWISE_HOST_EXECUTOR
  const uint32_t second = at % kWordBytes + has > kWordBytes ? words[1] : 0;
#else
  const uint32_t second = words[1];
#endif
  return __funnelshift_r(words[0], second, static_cast<uint32_t>(at) * 8);
}

// Sets out to four columns of rows, one column behind the other.
template <int kRows>
__device__ inline void Weave(const uint32_t (&rows)[kRows], uint32_t (&out)[kRows]) {
#pragma unroll
  for (int w = 0; w < kRows; ++w) {
    out[w] = 0;
#pragma unroll
    for (int i = 0; i < kWordBytes; ++i) {
      const int byte = w * kWordBytes + i;
      const auto from = static_cast<unsigned>(kColumns + byte / kRows);  // Of both words.
      const unsigned others = 0x3210u & ~(0xfu << (4 * i));
      out[w] = __byte_perm(out[w], rows[byte % kRows], others | from << (4 * i));
    }
  }
}

// Returns a word that ends with the three bytes of `out` before a piece whose column before it ends
// at `last`. In two rows the third of them is of the column before that.
template <int kRows>
__device__ inline uint32_t BytesBefore(const unsigned char* last, int cols) {
  uint32_t word = 0;
#pragma unroll
  for (int k = 0; k < kWordBytes - 1; ++k) {
    const uint32_t byte = last[-(k % kRows) * cols - k / kRows];
    word |= byte << (8 * (kWordBytes - 1 - k));
  }
  return word;
}

template <int kRows>
__global__ void __launch_bounds__(kThreads)
    WeaveRows(const uint8_t* in, uint8_t* out, int64_t matrices, WeaveCut cut) {
  static_assert(kRows >= 2, "three bytes are of two columns at most");
  extern __shared__ Vector tile_memory[];
  auto* const tile = reinterpret_cast<unsigned char*>(tile_memory);
  const int matrix_bytes = kRows * cut.cols;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * cut.matrices;
  const int64_t left = matrices - first;
  const int count = left < cut.matrices ? static_cast<int>(left) : cut.matrices;
  const uint8_t* const from = in + first * matrix_bytes;
  uint8_t* const to = out + first * matrix_bytes;
  const Span all = {reinterpret_cast<intptr_t>(in),
                    reinterpret_cast<intptr_t>(in + matrices * matrix_bytes)};
  const Span piece = {reinterpret_cast<intptr_t>(from),
                      reinterpret_cast<intptr_t>(from + count * matrix_bytes)};
  const unsigned char* const loaded = tile + LoadPiece<uint8_t>(piece, all, tile);
  unsigned char* const columns = tile + cut.in_bytes;
  const int lead = Strip<uint8_t>::Lead(to);
  const int items = count * cut.quads;
  for (int i = threadIdx.x; i < items; i += kThreads) {
    const int matrix = cut.by_quads.Quotient(i);
    const int col = (i - matrix * cut.quads) * kColumns;
    const unsigned char* const corner = loaded + matrix * matrix_bytes + col;
    const int has = cut.cols - col < kColumns ? cut.cols - col : kColumns;
    uint32_t rows[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) rows[r] = WordAt(tile, corner + r * cut.cols, has);
    uint32_t woven[kRows];
    Weave<kRows>(rows, woven);
    const int offset = lead + matrix * matrix_bytes + col * kRows;
    const auto shift = static_cast<unsigned>(offset) * 8;  // A funnel shift takes it modulo 32.
    const int above = offset % kWordBytes;
    // What the word that both share has of the columns before, perhaps of another matrix.
    uint32_t before = 0;
    if (above != 0 && i > 0) {
      const unsigned char* const last = corner + (col > 0 ? (kRows - 1) * cut.cols : 0) - 1;
      before = BytesBefore<kRows>(last, cut.cols);
    }
    // The last word is stored by who has its end; behind the block's last element nobody has.
    const int end = above + has * kRows + (i == items - 1 ? kWordBytes - 1 : 0);
    auto* const words = reinterpret_cast<uint32_t*>(columns + (offset & -kWordBytes));
#pragma unroll
    for (int w = 0; w < kRows; ++w) {
      if ((w + 1) * kWordBytes <= end) words[w] = __funnelshift_l(before, woven[w], shift);
      before = woven[w];
    }
    if ((kRows + 1) * kWordBytes <= end) words[kRows] = __funnelshift_l(before, 0, shift);
  }
  __syncthreads();
  StorePiece<uint8_t, false>(to, count * matrix_bytes, columns, 0);
}

template <int kRows>
LaunchStatus Run(const TransposeArgs& args) {
  constexpr int64_t kPieceBytes = 16 << 10;
  constexpr int64_t kBlocks = 400;  // About three for each multiprocessor.
  const int64_t bytes = kRows * args.cols;
  const int64_t matrices =
      std::max<int64_t>(1, std::min(kPieceBytes / bytes, args.batch / kBlocks));
  WeaveCut cut;
  cut.cols = static_cast<int>(args.cols);
  cut.quads = static_cast<int>(CeilDiv(args.cols, int64_t{kColumns}));
  cut.matrices = static_cast<int>(matrices);
  constexpr int64_t kAlign = 128;
  cut.in_bytes = static_cast<int>(CeilDiv(matrices * bytes + 3 * kVectorBytes, kAlign) * kAlign);
  cut.by_quads = SmallDivisor(cut.quads);
  return Launch(WeaveRows<kRows>, Grid{CeilDiv(args.batch, matrices)}, Block{kThreads},
                static_cast<size_t>(2 * cut.in_bytes), args.stream,
                static_cast<const uint8_t*>(args.in), static_cast<uint8_t*>(args.out), args.batch,
                cut);
}

}  // namespace

LaunchStatus TransposeTileBytes(const TransposeArgs& args);

LaunchStatus TransposeWeaveRows(const TransposeArgs& args) {
  if (args.cols == 0 || args.batch == 0) return LaunchStatus();
  if (!HasRowsToWeave(args)) return TransposeTileBytes(args);
  switch (args.rows) {
    case 2:
      return Run<2>(args);
    case 3:
      return Run<3>(args);
    case 4:
      return Run<4>(args);
    case 5:
      return Run<5>(args);
    case 6:
      return Run<6>(args);
    case 7:
      return Run<7>(args);
    case 8:
      return Run<8>(args);
    case 9:
      return Run<9>(args);
    case 10:
      return Run<10>(args);
    case 11:
      return Run<11>(args);
    case 12:
      return Run<12>(args);
    default:
      return Run<13>(args);
  }
}

}  // namespace stridewise
