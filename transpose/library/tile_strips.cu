// For matrices whose rows of `in` are whole vectors, and whose out rows follow each other without
// gaps and are whole words or made of 2-byte elements: keys of attention, pixels with 64 channels
// and more. A block takes a strip, all rows of a few vectors of columns, or several whole matrices,
// so that what it stores is one piece of `out` whatever the number of rows, and no sector or vector
// has two owners.
//
// A thread loads the rows of a word of each column of a vector (four of bytes, one of floats),
// exchanges rows and columns in registers, and stores the words in shared memory, where columns lie
// as in `out`. Nothing is staged before that, so that a block has half the shared memory of
// tile_bytes, and one barrier. The columns of a vector, its group, are as many vectors of `out` as
// there are rows; groups are so far apart in shared memory that lanes with neighbouring vectors and
// neighbouring words access different banks.
//
// On an H200 768 matrices of 1000x64 bytes have 0.92 of a copy, and 0.57 in tile_ragged. Where out
// rows are no whole words, threads have to shift each word out of two, which was faster than
// tile_bytes only for a few hundred rows of a large matrix; where both sides are made of vectors
// and there are many rows, tile_vector is.

#include <algorithm>
#include <cstdint>

#include "common/gpu/launch.h"
#include "transpose/alignment.h"
#include "transpose/args.h"
#include "transpose/device/matrix_offsets.h"
#include "transpose/device/small_divisor.h"
#include "transpose/device/vectors.h"

namespace stridewise {
namespace {

constexpr int kThreads = 256;
constexpr int kMostVectors = 8;  // Of a row of a strip, where it has more: a cache line.

// The rows that a word of a column has, or its one element.
template <typename T>
inline constexpr int kStack = sizeof(T) < 4 ? 4 / static_cast<int>(sizeof(T)) : 1;

// Blocks that a multiprocessor has registers for: with eight rows of a thread under way four.
// Floats took so many that it had three.
template <typename T, int kAtOnce>
[[maybe_unused]] inline constexpr int kBlocksOf = kAtOnce* kStack<T> == 8 ? 4 : 6;

struct StripCut {
  int rows = 0;
  int stacks = 0;    // Of rows of a matrix.
  int vectors = 0;   // Of a row of the strip.
  int matrices = 1;  // Of a block, more than one only of whole ones.
  int pitch = 0;     // Vectors of shared memory from one group to the next.
  SmallDivisor by_vectors = SmallDivisor(1);
  SmallDivisor by_stacks = SmallDivisor(1);
  SmallDivisor by_rows = SmallDivisor(1);
};

// Stores the words of the columns of a vector, of which the first is at `to` and the others each
// `rows` elements further. An odd number of rows puts every other column between two words, and
// leaves the last stack one row.
template <typename T, bool kOdd>
__device__ inline void StoreColumns(const uint32_t (&columns)[kVectorElements<T>], int rows,
                                    bool whole, T* to) {
#pragma unroll
  for (int k = 0; k < kVectorElements<T>; ++k) {
    T* const word = to + k * rows;
    if constexpr (kOdd) {
      if (k % 2 == 1 || !whole) {
        word[0] = static_cast<T>(columns[k]);
        if (whole) word[1] = static_cast<T>(columns[k] >> 16);
        continue;
      }
    }
    *reinterpret_cast<uint32_t*>(word) = columns[k];
  }
}

// A thread has the loads of kAtOnce stacks in flight. kOdd: the number of rows of 2-byte elements
// is odd.
template <typename T, int kAtOnce, bool kOdd, bool kNested>
__global__ void __launch_bounds__(kThreads, (kBlocksOf<T, kAtOnce>))
    TileStrips(ConstMatrix<T> in, T* out, int64_t matrices, MatrixOffsets offsets, StripCut cut) {
  using Exchange = Columns<T, kStack<T>>;
  constexpr int kElements = kVectorElements<T>;
  extern __shared__ Vector tile[];
  auto* const elements = reinterpret_cast<T*>(tile);
  const int64_t first = BlockRow() * cut.matrices;
  if (first >= matrices) return;
  const int64_t left = matrices - first;
  const int count = left < cut.matrices ? static_cast<int>(left) : cut.matrices;
  const int64_t first_col = static_cast<int64_t>(blockIdx.x) * cut.vectors * kElements;
  const int64_t right = (in.cols - first_col) / kElements;
  const int vectors = right < cut.vectors ? static_cast<int>(right) : cut.vectors;
  const T* const from = in.data + offsets.In<kNested>(first) + first_col;
  // Of a batch of batches a block has the end of a group and the beginning of the next. Selected
  // and not branched upon: a thread's loads must be on their way together.
  const int left_of_group = kNested ? offsets.LeftOfGroup(first) : 0;
  const T* const next = in.data + offsets.In<kNested>(first + left_of_group) -
                        left_of_group * offsets.stride_in + first_col;
  T* const to = out + offsets.Out<kNested>(first) + first_col * cut.rows;

  const int items = count * cut.stacks * cut.vectors;
  for (int i = threadIdx.x; i < items; i += kAtOnce * kThreads) {
    Vector rows[kAtOnce][kStack<T>];
    int place[kAtOnce];  // Of the first column's word; negative: none.
    bool whole[kAtOnce];
#pragma unroll
    for (int n = 0; n < kAtOnce; ++n) {
      const int item = i + n * kThreads;
      const int y = cut.by_vectors.Quotient(item);
      const int vector = item - y * cut.vectors;
      const int matrix = cut.by_stacks.Quotient(y);
      const int stack = y - matrix * cut.stacks;
      place[n] = -1;
      if (item >= items || vector >= vectors) continue;
      const int row = stack * kStack<T>;
      place[n] = (matrix * cut.vectors + vector) * cut.pitch * kElements + row;
      whole[n] = !kOdd || row + kStack<T> <= cut.rows;
      const T* const data = (!kNested || matrix < left_of_group ? from : next) +
                            matrix * offsets.stride_in + vector * kElements +
                            static_cast<int64_t>(row) * in.ld;
#pragma unroll
      for (int k = 0; k < kStack<T>; ++k) {
        // A row below the matrix is not used.
        rows[n][k] = *reinterpret_cast<const Vector*>(data + (whole[n] ? k : 0) * in.ld);
      }
    }
#pragma unroll
    for (int n = 0; n < kAtOnce; ++n) {
      if (place[n] < 0) continue;
      uint32_t columns[kElements];
      Exchange::Take(rows[n], columns);
      StoreColumns<T, kOdd>(columns, cut.rows, whole[n], elements + place[n]);
    }
  }
  __syncthreads();
  const int stores = count * vectors * cut.rows;
#pragma unroll 4
  for (int v = threadIdx.x; v < stores; v += kThreads) {
    const int group = cut.by_rows.Quotient(v);
    StoreVector(reinterpret_cast<Vector*>(to) + v, tile[v + group * (cut.pitch - cut.rows)]);
  }
}

// Cuts into strips of up to 64 KB, and less where blocks would be few. Blocks of 8 KB and more may
// be several for each multiprocessor: on an H100 192 matrices of 197x128 of 2 bytes have 0.97 of a
// copy in 768 blocks and 0.91 in 384, but 16 of 49x2048 0.84 in 1024 of 3 KB and 0.95 in 512.
template <typename T>
StripCut CutFor(const TransposeArgs& args, const MatrixOffsets& offsets) {
  constexpr int64_t kPieceBytes = 64 << 10;
  constexpr int64_t kMatricesBytes = 32 << 10;  // Of a block that has several.
  constexpr int64_t kLeastBytes = 8 << 10;
  constexpr int64_t kFewBlocks = 300;  // About two for each multiprocessor.
  constexpr int64_t kBlocks = 600;
  constexpr int64_t kSize = sizeof(T);
  constexpr int64_t kFewRowsBytes = kSize <= 2 ? 28 << 10 : 0;
  StripCut cut;
  cut.rows = static_cast<int>(args.rows);
  cut.stacks = static_cast<int>(CeilDiv(args.rows, int64_t{kStack<T>}));
  const int64_t all = args.cols * kSize / kVectorBytes;
  const int64_t most = std::max<int64_t>(1, kPieceBytes / (args.rows * kVectorBytes));
  int64_t vectors = all;
  if (most < all) {
    vectors = 1;
    while (2 * vectors <= std::min<int64_t>(most, kMostVectors) ||
           2 * vectors * args.rows * kVectorBytes <= kFewRowsBytes) {
      vectors *= 2;
    }
  }
  const auto blocks = [&] { return CeilDiv(all, vectors) * args.batch; };
  const auto halved = [&] { return CeilDiv(vectors, int64_t{2}); };
  while (vectors > 2 &&
         (blocks() < kFewBlocks ||
          (blocks() < kBlocks && halved() * args.rows * kVectorBytes >= kLeastBytes))) {
    vectors = halved();
  }
  cut.vectors = static_cast<int>(vectors);
  if (vectors == all && HasGaplessOut(args, offsets)) {
    const int64_t matrix_bytes = args.rows * args.cols * kSize;
    cut.matrices = static_cast<int>(
        std::max<int64_t>(1, std::min(kMatricesBytes / matrix_bytes, args.batch / kBlocks)));
    if (offsets.nested != 0)
      cut.matrices = std::min(cut.matrices, static_cast<int>(offsets.nested));
  }
  // Lanes that store a word each: `lanes` groups side by side, and 32 / lanes words of each.
  int lanes = 1;
  while (2 * lanes <= std::min<int64_t>(vectors, kMostVectors)) lanes *= 2;
  constexpr int kVectorsOfBanks = 8;
  cut.pitch = cut.rows;
  while (lanes > 1 && cut.pitch % kVectorsOfBanks != kVectorsOfBanks / lanes) ++cut.pitch;
  cut.by_vectors = SmallDivisor(cut.vectors);
  cut.by_stacks = SmallDivisor(cut.stacks);
  cut.by_rows = SmallDivisor(cut.rows);
  return cut;
}

// Returns the shared memory of a block whose tile needs `bytes`: more, so that a multiprocessor has
// a block less, where all of them would take more than the step of 196 KB and leave L1 28 KB
// instead of 60, too little for the lines that their loads have under way. A multiprocessor has
// registers for four. On an H200 four blocks of 50 KB have 0.76 of a copy at 104 of 392x1968 of 2
// bytes, where three of 58 KB have 0.95 (456 rows) and four of 42 KB 0.99 (328 rows).
size_t SharedBytesFor(size_t bytes) {
  constexpr size_t kAllBytes = 228 << 10;  // Of a multiprocessor of sm_90.
  constexpr size_t kStepBytes = 196 << 10;
  constexpr size_t kReservedBytes = 1 << 10;  // Of each block.
  constexpr size_t kMostBlocks = 4;
  const size_t blocks = std::min(kMostBlocks, kAllBytes / (bytes + kReservedBytes));
  if (blocks * (bytes + kReservedBytes) <= kStepBytes) return bytes;
  return kAllBytes / blocks - kReservedBytes + kVectorBytes;
}

template <typename T, bool kOdd, bool kNested>
LaunchStatus RunNested(const TransposeArgs& args, const MatrixOffsets& offsets) {
  const StripCut cut = CutFor<T>(args, offsets);
  const int64_t vectors = args.cols / kVectorElements<T>;
  // Threads that have fewer stacks do not start loads for more: on an H200 128 matrices of 49x1024
  // floats have 0.95 of a copy with four at once, and 0.79 with eight; 274x460 0.74 and 0.96.
  constexpr int kMany = 8 / kStack<T>;
  constexpr int kFew = kMany > 2 ? kMany / 2 : kMany;
  void (*kernel)(ConstMatrix<T>, T*, int64_t, MatrixOffsets, StripCut) =
      TileStrips<T, kMany, kOdd, kNested>;
  const int64_t stacks = int64_t{cut.matrices} * cut.stacks * cut.vectors;
  if (4 * stacks <= 3 * kThreads * kMany) kernel = TileStrips<T, kFew, kOdd, kNested>;
  return Launch(
      kernel, TileGrid(CeilDiv(args.batch, int64_t{cut.matrices}), vectors, 1, cut.vectors),
      Block{kThreads},
      SharedBytesFor(static_cast<size_t>(cut.matrices) * cut.vectors * cut.pitch * kVectorBytes),
      args.stream, args.In<T>(), static_cast<T*>(args.out), args.batch, offsets, cut);
}

template <typename T, bool kOdd = false>
LaunchStatus Run(const TransposeArgs& args, const MatrixOffsets& offsets) {
  return offsets.nested != 0 ? RunNested<T, kOdd, true>(args, offsets)
                             : RunNested<T, kOdd, false>(args, offsets);
}

}  // namespace

LaunchStatus TransposeTileRagged(const TransposeArgs& args);

// REQUIRES: HasStripsOfVectors(args).
LaunchStatus NestedTileStrips(const TransposeArgs& args, const MatrixOffsets& offsets) {
  switch (args.element_bytes) {
    case 1:
      return Run<uint8_t>(args, offsets);
    case 2:
      return args.rows % 2 == 0 ? Run<uint16_t>(args, offsets) : Run<uint16_t, true>(args, offsets);
    default:
      return Run<uint32_t>(args, offsets);
  }
}

LaunchStatus TransposeTileStrips(const TransposeArgs& args) {
  if (args.rows == 0 || args.cols == 0 || args.batch == 0) return LaunchStatus();
  if (!HasStripsOfVectors(args)) return TransposeTileRagged(args);
  return NestedTileStrips(args, OffsetsOf(args));
}

}  // namespace stridewise
