// What the conditions in library.inc, under which `auto` runs a kernel, are made of.

#ifndef STRIDEWISE_TRANSPOSE_DISPATCH_CONDITIONS_H_
#define STRIDEWISE_TRANSPOSE_DISPATCH_CONDITIONS_H_

#include <algorithm>
#include <cstdint>

#include "common/gpu/launch_geometry.h"
#include "transpose/alignment.h"
#include "transpose/registry.h"

namespace stridewise {

// Returns the bytes of one matrix.
inline int64_t MatrixBytes(const TransposeArgs& args) {
  return args.rows * args.cols * args.element_bytes;
}

// Returns whether each matrix of the batch, if it is one, deserves a launch of its own: the fewer
// bytes a matrix has, the more its launch costs.
inline bool IsWorthALaunch(const TransposeArgs& args) {
  constexpr int64_t kBytesWorthALaunch = int64_t{1} << 20;
  return args.batch <= 1 || MatrixBytes(args) >= kBytesWorthALaunch;
}

// Returns the bytes of all matrices.
inline int64_t AllBytes(const TransposeArgs& args) { return args.batch * MatrixBytes(args); }

// Returns the number for elements of 1, 2, 4, 8 or 16 bytes.
inline int64_t ForSize(const TransposeArgs& args, int64_t one, int64_t two, int64_t four,
                       int64_t eight, int64_t sixteen) {
  switch (args.element_bytes) {
    case 1:
      return one;
    case 2:
      return two;
    case 4:
      return four;
    case 8:
      return eight;
    default:
      return sixteen;
  }
}

// Returns whether the matrix covers most of the 64x64 tiles that cover it: 85 %, or 70 % with
// elements of 1 and 2 bytes, which cost tile_ragged more: 96 columns of bytes 0.94 and 0.58. With
// elements of 4 bytes 75 % are enough up to 64 MB: on an H100 16 matrices of 2048x196 have 0.96 of
// a copy, and 0.90 in tile_ragged.
inline bool FillsTiles(const TransposeArgs& args) {
  constexpr int64_t kTile = 64;
  constexpr int64_t kManyBytes = 64000000;
  const bool few = args.element_bytes == 4 && AllBytes(args) < kManyBytes;
  const double mostly = args.element_bytes <= 2 ? 0.70 : few ? 0.75 : 0.85;
  const auto covered = [](int64_t extent) {
    return static_cast<double>(CeilDiv(extent, kTile) * kTile);
  };
  return static_cast<double>(args.rows) * static_cast<double>(args.cols) >=
         mostly * covered(args.rows) * covered(args.cols);
}

inline bool StoresWholeSectors(const TransposeArgs& args) {
  return args.ld_out * args.element_bytes % 32 == 0;
}

// Returns whether tiles of whole vectors suit the matrix. Sectors that two tiles share cost 4
// points of a copy's speed: hence 32 bytes for out rows. With elements of 1 and 2 bytes tile_ragged
// costs more than that: 784x256 bytes 1.20 of tile_vector's time, 1080x3840 of 2 bytes 1.24.
inline bool FillsVectorTiles(const TransposeArgs& args) {
  return FillsTiles(args) && IsMadeOf(args, 16) &&
         (args.element_bytes <= 2 || StoresWholeSectors(args));
}

// Returns whether tiles of whole vectors suit the matrix, but share sectors where they cut out
// rows.
inline bool CutsSectors(const TransposeArgs& args) {
  return FillsVectorTiles(args) && !StoresWholeSectors(args);
}

// Returns the bytes from which on tiles that share sectors are slower than tile_ragged's, which do
// not: L2 puts the parts of a sector together only while it has room for all of `out`. On an H200
// four matrices of 2-byte elements of 98 to 103 MB have 0.96 of a copy in tile_vector and 0.93 in
// tile_ragged, twelve of 105 to 295 MB 0.92 and 0.94.
inline constexpr int64_t kLeastBytesOfCutSectors = 104000000;

// Returns whether the matrices are a batch whose strips, of all rows, are faster than the tiles
// that cut their sectors: so few rows that a strip has whole cache lines of each, and of bytes
// fewer than a tile of tile_vector has. On an H200 110 of 408x896 of 2 bytes have 0.97 of a copy,
// and 0.88 in tile_vector; 277 of 200x184 1.08, and 0.95 in few_rows; 707 of 208x1088 bytes 1.00,
// and 0.77 in tile_bytes. Of more than 256 rows only large batches are: 189 of 280x184, 19 MB, 0.91
// and 0.99.
inline bool HasStripsOfCutSectors(const TransposeArgs& args) {
  constexpr int64_t kFewRows = 256;
  constexpr int64_t kLeastBytes = 50000000;
  if (args.batch <= 1 || args.element_bytes > 2 || !CutsSectors(args)) return false;
  return args.rows <= kFewRows ||
         (args.rows <= ForSize(args, 0, 512, 0, 0, 0) && AllBytes(args) >= kLeastBytes);
}

// Returns whether the matrices are a batch of small ones of 16-byte elements, whose tiles in
// tile_vector are small, too: 2359 of 75x65 have 0.97 of a copy, and 0.83 in tile_ragged, which
// holds rows twice (an H200); 200 of 87x39 0.95 and 0.86 (an H100).
inline bool AreSmallAndOfVectors(const TransposeArgs& args) {
  constexpr int64_t kMostBytes = 300000;
  return args.element_bytes == 16 && args.batch > 1 && std::min(args.rows, args.cols) >= 24 &&
         MatrixBytes(args) <= kMostBytes;
}

// Returns whether tile_vector is the fastest kernel for what fills its tiles. Elements of 16 bytes
// in rows of `in` that are no whole sectors take tile_ragged: on an H200 44370x1579 have 0.91 of a
// copy, and 0.86 in tile_vector; 2084x21117 0.96 and 0.93. So do bytes of a GB, by tile_words:
// 168272x6672 have 0.85, and 0.73 in tile_vector; 20000x20000, 400 MB, 0.88 and 0.92.
inline bool SuitsTileVector(const TransposeArgs& args) {
  constexpr int64_t kManyBytes = 800000000;
  if (AreSmallAndOfVectors(args)) return true;
  if (!FillsVectorTiles(args)) return false;
  if (args.element_bytes == 16) return args.ld_in % 2 == 0;
  if (args.element_bytes == 2 && CutsSectors(args) && AllBytes(args) >= kLeastBytesOfCutSectors) {
    return false;
  }
  return args.element_bytes > 1 || MatrixBytes(args) < kManyBytes;
}

// Returns whether tile_wide is faster than tile_vector: in large matrices whose rows are multiples
// of 16 to 128 KB apart. Others do not gain: floats at 20000 squared, 78 KB apart, have 0.924 of
// memcpy by tile_wide and 0.932 by tile_vector (an H100).
inline bool HasDistantRows(const TransposeArgs& args) {
  const int64_t apart = ForSize(args, 16, 16, 64, 128, 128) << 10;
  return args.element_bytes != 2 && FillsVectorTiles(args) && StoresWholeSectors(args) &&
         args.ld_in * args.element_bytes % apart == 0 &&
         args.ld_out * args.element_bytes % apart == 0 &&
         MatrixBytes(args) >= ForSize(args, 256, 0, 512, 512, 512) << 20;
}

// Returns whether a matrix that tile_ragged would take is so large that tile_ragged_wide is faster:
// on an H100 16383x16385 of 2 bytes, 540 MB, have 0.93 of a copy, and 0.91 there. Bytes whose rows
// of `in` are vectors are tile_words'.
inline bool IsLargeAndRagged(const TransposeArgs& args) {
  constexpr int64_t kMegabyte = 1000000;
  constexpr int64_t kLeastLine = 4000;  // Elements of both sides.
  return args.element_bytes <= 4 && (args.element_bytes > 1 || !InRowsAreAt(args, 16)) &&
         std::min(args.rows, args.cols) >= kLeastLine &&
         MatrixBytes(args) >= ForSize(args, 800, 800, 1200, 0, 0) * kMegabyte;
}

// Returns whether the columns are so few that few_columns is faster than tiles.
inline bool HasFewColumns(const TransposeArgs& args) {
  if (args.rows < 8 * args.cols) return false;
  const bool flat = args.ld_in == args.cols;
  return args.cols <= (flat ? ForSize(args, 48, 24, 20, 20, 48) : 20);
}

// Returns whether tile_ragged writes whole sectors without holding rows twice, and few_rows, whose
// rows of `in` begin anywhere, loads parts of vectors: on an H100 192 matrices of 128x197 bytes
// have 0.83 of a copy in tile_ragged and 0.66 in few_rows, 512 of 64x197 floats 0.95 and 0.82; but
// 200 of 36x105 doubles 0.81 and 0.86.
inline bool HasSectorsOutAndRaggedRowsIn(const TransposeArgs& args) {
  const int64_t least = args.element_bytes == 8 ? 320 : 256;
  return StoresWholeSectors(args) && !InRowsAreAt(args, 16) &&
         (args.rows > 80 || args.rows * args.element_bytes >= least);
}

// Returns whether the rows are so few that few_rows is faster than tiles.
inline bool HasFewRows(const TransposeArgs& args) {
  if (args.rows <= 20) return args.cols >= 8 * args.rows;
  if (HasSectorsOutAndRaggedRowsIn(args)) return false;
  if (FillsVectorTiles(args) && StoresWholeSectors(args)) return false;
  if (AreSmallAndOfVectors(args)) return false;
  constexpr int64_t kFewChunks = 48 << 10;  // Bytes of a matrix.
  // On an H200 90 of 400x2784 bytes have 0.90 of a copy in tile_vector, and 0.75 here.
  if (args.batch > 1 && FillsVectorTiles(args) && MatrixBytes(args) > kFewChunks) return false;
  if (args.element_bytes <= 2 && args.batch > 1 && IsGapless(args) &&
      MatrixBytes(args) <= kFewChunks) {
    // Each is few chunks: 192 matrices of 257x128 bytes 0.75 of a copy, and 0.61 in tile_ragged.
    return args.rows <= 512 && args.rows < 10 * args.cols;
  }
  // Columns of 2 bytes are loaded in words where their number is even: 196x256 0.86 of
  // tile_ragged's time, 128x257 more than it.
  const int64_t wide = args.cols % 2 == 0 ? 1 : 5;
  if (args.element_bytes == 2 && args.rows > 64 && args.cols < wide * args.rows &&
      !InRowsAreAt(args, 16)) {
    return false;
  }
  return args.ld_out == args.rows && args.cols * args.element_bytes >= 128 &&
         args.rows <= ForSize(args, InRowsAreAt(args, 16) ? 400 : 270, 260, 110, 80, 64) &&
         args.rows <= 2 * args.cols;
}

// Returns whether strips of all rows are the fastest: where tile_vector cannot take the matrices,
// and so few rows that a strip holds some vectors of each. On an H200 1000x64 bytes in a batch of
// 768 have 0.92 of a copy, and 0.57 in tile_ragged; 784x96 floats 0.79, and 0.92 there. On an H100
// 512 of 257x128 of 2 bytes have 0.93, and 0.82 there; 192 of 577x64 0.85, and 0.86.
inline bool IsForTileStrips(const TransposeArgs& args) {
  if (!HasStripsOfVectors(args)) return false;
  // What batch_small would take before tile_vector.
  const bool few = args.element_bytes == 1 && args.batch > 1 && MatrixBytes(args) <= 8 << 10;
  if (HasStripsOfCutSectors(args)) return true;
  if (FillsVectorTiles(args) && !few) return false;
  // The threads of a block load 256 rows of floats at a time, and would load a few more in a turn
  // of their own: 150 of 260x640 have 0.87 of a copy, and 0.93 in tile_ragged (an H200).
  constexpr int64_t kRowsOfATurn = 256;
  if (args.element_bytes == 4 && args.rows > kRowsOfATurn && IsMadeOf(args, 16)) return false;
  constexpr int64_t kManyBytes = 100000000;
  const int64_t least = args.batch > 1 ? ForSize(args, 16, 12, 24, 0, 0) : 64;
  const int64_t most = AllBytes(args) < kManyBytes ? 1100 : 640;
  // Strips of one or two vectors are whole matrices: 1127 of 1482x8 of 2 bytes have 1.14 of a copy,
  // and 0.85 in tile_bytes (an H200).
  const bool narrow = args.batch > 1 && args.cols * args.element_bytes <= 32;
  return args.rows >= least &&
         args.rows <= ForSize(args, narrow ? 1500 : most, narrow ? 1500 : 400, 300, 0, 0);
}

// Returns whether tiles of all rows, stored as one piece, are the fastest. On an H100 188x440492
// bytes have 0.98 of a copy, and 0.90 in tile_bytes; 596x66254 0.95, and 0.87 in tile_ragged; 60 of
// 305x1022 1.01, and 0.85 in both; 359x220643 of 2 bytes 0.97, and 0.93 in tile_ragged; 663 of
// 121x111 floats 1.05, and 0.93 there; 48x44166 bytes 1.27, and 1.17 in few_rows.
inline bool IsForTileFlat(const TransposeArgs& args) {
  constexpr int64_t kLeastBytes = 2000000;
  constexpr int64_t kLeastRows = 40;
  constexpr int64_t kLeastRowBytes = 56;          // Of `in`.
  constexpr int64_t kLeastMatrixBytes = 8 << 10;  // In a batch.
  if (!HasFlatTiles(args) || AllBytes(args) < kLeastBytes) return false;
  // Smaller ones, and those of floats in more rows, are whole in other kernels.
  const int64_t least = args.element_bytes == 1                      ? 24 << 10
                        : args.element_bytes == 4 && args.rows > 110 ? 20 << 10
                                                                     : kLeastMatrixBytes;
  if (args.batch > 1 && MatrixBytes(args) <= least) return false;
  if (FillsVectorTiles(args) || IsForTileStrips(args) || HasFewColumns(args)) return false;
  // Where rows of `in` are vectors, those of the tile begin in few banks.
  if (InRowsAreAt(args, 16)) {
    constexpr int64_t kMostWholeBytes = 70000;
    if (args.element_bytes == 4 && args.rows > 256 && IsMadeOf(args, 16)) return false;
    if (args.rows > (args.element_bytes == 4 ? 300 : 360)) return false;
    if (args.element_bytes == 1 && args.rows < 64) return false;
    if (args.element_bytes == 1 && args.batch > 1 && args.rows % 4 != 0 && IsGapless(args) &&
        MatrixBytes(args) <= kMostWholeBytes) {
      return false;
    }
  }
  // Few tiles of many rows, and single matrices of bytes whose rows few_rows takes, gain nothing.
  constexpr int64_t kFewBytes = 12000000;
  if (args.element_bytes <= 2 && args.rows > 420 && AllBytes(args) < kFewBytes) return false;
  if (args.element_bytes == 1 && args.batch == 1 && args.rows < 64) return false;
  return args.rows >= kLeastRows && args.cols * args.element_bytes >= kLeastRowBytes;
}

// Returns whether tile_bytes is the fastest for a batch of matrices of 1 or 2 bytes: small ones
// that lie one behind the other, of which a block takes whole ones, and strips of larger ones with
// few rows. Where out rows are whole sectors, neighbouring columns lie in the same banks, and
// others are faster: on an H200 512 matrices of 128x257 of 2 bytes 0.81 and 0.64, but 256 of 64x196
// 0.76 and 0.85. So they are in up to 4 columns: 14046 matrices of 1905x4 of 2 bytes have 1.01 of a
// copy in batch_small and 0.74 here.
inline bool IsBatchForTileBytes(const TransposeArgs& args) {
  constexpr int64_t kManyBytes = 2000000;
  if (args.element_bytes > 2 || args.batch <= 1) return false;
  if (StoresWholeSectors(args) && ((args.element_bytes == 2 && args.rows > 64) ||
                                   FillsVectorTiles(args) || HasSectorsOutAndRaggedRowsIn(args))) {
    return false;
  }
  const bool words = args.rows % 4 == 0;
  const int64_t least = ForSize(args, words ? 512 : 1 << 10, 2 << 10, 0, 0, 0);
  const int64_t large = ForSize(args, 48 << 10, 28 << 10, 0, 0, 0);
  const int64_t most = ForSize(args, 62 << 10, 48 << 10, 0, 0, 0);
  const int64_t bytes = MatrixBytes(args);
  if (bytes <= most) {
    return IsGapless(args) && args.rows >= 8 && args.cols > 4 && bytes >= least &&
           (bytes <= large || (args.rows <= 1024 && AllBytes(args) >= kManyBytes));
  }
  const int64_t out_row = args.rows * args.element_bytes;
  return !FillsVectorTiles(args) && args.ld_out == args.rows && out_row >= 40 && out_row <= 330 &&
         args.cols * args.element_bytes >= 128 && AllBytes(args) >= kManyBytes;
}

// Returns whether the matrix is one of floats that whole tiles of tile_small take up to 16 MB: on
// an H100 1.01, 0.99 and 1.03 of memcpy at 1024, 1536 and 2048 squared, tile_vector 0.98, 0.95,
// 0.96.
inline bool IsMadeOfSmallTiles(const TransposeArgs& args) {
  constexpr int64_t kTile = 32;
  return args.element_bytes == 4 && args.batch == 1 && FillsVectorTiles(args) &&
         args.rows % kTile == 0 && args.cols % kTile == 0 &&
         std::min(args.rows, args.cols) >= 8 * kTile && MatrixBytes(args) <= 16 << 20;
}

// Returns whether few instructions from the first load to the last store matter more than wide
// accesses. Tiles are mostly empty in a batch of single rows or columns (1572x1 x 147 floats 1.43
// of few_columns' time), and few blocks in rows that are long (2x457862 of 2 bytes 1.50 of
// few_rows'). Bytes are many loads: on an H100 49x2048 x 16 have 0.85 of a copy in few_rows and
// 0.67 in tile_small, 2048x64 x 12 0.98 in tile_vector and 0.75, 391x5 x 452 0.76 in batch_small
// and 0.57.
inline bool TakesAsLongAsALaunch(const TransposeArgs& args) {
  if (IsMadeOfSmallTiles(args)) return true;
  constexpr int64_t kMostMatrices = 1000;
  constexpr int64_t kMegabyte = 1000000;
  constexpr int64_t kLaunchBytes = 2 * kMegabyte;
  constexpr int64_t kManyBytes = 700000;  // With elements of 1 byte.
  const int64_t bytes = AllBytes(args);
  if (args.batch > kMostMatrices || bytes > ForSize(args, 2, 3, 3, 3, 4) * kMegabyte) {
    return false;
  }
  if (args.batch > 1 && (args.rows == 1 || args.cols == 1)) return false;
  if (args.element_bytes <= 2 && args.rows <= 4 && bytes > kMegabyte) return false;
  if (args.element_bytes == 1 && IsGapless(args) && args.batch > 200 &&
      MatrixBytes(args) <= 4 << 10) {
    return false;
  }
  if (args.element_bytes == 1 && bytes > kManyBytes &&
      (HasFewColumns(args) || (HasFewRows(args) && args.rows <= 128) || FillsVectorTiles(args))) {
    return false;
  }
  if (args.element_bytes == 2 && bytes > kMegabyte && FillsVectorTiles(args)) return false;
  return bytes <= kLaunchBytes ||
         (!HasFewColumns(args) && !HasFewRows(args) && !FillsVectorTiles(args));
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DISPATCH_CONDITIONS_H_
