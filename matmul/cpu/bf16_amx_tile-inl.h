// The micro-kernels of bfloat16 by AMX, a processor's matrix unit: TDPBF16PS adds 32 products along
// k to each of 16 x 16 sums, in the 16 cycles in which VDPBF16PS does so for two vectors of sums.
//
// Its registers are eight tiles of 16 rows by 64 bytes. Four are sums of 32 rows by 32 columns, or
// of 16 by 64; a step along k loads four tiles (five) for four multiplications. A load seems to
// wait for the multiplication that reads what the register held, where all of a Xeon's threads
// work: the next step's tiles are loaded as soon as registers are free, 1.36 times as fast there.

#ifndef STRIDEWISE_MATMUL_CPU_BF16_AMX_TILE_INL_H_
#define STRIDEWISE_MATMUL_CPU_BF16_AMX_TILE_INL_H_

#include <immintrin.h>

#include <algorithm>
#include <cstdint>

#include "common/base/half_types.h"
#include "hwy/base.h"
#include "matmul/cpu/bf16_packing-inl.h"
#include "matmul/cpu/bf16_tile-inl.h"

#define STRIDEWISE_AMX_TARGET STRIDEWISE_BF16_TARGET ",amx-tile,amx-bf16"

HWY_PUSH_ATTRIBUTES(STRIDEWISE_AMX_TARGET)
namespace stridewise {
namespace bf16 {

inline constexpr int64_t kAmxRows = 16;
inline constexpr int64_t kAmxPanelRows = 2 * kAmxRows;
inline constexpr int64_t kAmxWords = 256;  // Of a tile.
inline constexpr int64_t kAmxRowBytes = 64;

// What is fetched meanwhile in each step along k: 64 cycles.
inline constexpr int64_t kLinesOfStep = 8;

// Walks over what is fetched while tiles are multiplied: rows of C first, then lines of B.
class Fetches {
 public:
  explicit Fetches(const TileCall& call, int64_t rows, int64_t width) {
    const bool rounds = call.c.out != nullptr;
    const int64_t bytes = rounds ? sizeof(Bf16) : sizeof(float);
    next_ = rounds ? reinterpret_cast<const char*>(call.c.out)
                   : reinterpret_cast<const char*>(call.c.sums);
    row_step_ = (rounds ? call.c.out_step : call.c.sums_step) * bytes;
    row_bytes_ = width * bytes;
    rows_ = rows;
    later_ = call.later;
    later_step_ = call.later_step;
    later_lines_ = call.later_lines;
  }

  void Step() {
    for (int i = 0; i < 2 && rows_ > 0; ++i, --rows_, next_ += row_step_) {
      for (int64_t at = 0; at < row_bytes_; at += 64) __builtin_prefetch(next_ + at, 1);
    }
    const int64_t lines = std::min(later_lines_, kLinesOfStep);
    for (int64_t i = 0; i < lines; ++i, later_ += later_step_) __builtin_prefetch(later_, 0, 2);
    later_lines_ -= lines;
  }

 private:
  const char* next_;
  int64_t row_step_;
  int64_t row_bytes_;
  int64_t rows_;
  const Bf16* later_;
  int64_t later_step_;
  int64_t later_lines_;
};

// Where tiles of sums are stored, `step` floats from row to row, and whether what lies there is
// added.
struct AmxSums {
  float* data;
  int64_t step;
  bool adds;
};

// The four tiles of sums, in registers 0 to 3. The compiler does not know that memory is what the
// instructions load and store.
struct AmxQuad {
  float* tiles[4];
  int64_t row_bytes;

  void Load(bool adds) const {
    asm volatile("" : : : "memory");
    if (adds) {
      _tile_loadd(0, tiles[0], row_bytes);
      _tile_loadd(1, tiles[1], row_bytes);
      _tile_loadd(2, tiles[2], row_bytes);
      _tile_loadd(3, tiles[3], row_bytes);
    } else {
      _tile_zero(0);
      _tile_zero(1);
      _tile_zero(2);
      _tile_zero(3);
    }
  }

  void Store() const {
    _tile_stored(0, tiles[0], row_bytes);
    _tile_stored(1, tiles[1], row_bytes);
    _tile_stored(2, tiles[2], row_bytes);
    _tile_stored(3, tiles[3], row_bytes);
    asm volatile("" : : : "memory");
  }
};

// Computes 32 rows by 32 columns of sums of `steps` steps.
inline void AmxSquare(const TileCall& call, int64_t steps, Fetches fetches, const AmxSums& to) {
  const char* a = static_cast<const char*>(call.a);
  const uint32_t* b = call.b;
  const int64_t next_a = steps * kAmxWords * int64_t{sizeof(uint32_t)};
  const int64_t next_b = steps * kAmxWords;
  float* const lower = to.data + kAmxRows * to.step;
  const AmxQuad sums = {{to.data, to.data + kLanes, lower, lower + kLanes},
                        to.step * int64_t{sizeof(float)}};
  sums.Load(to.adds);
  _tile_loadd(4, a, kAmxRowBytes);
  _tile_loadd(6, b, kAmxRowBytes);
  _tile_loadd(7, b + next_b, kAmxRowBytes);
  _tile_loadd(5, a + next_a, kAmxRowBytes);
  for (int64_t s = 1; s < steps; ++s) {
    a += kAmxWords * sizeof(uint32_t);
    b += kAmxWords;
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(4, a, kAmxRowBytes);
    _tile_dpbf16ps(2, 5, 6);
    _tile_loadd(6, b, kAmxRowBytes);
    _tile_dpbf16ps(3, 5, 7);
    _tile_loadd(7, b + next_b, kAmxRowBytes);
    _tile_loadd(5, a + next_a, kAmxRowBytes);
    fetches.Step();
  }
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(1, 4, 7);
  _tile_dpbf16ps(2, 5, 6);
  _tile_dpbf16ps(3, 5, 7);
  fetches.Step();
  sums.Store();
}

// Computes 16 rows by 64 columns of sums.
inline void AmxWide(const TileCall& call, int64_t steps, Fetches fetches, const AmxSums& to) {
  const char* a = static_cast<const char*>(call.a);
  const uint32_t* b = call.b;
  const int64_t next_b = steps * kAmxWords;
  const AmxQuad sums = {{to.data, to.data + kLanes, to.data + 2 * kLanes, to.data + 3 * kLanes},
                        to.step * int64_t{sizeof(float)}};
  sums.Load(to.adds);
  for (int64_t s = 0; s < steps; ++s) {
    _tile_loadd(4, a, kAmxRowBytes);
    _tile_loadd(5, b, kAmxRowBytes);
    _tile_dpbf16ps(0, 4, 5);
    _tile_loadd(6, b + next_b, kAmxRowBytes);
    _tile_dpbf16ps(1, 4, 6);
    _tile_loadd(7, b + 2 * next_b, kAmxRowBytes);
    _tile_dpbf16ps(2, 4, 7);
    _tile_loadd(5, b + 3 * next_b, kAmxRowBytes);
    _tile_dpbf16ps(3, 4, 5);
    a += kAmxWords * sizeof(uint32_t);
    b += kAmxWords;
    fetches.Step();
  }
  sums.Store();
}

}  // namespace bf16
}  // namespace stridewise
HWY_POP_ATTRIBUTES

#endif  // STRIDEWISE_MATMUL_CPU_BF16_AMX_TILE_INL_H_
