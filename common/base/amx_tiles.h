// The configuration of AMX, a processor's matrix unit: eight registers, each a tile of 16 rows by
// 64 bytes. x86 alone; REQUIRES: HasBf16Tiles().

#ifndef STRIDEWISE_COMMON_BASE_AMX_TILES_H_
#define STRIDEWISE_COMMON_BASE_AMX_TILES_H_

#include <immintrin.h>

#include <cstdint>

namespace stridewise {

// All eight tiles, of the calling thread, as long as it lives: what is not released makes a change
// of threads slower.
class AmxTiles {
 public:
  __attribute__((target("amx-tile"))) AmxTiles() {
    struct alignas(64) {
      uint8_t palette = 1;
      uint8_t start = 0;
      uint8_t reserved[14] = {};
      uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    } config;
    // The compiler does not know that the instruction reads it.
    asm volatile("" : : "r"(&config) : "memory");
    _tile_loadconfig(&config);
  }
  __attribute__((target("amx-tile"))) ~AmxTiles() { _tile_release(); }
  AmxTiles(const AmxTiles&) = delete;
  AmxTiles& operator=(const AmxTiles&) = delete;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_AMX_TILES_H_
