// For matrices of two to four rows or columns that are made of whole vectors: pictures of three or
// four channels, whose planes are woven into pixels, or pixels taken apart into planes. A thread
// moves 16 bytes of each plane and exchanges rows and columns in registers, by byte permutes.
// Pixels pass through shared memory of the warp, so that they are stored or loaded one vector
// behind the other; there is no barrier of the block, and no index of an element.
//
// Other matrices go to few_rows and few_columns, whose chunks of some KB cost the few megabytes of
// a picture more than its bytes do: all of a chunk is loaded before the first of it is stored.

#include <cstdint>

#include "common/gpu/launch.h"
#include "transpose/alignment.h"
#include "transpose/args.h"
#include "transpose/device/small_divisor.h"
#include "transpose/device/vectors.h"

namespace stridewise {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

// The planes of all matrices. The pixels are one contiguous piece.
struct Planes {
  int64_t apart;           // Bytes from one plane to the next,
  int64_t stride;          // and from one matrix to the next.
  uint32_t of_plane;       // Vectors of a plane.
  uint32_t vectors;        // The same of all matrices.
  BlockDivisor by_matrix;  // Divides by of_plane.

  // Returns the bytes from the first matrix's first plane to this vector.
  __device__ int64_t Offset(uint32_t vector) const {
    const uint32_t matrix = by_matrix.Quotient(vector);
    return matrix * stride + static_cast<int64_t>(vector - matrix * of_plane) * kVectorBytes;
  }
};

// Sets the elements of `to` to those of `from`, of which a matrix of kRows rows is made, column by
// column.
template <typename T, int kRows, int kWords>
__device__ inline void ExchangeRowsAndColumns(const uint32_t (&from)[kWords],
                                              uint32_t (&to)[kWords]) {
  constexpr int kInWord = 4 / static_cast<int>(sizeof(T));
  constexpr int kCols = kWords * kInWord / kRows;
#pragma unroll
  for (int w = 0; w < kWords; ++w) {
    uint32_t word = 0;
#pragma unroll
    for (int k = 0; k < kInWord; ++k) {
      const int i = w * kInWord + k;
      const int element = i % kRows * kCols + i / kRows;
      const uint32_t source = from[element / kInWord];
      const auto at = static_cast<unsigned>(element % kInWord);
      if constexpr (sizeof(T) == 4) {
        word = source;
      } else if constexpr (sizeof(T) == 2) {
        word = k == 0 ? source >> (16 * at) : __byte_perm(word, source, at == 0 ? 0x5410 : 0x7610);
      } else {
        const unsigned others = 0x3210u & ~(0xfu << (4 * k));
        word = __byte_perm(word, source, others | (4 + at) << (4 * k));
      }
    }
    to[w] = word;
  }
}

template <int kVectors>
__device__ inline void ToWords(const Vector (&vectors)[kVectors], uint32_t (&words)[4 * kVectors]) {
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    words[4 * k] = vectors[k].x;
    words[4 * k + 1] = vectors[k].y;
    words[4 * k + 2] = vectors[k].z;
    words[4 * k + 3] = vectors[k].w;
  }
}

__device__ inline Vector VectorOfWords(const uint32_t* words) {
  return make_uint4(words[0], words[1], words[2], words[3]);
}

// Makes pixels of planes: the matrices have kPlanes rows.
template <typename T, int kPlanes>
__global__ void __launch_bounds__(kThreads)
    WeavePlanes(const unsigned char* in, unsigned char* out, Planes planes) {
  __shared__ Vector stage[kWarps][32 * kPlanes];
  const auto lane = static_cast<int>(threadIdx.x % 32);
  Vector* const of_warp = stage[threadIdx.x / 32];
  const uint32_t vector = blockIdx.x * kThreads + threadIdx.x;
  const uint32_t first = vector - lane;
  if (first >= planes.vectors) return;
  if (vector < planes.vectors) {
    const unsigned char* const from = in + planes.Offset(vector);
    Vector loaded[kPlanes];
#pragma unroll
    for (int p = 0; p < kPlanes; ++p) {
      loaded[p] = *reinterpret_cast<const Vector*>(from + p * planes.apart);
    }
    uint32_t words[4 * kPlanes];
    uint32_t pixels[4 * kPlanes];
    ToWords(loaded, words);
    ExchangeRowsAndColumns<T, kPlanes>(words, pixels);
#pragma unroll
    for (int p = 0; p < kPlanes; ++p) of_warp[lane * kPlanes + p] = VectorOfWords(pixels + 4 * p);
  }
  __syncwarp();
  const uint32_t left = planes.vectors - first;
  const int vectors = static_cast<int>(left < 32 ? left : 32) * kPlanes;
  unsigned char* const to = out + static_cast<int64_t>(first) * (kPlanes * kVectorBytes);
#pragma unroll
  for (int p = 0; p < kPlanes; ++p) {
    const int v = p * 32 + lane;
    if (v < vectors) StoreVector(to + v * kVectorBytes, of_warp[v]);
  }
}

// Takes pixels apart into planes: the matrices have kPlanes columns.
template <typename T, int kPlanes>
__global__ void __launch_bounds__(kThreads)
    UnweavePlanes(const unsigned char* in, unsigned char* out, Planes planes) {
  constexpr int kElements = kVectorElements<T>;
  __shared__ Vector stage[kWarps][32 * kPlanes];
  const auto lane = static_cast<int>(threadIdx.x % 32);
  Vector* const of_warp = stage[threadIdx.x / 32];
  const uint32_t vector = blockIdx.x * kThreads + threadIdx.x;
  const uint32_t first = vector - lane;
  if (first >= planes.vectors) return;
  const uint32_t left = planes.vectors - first;
  const int vectors = static_cast<int>(left < 32 ? left : 32) * kPlanes;
  const unsigned char* const from = in + static_cast<int64_t>(first) * (kPlanes * kVectorBytes);
#pragma unroll
  for (int p = 0; p < kPlanes; ++p) {
    const int v = p * 32 + lane;
    if (v < vectors) of_warp[v] = *reinterpret_cast<const Vector*>(from + v * kVectorBytes);
  }
  __syncwarp();
  if (vector >= planes.vectors) return;
  Vector pixels[kPlanes];
#pragma unroll
  for (int p = 0; p < kPlanes; ++p) pixels[p] = of_warp[lane * kPlanes + p];
  uint32_t words[4 * kPlanes];
  uint32_t of_planes[4 * kPlanes];
  ToWords(pixels, words);
  ExchangeRowsAndColumns<T, kElements>(words, of_planes);
  unsigned char* const to = out + planes.Offset(vector);
#pragma unroll
  for (int p = 0; p < kPlanes; ++p) {
    StoreVector(to + p * planes.apart, VectorOfWords(of_planes + 4 * p));
  }
}

template <typename T, int kPlanes>
LaunchStatus Run(const TransposeArgs& args, bool weaves) {
  const int64_t size = args.element_bytes;
  const int64_t apart = (weaves ? args.ld_in : args.ld_out) * size;
  const int64_t stride = (weaves ? args.stride_in : args.stride_out) * size;
  const auto of_plane =
      static_cast<uint32_t>((weaves ? args.cols : args.rows) * size / kVectorBytes);
  const Planes planes = {apart, stride, of_plane, static_cast<uint32_t>(of_plane * args.batch),
                         BlockDivisor(of_plane)};
  return Launch(weaves ? WeavePlanes<T, kPlanes> : UnweavePlanes<T, kPlanes>,
                Grid{CeilDiv(int64_t{planes.vectors}, int64_t{kThreads})}, Block{kThreads}, 0,
                args.stream, static_cast<const unsigned char*>(args.in),
                static_cast<unsigned char*>(args.out), planes);
}

template <typename T>
LaunchStatus RunOf(const TransposeArgs& args, bool weaves) {
  switch (weaves ? args.rows : args.cols) {
    case 2:
      return Run<T, 2>(args, weaves);
    case 3:
      return Run<T, 3>(args, weaves);
    default:
      return Run<T, 4>(args, weaves);
  }
}

}  // namespace

LaunchStatus TransposeFewRows(const TransposeArgs& args);
LaunchStatus TransposeFewColumns(const TransposeArgs& args);

LaunchStatus TransposeFewPlanes(const TransposeArgs& args) {
  const bool weaves = HasRowsAsPlanes(args);
  if (!weaves && !HasColumnsAsPlanes(args)) {
    return args.rows <= args.cols ? TransposeFewRows(args) : TransposeFewColumns(args);
  }
  switch (args.element_bytes) {
    case 1:
      return RunOf<uint8_t>(args, weaves);
    case 2:
      return RunOf<uint16_t>(args, weaves);
    default:
      return RunOf<uint32_t>(args, weaves);
  }
}

}  // namespace stridewise
