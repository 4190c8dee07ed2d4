// How a thread of tma_tile.h reads operands from shared memory and multiplies them: four k, a quad,
// of four neighbouring rows or columns of C at a time.
//
// The operand of which a thread has less stays in registers for a quad, and the other one streams
// through, four elements at a time, each group loaded while the one before is multiplied.

#ifndef STRIDEWISE_MATMUL_DEVICE_QUAD_READER_H_
#define STRIDEWISE_MATMUL_DEVICE_QUAD_READER_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/accumulators.h"
#include "matmul/device/block_tile.h"
#include "matmul/device/operand.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/quarter_maps.h"

namespace stridewise {

// One tile of an operand in a stage, as a thread reads it: groups of kVector elements of the extent
// m or n that are kGroupStep apart, times the four k of a quad.
template <OperandLayout kLayout, int kBlockMn, int kGroupStep>
struct QuadReader {
  static constexpr bool kKMajor = kLayout == OperandLayout::kKMajor;
  static constexpr int kRowBytes = (kKMajor ? 32 : kBlockMn) * int{sizeof(float)};
  static constexpr int kQuarterBytes = (kKMajor ? kBlockMn : 32) / kQuarters * kRowBytes;

  uint32_t first;    // The offset of the thread's first element of the first quad in the stage.
  uint32_t piece;    // K-major: the offset of the quad's piece in a row without the exchange.
  uint32_t swizzle;  // K-major: what it is exchanged with, for the first group.

  // `mn` is the thread's first element, `quad` the thread's first quad.
  __device__ QuadReader(int mn, int quad) {
    if (kKMajor) {
      const auto row = static_cast<uint32_t>(mn / kQuarters);
      first = row * kRowBytes;
      swizzle = row % 8 * kVectorBytes;
      piece = static_cast<uint32_t>(quad) * kVectorBytes;
    } else {
      first = static_cast<uint32_t>(quad * kRowBytes + mn * int{sizeof(float)});
    }
  }

  // Returns the reader of the next quad.
  __device__ void Advance() {
    if (kKMajor) {
      piece += kVectorBytes;
    } else {
      first += kRowBytes;
    }
  }

  // Loads group `group`: K-major [element][k], otherwise [k][element].
  __device__ void Load(uint32_t stage, int group, float (*to)[kVector]) const {
    uint32_t from = stage + first;
    if (kKMajor) {
      const int row = group * (kGroupStep / kQuarters);
      from += row * kRowBytes + (piece ^ swizzle ^ (row % 8 * kVectorBytes));
    } else {
      from += group * kGroupStep * int{sizeof(float)};
    }
#pragma unroll
    for (int q = 0; q < kQuarters; ++q) LoadSharedVector(from + q * kQuarterBytes, to[q]);
  }

  // Returns element i at the quad's k-th k.
  __device__ static float At(const float (*group)[kVector], int i, int k) {
    return kKMajor ? group[i][k] : group[k][i];
  }
};

template <typename Tile, OperandLayout kLayoutA, OperandLayout kLayoutB>
struct QuadReaders {
  using ReaderA = QuadReader<kLayoutA, Tile::kBlockM, kLanesM * kVector>;
  using ReaderB = QuadReader<kLayoutB, Tile::kBlockN, kLanesN * kVector>;

  // Adds the products of one quad.
  static __device__ void Multiply(const ReaderA& a, const ReaderB& b, uint32_t stage,
                                  Accumulators<Tile>& accumulators) {
    constexpr int kGroupsM = Tile::kThreadM / kVector;
    constexpr int kGroupsN = Tile::kThreadN / kVector;
    constexpr bool kHoldA = kGroupsM <= kGroupsN;
    constexpr int kHeld = kHoldA ? kGroupsM : kGroupsN;
    constexpr int kStreamed = kHoldA ? kGroupsN : kGroupsM;
    const uint32_t stage_b = stage + Tile::kBytesOfA;
    float held[kHeld][kVector][kVector];
    float streamed[2][kVector][kVector];
    const auto load_streamed = [&](int group) {
      if (kHoldA) {
        b.Load(stage_b, group, streamed[group % 2]);
      } else {
        a.Load(stage, group, streamed[group % 2]);
      }
    };
#pragma unroll
    for (int i = 0; i < kHeld; ++i) {
      if (kHoldA) {
        a.Load(stage, i, held[i]);
      } else {
        b.Load(stage_b, i, held[i]);
      }
    }
    load_streamed(0);
#pragma unroll
    for (int group = 0; group < kStreamed; ++group) {
      if (group + 1 < kStreamed) load_streamed(group + 1);
      const auto* const now = streamed[group % 2];
#pragma unroll
      for (int k = 0; k < kVector; ++k) {
#pragma unroll
        for (int h = 0; h < kHeld * kVector; ++h) {
#pragma unroll
          for (int s = 0; s < kVector; ++s) {
            const int i = h % 2 == 0 ? s : kVector - 1 - s;
            const auto* const of_h = held[h / kVector];
            if (kHoldA) {
              float& to = accumulators.at[h][group * kVector + i];
              to = fma(ReaderA::At(of_h, h % kVector, k), ReaderB::At(now, i, k), to);
            } else {
              float& to = accumulators.at[group * kVector + i][h];
              to = fma(ReaderA::At(now, i, k), ReaderB::At(of_h, h % kVector, k), to);
            }
          }
        }
      }
    }
  }
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_QUAD_READER_H_
