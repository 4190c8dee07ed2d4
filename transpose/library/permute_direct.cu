// Permutes dimensions of small tensors, and of those whose neighbours in `out` are near each other
// in `in`: a thread gathers the elements of a word of `out` straight from `in`. There are no
// tables, no barriers and few instructions: what takes about as long as a launch is as fast as its
// first load is early (tile_small.cu). Sectors that several threads read are found in L1.

#include <cstdint>

#include "common/gpu/launch.h"
#include "transpose/device/vectors.h"
#include "transpose/element_size.h"
#include "transpose/permute_args.h"
#include "transpose/permute_rows_plan.h"

namespace stridewise {
namespace {

constexpr int kThreads = 256;
constexpr int kInFlight = 2;  // Words that a thread gathers before it stores the first.

// Where an element is in `in`, walking along `out`.
class Walk {
 public:
  __device__ Walk(const PermuteRowsPlan& plan, uint32_t element) : plan_(plan) { MoveTo(element); }

  __device__ int64_t offset() const { return offset_; }  // In bytes from the first element.

  // Moves on by one element.
  __device__ void Next() {
    ++element_;
    ++index_;
    offset_ += plan_.digit[0].stride_in;
    if (index_ < plan_.digit[0].count) return;
    MoveTo(element_);
  }

 private:
  __device__ void MoveTo(uint32_t element) {
    element_ = element;
    offset_ = 0;
#pragma unroll
    for (int i = 0; i < kMaxPermuteRank; ++i) {
      if (i == plan_.digits) break;
      const RowsDigit& digit = plan_.digit[i];
      const uint32_t next = i + 1 == plan_.digits ? 0 : digit.by_count.Quotient(element);
      const uint32_t index = element - next * digit.count;
      if (i == 0) index_ = index;
      offset_ += index * digit.stride_in;
      element = next;
    }
  }

  const PermuteRowsPlan& plan_;
  uint32_t element_;
  uint32_t index_;  // Of the fastest dimension of `out`.
  int64_t offset_;
};

template <typename T, typename Word>
__global__ void __launch_bounds__(kThreads)
    PermuteDirectKernel(const unsigned char* in, T* out, PermuteRowsPlan plan) {
  constexpr uint32_t kElements = sizeof(Word) / sizeof(T);
  const uint32_t first = (blockIdx.x * (kThreads * kInFlight) + threadIdx.x) * kElements;
  constexpr uint32_t kStep = kThreads * kElements;
  T elements[kInFlight][kElements];
#pragma unroll
  for (int i = 0; i < kInFlight; ++i) {
    Walk walk(plan, first + i * kStep);
#pragma unroll
    for (uint32_t k = 0; k < kElements; ++k) {
      if (first + i * kStep + k >= plan.elements) break;
      elements[i][k] = *reinterpret_cast<const T*>(in + walk.offset());
      if (k + 1 < kElements) walk.Next();
    }
  }
#pragma unroll
  for (int i = 0; i < kInFlight; ++i) {
    const uint32_t element = first + i * kStep;
    if (element + kElements <= plan.elements) {
      Word word = elements[i][0];
#pragma unroll
      for (uint32_t k = 1; k < kElements; ++k) {
        word |= static_cast<Word>(elements[i][k]) << (8 * sizeof(T) * k);
      }
      *reinterpret_cast<Word*>(out + element) = word;
    } else {
      for (uint32_t k = 0; element + k < plan.elements; ++k) out[element + k] = elements[i][k];
    }
  }
}

template <typename T, typename Word>
LaunchStatus Run(const PermuteArgs& args) {
  constexpr int64_t kOfBlock = kThreads * kInFlight * sizeof(Word) / sizeof(T);
  const PermuteRowsPlan plan = MakePermuteRowsPlan(args);
  return Launch(PermuteDirectKernel<T, Word>, Grid{CeilDiv(int64_t{plan.elements}, kOfBlock)},
                Block{kThreads}, 0, args.stream, static_cast<const unsigned char*>(args.in),
                static_cast<T*>(args.out), plan);
}

}  // namespace

LaunchStatus PermuteDirect(const PermuteArgs& args) {
  switch (args.element_bytes) {
    case 1:
      return Run<uint8_t, uint32_t>(args);
    case 2:
      return Run<uint16_t, uint32_t>(args);
    case 4:
      return Run<uint32_t, uint32_t>(args);
    case 8:
      return Run<uint64_t, uint64_t>(args);
    default:
      return Run<Bits128, Bits128>(args);
  }
}

}  // namespace stridewise
