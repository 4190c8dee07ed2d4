// Permutes dimensions where the innermost of `out` are two to four planes and then what is
// contiguous in `in`: pictures of three channels cut into patches, the pixel shuffle of an upscaled
// picture. A thread loads a word of each plane and interleaves their elements in registers, which
// makes as many words of one contiguous piece of `out`: there are no tables, and no barriers of a
// block.
//
// On an H100 the patches 16x3x7x32x7x32:024351 of 2 bytes reach 0.99 of a copy. permute_tile
// reached 0.69: its runs of `out` have two dimensions, so that each of their elements has an entry
// in a table, and tensors of a few megabytes take little longer than its steps.

#include <cstdint>

#include "common/gpu/launch.h"
#include "transpose/device/rows_offsets.h"
#include "transpose/device/vectors.h"
#include "transpose/permute_args.h"
#include "transpose/permute_rows_plan.h"

namespace stridewise {
namespace {

constexpr int kThreads = 256;

// Words of each plane that a thread loads before it stores the first.
template <int kBytes>
constexpr int kWordsInFlight = kBytes == kVectorBytes ? 1 : 4;

template <int kBytes>
struct WordOfBytes;
template <>
struct WordOfBytes<2> {
  using Type = uint16_t;
};
template <>
struct WordOfBytes<4> {
  using Type = uint32_t;
};
template <>
struct WordOfBytes<16> {
  using Type = Vector;
};

template <typename T, int kBytes>
__device__ inline T ElementOfWord(const typename WordOfBytes<kBytes>::Type& word, int k) {
  if constexpr (kBytes == 16) {
    return ElementOf<T>(word, k);
  } else {
    return static_cast<T>(word >> (8 * sizeof(T) * k));
  }
}

template <typename T, int kBytes>
__device__ inline typename WordOfBytes<kBytes>::Type MakeWord(
    const T (&elements)[kBytes / sizeof(T)]) {
  if constexpr (kBytes == 16) {
    return VectorOf(elements);
  } else {
    uint32_t word = 0;
#pragma unroll
    for (int k = 0; k < kBytes / static_cast<int>(sizeof(T)); ++k) {
      word |= static_cast<uint32_t>(elements[k]) << (8 * sizeof(T) * k % 32);
    }
    return static_cast<typename WordOfBytes<kBytes>::Type>(word);
  }
}

// The plan's elements are words of a plane, which is `plane` bytes from the next. A warp stores
// what its lanes have interleaved as whole vectors, one after the other: it passes through shared
// memory because stores of a lane each would touch every cache line as many times as there are
// planes.
template <typename T, int kPlanes, int kBytes>
__global__ void __launch_bounds__(kThreads)
    PermuteInterleaveKernel(const unsigned char* in, unsigned char* out, int64_t plane,
                            PermuteRowsPlan plan) {
  using Word = typename WordOfBytes<kBytes>::Type;
  constexpr int kElements = kBytes / static_cast<int>(sizeof(T));
  constexpr int kInFlight = kWordsInFlight<kBytes>;
  constexpr int kVectorsOfWarp = 32 * kPlanes * kBytes / kVectorBytes;
  __shared__ Vector stage[kThreads / 32][kVectorsOfWarp];
  const auto lane = static_cast<int>(threadIdx.x % 32);
  Vector* const of_warp = stage[threadIdx.x / 32];
  const uint32_t first = blockIdx.x * (kThreads * kInFlight) + threadIdx.x;
  Word words[kInFlight][kPlanes];
#pragma unroll
  for (int i = 0; i < kInFlight; ++i) {
    if (first + i * kThreads >= plan.elements) break;
    const int64_t from = OffsetsOf(plan, first + i * kThreads).in;
#pragma unroll
    for (int p = 0; p < kPlanes; ++p) {
      words[i][p] = *reinterpret_cast<const Word*>(in + from + p * plane);
    }
  }
#pragma unroll
  for (int i = 0; i < kInFlight; ++i) {
    const uint32_t first_of_warp = first - lane + i * kThreads;
    if (first_of_warp >= plan.elements) break;
    __syncwarp();  // Before what the warp has stored is overwritten.
#pragma unroll
    for (int w = 0; w < kPlanes; ++w) {
      T elements[kElements];
#pragma unroll
      for (int k = 0; k < kElements; ++k) {
        const int element = w * kElements + k;  // Of the piece.
        elements[k] = ElementOfWord<T, kBytes>(words[i][element % kPlanes], element / kPlanes);
      }
      reinterpret_cast<Word*>(of_warp)[lane * kPlanes + w] = MakeWord<T, kBytes>(elements);
    }
    __syncwarp();
    const uint32_t left = plan.elements - first_of_warp;
    const int bytes = static_cast<int>(left < 32 ? left : 32) * kPlanes * kBytes;
    unsigned char* const to = out + static_cast<int64_t>(first_of_warp) * (kPlanes * kBytes);
#pragma unroll
    for (int v = lane; v < kVectorsOfWarp; v += 32) {
      if ((v + 1) * kVectorBytes <= bytes) {
        StoreVector(to + v * kVectorBytes, of_warp[v]);
      } else {  // The last words of the tensor.
        for (int at = v * kVectorBytes; at < bytes; at += kBytes) {
          *reinterpret_cast<Word*>(to + at) = reinterpret_cast<const Word*>(of_warp)[at / kBytes];
        }
      }
    }
  }
}

template <typename T, int kPlanes, int kBytes>
LaunchStatus Run(const PermuteArgs& args) {
  constexpr int64_t kElements = kBytes / static_cast<int>(sizeof(T));
  constexpr int64_t kOfBlock = kThreads * kWordsInFlight<kBytes>;
  PermuteArgs words = args;
  words.rank = args.rank - 1;
  for (int d = 0; d < words.rank; ++d) words.dims[d] = args.dims[d + 1];
  words.dims[0].extent /= kElements;
  words.dims[0].stride_in *= kElements;
  words.dims[0].stride_out *= kElements;
  const PermuteRowsPlan plan = MakePermuteRowsPlan(words);
  return Launch(PermuteInterleaveKernel<T, kPlanes, kBytes>,
                Grid{CeilDiv(int64_t{plan.elements}, kOfBlock)}, Block{kThreads}, 0, args.stream,
                static_cast<const unsigned char*>(args.in), static_cast<unsigned char*>(args.out),
                args.dims[0].stride_in * args.element_bytes, plan);
}

template <typename T, int kBytes>
LaunchStatus RunPlanes(const PermuteArgs& args) {
  switch (args.dims[0].extent) {
    case 2:
      return Run<T, 2, kBytes>(args);
    case 3:
      return Run<T, 3, kBytes>(args);
    default:
      return Run<T, 4, kBytes>(args);
  }
}

}  // namespace

LaunchStatus PermuteInterleave(const PermuteArgs& args) {
  const int64_t bytes = InterleavedBytes(args);
  switch (args.element_bytes) {
    case 1:
      if (bytes == 16) return RunPlanes<uint8_t, 16>(args);
      return bytes == 4 ? RunPlanes<uint8_t, 4>(args) : RunPlanes<uint8_t, 2>(args);
    case 2:
      if (bytes == 16) return RunPlanes<uint16_t, 16>(args);
      return bytes == 4 ? RunPlanes<uint16_t, 4>(args) : RunPlanes<uint16_t, 2>(args);
    default:
      return bytes == 16 ? RunPlanes<uint32_t, 16>(args) : RunPlanes<uint32_t, 4>(args);
  }
}

}  // namespace stridewise
