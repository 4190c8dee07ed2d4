// How operands of any alignment come to shared memory without registers, and from there to the
// fragments of mma.sync: for tensor_ring.
//
// A line of an operand begins anywhere within 16 bytes, and so do its pieces in shared memory,
// where they arrive as the vectors that memory has. Lines that are a multiple of eight apart begin
// equally far behind 16 bytes, so that a lane has one distance, or two, for all of its elements.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_RING_COPY_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_RING_COPY_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/fitted_copy.h"
#include "matmul/device/tensor/general_operand.h"
#include "matmul/device/tensor/ring_plan.h"

namespace stridewise {

constexpr int kRingVector = 8;  // Elements of 16 bytes.

// Vectors of a line of kElements elements that begins anywhere, and the bytes from a line to the
// next in shared memory: those of eight lines of 64 begin in different banks.
__host__ __device__ constexpr int RingVectors(int elements) { return elements / kRingVector + 1; }
__host__ __device__ constexpr int RingPitch(int elements) { return RingVectors(elements) * 16; }

// A stage's part of an operand: kMn lines along k, or kRingK lines along m or n.
template <int kMn>
struct RingPart {
  static constexpr int kVectorsAlongK = kMn * RingVectors(kRingK);
  static constexpr int kVectorsAcross = kRingK * RingVectors(kMn);
  static constexpr int kVectors = kVectorsAlongK > kVectorsAcross ? kVectorsAlongK : kVectorsAcross;
  static constexpr int kBytes = kVectors * 16;
};

// A thread's copies of an operand's parts, one stage after the other along k. What lies beyond the
// last of k arrives as 0.
template <int kMn>
class RingCopy {
 public:
  // From (mn, k) on, of products of `depth`.
  __device__ RingCopy(const GeneralOperand& operand, int64_t batch, int64_t mn, int k, int depth) {
    const uint16_t* const matrix = operand.data + batch * operand.stride;
    const auto mn_left = static_cast<int>(min(operand.mn - mn, int64_t{kMn}));
    const int vectors = operand.k_major ? Part::kVectorsAlongK : Part::kVectorsAcross;
    end_ = reinterpret_cast<const char*>(
        matrix + (operand.k_major ? (operand.mn - 1) * operand.ld + depth
                                  : int64_t{depth - 1} * operand.ld + operand.mn));
    step_ = operand.k_major ? kRingK * 2 : operand.ld * (kRingK * 2);
    of_step_ = operand.k_major ? kRingK * 2 : kRingK * 16;
#pragma unroll
    for (int i = 0; i < kOfThread; ++i) {
      const int number = i * kRingThreads + static_cast<int>(threadIdx.x);
      const int across = operand.k_major ? RingVectors(kRingK) : RingVectors(kMn);
      const int line = number / across;
      const int in_line = number % across * 16;
      const auto first = reinterpret_cast<uintptr_t>(
          operand.k_major ? matrix + (mn + line) * operand.ld + k
                          : matrix + int64_t{k + line} * operand.ld + mn);
      const auto shift = static_cast<int>(first % 16);
      from_[i] = reinterpret_cast<const char*>(first - shift) + in_line;
      if (operand.k_major) {
        // Of lines that begin with a vector the last one has nothing.
        const bool is_in = line < mn_left && (shift != 0 || in_line < kRingK * 2);
        most_[i] = is_in ? 16 : 0;
        left_[i] = (depth - k) * 2 + shift - in_line;
      } else {
        most_[i] = max(0, min(16, mn_left * 2 + shift - in_line));
        left_[i] = (depth - k - line) * 16;
      }
      if (number >= vectors) most_[i] = kNone;
    }
  }

  // Starts the copies of a stage to `part`, and goes on to the next one.
  __device__ void Start(char* part) {
#pragma unroll
    for (int i = 0; i < kOfThread; ++i) {
      const int number = i * kRingThreads + static_cast<int>(threadIdx.x);
      const int bytes = min(max(left_[i], 0), most_[i]);
      char* const to = part + number * 16;
      if (bytes > 0 && from_[i] + 16 > end_) {
        // The vector goes on behind the matrix.
#pragma unroll 1
        for (int at = 0; at < 16; at += 2) {
          *reinterpret_cast<uint16_t*>(to + at) =
              at < bytes ? *reinterpret_cast<const uint16_t*>(from_[i] + at) : uint16_t{0};
        }
      } else {
        CopyAsyncIf<16>(most_[i] != kNone, reinterpret_cast<float*>(to),
                        reinterpret_cast<const float*>(from_[i]), bytes);
      }
      from_[i] += step_;
      left_[i] -= of_step_;
    }
  }

 private:
  using Part = RingPart<kMn>;
  static constexpr int kOfThread = (Part::kVectors + kRingThreads - 1) / kRingThreads;
  static constexpr int kNone = -1;

  const char* end_;  // Of the matrix.
  const char* from_[kOfThread];
  int64_t step_;
  int of_step_;
  int left_[kOfThread];  // Bytes to the end of the line, or 16 for each line to the last of k.
  int most_[kOfThread];  // Bytes that a vector has of the operand.
};

// Where a lane's fragments lie in an operand's part.
template <int kMn, bool kAlongK>
class RingLane {
 public:
  // Of the part that begins at (mn, k).
  __device__ RingLane(const GeneralOperand& operand, int64_t batch, int64_t mn, int k) {
    const int of_mn = static_cast<int>(threadIdx.x) % 32 / 4;
    const int of_k = static_cast<int>(threadIdx.x) % 4 * 2;
    const auto ld = static_cast<int>(operand.ld % kRingVector);
    const uint16_t* const first = operand.data + batch * operand.stride +
                                  (kAlongK ? mn * operand.ld + k : int64_t{k} * operand.ld + mn);
    const auto shift = static_cast<int>(reinterpret_cast<uintptr_t>(first) / 2 % kRingVector);
    const auto shift_of = [&](int line) { return (shift + line * ld) % kRingVector; };
    if constexpr (kAlongK) {
      const int own_shift = shift_of(of_mn);
      low_ = of_mn * RingPitch(kRingK) + own_shift / 2 * 4 + of_k * 2;
      high_ = low_ + 4;
      bits_ = own_shift % 2 * 16;
    } else {
      low_ = of_k * RingPitch(kMn) + (of_mn + shift_of(of_k)) * 2;
      high_ = (of_k + 1) * RingPitch(kMn) + (of_mn + shift_of(of_k + 1)) * 2;
      bits_ = 0;
    }
  }

  // Returns the lane's pair along k of the eight rows or columns and the eight of k that are so
  // many eights further. There is no branch: loads of several pairs are under way together.
  __device__ uint32_t Pair(const char* part, int eights_of_mn, int eights_of_k) const {
    if constexpr (kAlongK) {
      const char* const at = part + eights_of_mn * 8 * RingPitch(kRingK) + eights_of_k * 16;
      return __funnelshift_r(*reinterpret_cast<const uint32_t*>(at + low_),
                             *reinterpret_cast<const uint32_t*>(at + high_), bits_);
    } else {
      const char* const at = part + eights_of_mn * 16 + eights_of_k * 8 * RingPitch(kMn);
      return __byte_perm(*reinterpret_cast<const uint16_t*>(at + low_),
                         *reinterpret_cast<const uint16_t*>(at + high_), 0x5410);
    }
  }

 private:
  int low_, high_;  // Bytes to the words, or elements, that a pair is made of.
  int bits_;        // By which the words are shifted.
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_RING_COPY_H_
