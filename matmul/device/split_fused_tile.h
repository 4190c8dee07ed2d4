// The tile of split_fused_kernel.h: its shapes, its shared memory, and how operands get there.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_FUSED_TILE_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_FUSED_TILE_H_

#include <cstdint>

#include "matmul/device/mma/wgmma_sm90.h"
#include "matmul/device/split_fused_pair.h"
#include "matmul/device/split_scheme.h"
#include "matmul/device/split_tile.h"

namespace stridewise {

// Four warpgroups of 64 rows and 64 columns each: kWarpgroupsM below each other, and the others
// beside them. More warps hide more of the loads' latency than larger parts would save.
template <int kWarpgroupsM, OperandLayout kMajorOfA, OperandLayout kMajorOfB>
struct FusedTile {
  static constexpr OperandLayout kMajorA = kMajorOfA;
  static constexpr OperandLayout kMajorB = kMajorOfB;
  static constexpr int kWarpgroups = 4;
  static constexpr int kThreads = kWarpgroups * kWarpgroupThreads;
  static constexpr int kGroupsN = kWarpgroups / kWarpgroupsM;
  static constexpr int kGroupCols = 64;
  static constexpr int kBlockM = kWarpgroupsM * kMmaRows;
  static constexpr int kBlockN = kGroupsN * kGroupCols;
  static constexpr int kBlockK = 64;
  static constexpr int kMmaK = 16;
  using Mma = Wgmma<SplitFp16, kGroupCols, kMajorOfA, kMajorOfB>;

  // Lines of 64 elements, 128 bytes in shared memory: k of a row, or rows (columns) of a k in
  // panels of 64.
  static constexpr int kLinesA = kBlockM;
  static constexpr int kLinesB = kBlockN;
  static constexpr int kPanelBytes = kBlockK * kSwizzleBytes;
  static constexpr int kPartBytesA = kLinesA * kSwizzleBytes;
  static constexpr int kPartBytesB = kLinesB * kSwizzleBytes;
  static constexpr int kStageBytes = 2 * (kPartBytesA + kPartBytesB);

  // Sums on their way to C, where the stages were. Two lanes' pairs lie in different banks.
  static constexpr int kSumPitch = kBlockN + 8;
  static constexpr int kSumBytes = kBlockM * kSumPitch * 4;
  static_assert(kSumBytes <= 2 * kStageBytes);
  // The stages begin at a multiple of 1024.
  static constexpr int kSharedBytes = 2 * kStageBytes + 1024;

  // What MultiplyInFp32() needs to know of a warpgroup's part.
  struct OfGroup {
    static constexpr OperandLayout kFp32MajorA = kMajorOfA;
    static constexpr OperandLayout kFp32MajorB = kMajorOfB;
    static constexpr int kBlockN = kGroupCols;
    static constexpr int kOutBuffers = 2;
    static constexpr int kOutBytes = kMmaRows * kSwizzleBytes;
  };
  static_assert(kWarpgroups * OfGroup::kOutBuffers * OfGroup::kOutBytes <= 2 * kStageBytes,
                "it stages operands there");
};

// An operand as it is stored: in lines along k where it is K-major, and along m or n where not.
struct FusedOperand {
  const float* data;
  int64_t ld;
  int64_t stride;  // From a matrix of the batch to the next.
  int mn;          // Its extent along m or n.
  bool pairs;      // Two neighbours that begin at an even number are a vector.
};

// A block's lines of an operand: loaded into registers, and from there split into shared memory.
// A thread has the same two elements of every kWarps-th line.
template <OperandLayout kMajor, int kLines, int kThreads>
class FusedLines {
 public:
  // Of as many rows or columns as there are lines, from `mn` on, and k from `begin` to `end`.
  __device__ FusedLines(const FusedOperand& operand, int64_t batch, int64_t mn, int begin, int end)
      : pairs_(operand.pairs) {
    const int line = static_cast<int>(threadIdx.x) / 32;
    const int first = static_cast<int>(threadIdx.x) % 32 * 2;
    const int left = static_cast<int>(operand.mn - mn < kLines ? operand.mn - mn : kLines);
    const float* const matrix = operand.data + batch * operand.stride;
    if constexpr (kKMajor) {
      lines_left_ = left - line;
      elements_left_ = end - begin - first;
      from_ = matrix + (mn + line) * operand.ld + begin + first;
    } else {
      lines_left_ = end - begin - line;
      elements_left_ = left - first;
      from_ = matrix + (begin + line) * operand.ld + mn + first;
    }
    line_step_ = kWarps * operand.ld;
  }

  // Loads the next 64 of k; zeros beyond the ends.
  __device__ void Load() {
    // Of all of the block's lines, not of the thread's alone: no warp takes both ways.
    const bool whole = lines_left_ >= kWholeLines && elements_left_ >= kWholeElements;
    if (!__all_sync(~0u, whole)) {
      LoadAs<false, false>();
    } else if (pairs_) {
      LoadAs<true, true>();
    } else {
      LoadAs<true, false>();
    }
    from_ += kKMajor ? kK : line_step_ * (kK / kWarps);
    if constexpr (kKMajor) {
      elements_left_ -= kK;
    } else {
      lines_left_ -= kK;
    }
  }

  // Returns the bits of the largest absolute value.
  __device__ uint32_t MostBits() const {
    uint32_t most = 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      most = max(most, max(AbsBits(values_[i].x), AbsBits(values_[i].y)));
    }
    return most;
  }

  // Scales what is loaded, which waits for the loads: all that are under way, also those of another
  // operand, as the compiler has one counter for them. So this comes before the next Load().
  __device__ void Scale(float power) {
#pragma unroll
    for (float2& two : values_) {
      MultiplyHere(power, &two.x);
      MultiplyHere(power, &two.y);
    }
  }

  // Splits what is scaled; the second parts follow the first.
  __device__ void Store(uint32_t to) const {
    const uint32_t warp = threadIdx.x / 32;
    const uint32_t lane = threadIdx.x % 32;
#pragma unroll
    for (uint32_t i = 0; i < kEach; ++i) {
      const uint32_t line = warp + i * kWarps;
      const uint32_t at = to + line * kSwizzleBytes + (lane * 4 ^ line % kSwizzleRows * 16);
      TwoFp16 high, low;
      SplitScaled(values_[i].x, values_[i].y, &high, &low);
      StoreTwo(at, high);
      StoreTwo(at + kLines * kSwizzleBytes, low);
    }
  }

 private:
  static constexpr bool kKMajor = kMajor == OperandLayout::kKMajor;
  static constexpr int kK = 64;
  static constexpr int kWarps = kThreads / 32;
  static constexpr int kEach = kLines / kWarps;
  static constexpr int kLinesOfPanel = kK / kWarps;  // Of a thread.
  // What a thread's first element leaves to the ends where all of its elements are inside.
  static constexpr int kWholeLines = (kKMajor ? kEach - 1 : kLinesOfPanel - 1) * kWarps + 1;
  static constexpr int kWholeElements = kKMajor ? 2 : (kLines - kK) + 2;
  static_assert(kLines % kWarps == 0 && kWarps % 4 == 0 && kWarps <= 16);

  __device__ static void StoreTwo(uint32_t at, TwoFp16 two) {
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(at), "r"(*reinterpret_cast<uint32_t*>(&two))
                 : "memory");
  }

  // Multiplies where it stands in the program. The compiler would do it later, behind loads.
  __device__ static void MultiplyHere(float by, float* value) {
#if defined(__CUDA_ARCH__) && !defined(STRIDEWISE_HOST_EXECUTOR)
    asm volatile("mul.f32 %0, %0, %1;" : "+f"(*value) : "f"(by));
#else
    *value *= by;
#endif
  }

  // kWhole: nothing is outside. kPairs: two neighbours are a vector.
  template <bool kWhole, bool kPairs>
  __device__ void LoadAs() {
    const float* from = from_;
    const int64_t step = line_step_ * static_cast<int64_t>(sizeof(float));
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      // Where lines are along m or n, 64 of them are a panel.
      const int panel = kKMajor ? 0 : i / kLinesOfPanel;
      const int line = (kKMajor ? i : i % kLinesOfPanel) * kWarps;
      if (i > 0) {
        if (!kKMajor && i % kLinesOfPanel == 0) {
          from = from_;
        } else {
          Advance(&from, step);
        }
      }
      const float* const two = from + panel * kK;
      if constexpr (kWhole && kPairs) {
        values_[i] = __ldg(reinterpret_cast<const float2*>(two));
      } else if constexpr (kWhole) {
        values_[i] = {__ldg(two), __ldg(two + 1)};
      } else {
        const int left = line < lines_left_ ? elements_left_ - panel * kK : 0;
        values_[i] = {left > 0 ? __ldg(two) : 0.0f, left > 1 ? __ldg(two + 1) : 0.0f};
      }
    }
  }

  // Adds to an address. The compiler would multiply for each line anew, with six instructions.
  __device__ static void Advance(const float** from, int64_t bytes) {
#ifdef __CUDA_ARCH__
    asm("add.s64 %0, %0, %1;" : "+l"(*from) : "l"(bytes));
#else
    *from += bytes / static_cast<int64_t>(sizeof(float));
#endif
  }

  bool pairs_;
  int lines_left_, elements_left_;  // From the thread's first to the ends.
  const float* from_;
  int64_t line_step_;
  float2 values_[kEach];
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_FUSED_TILE_H_
