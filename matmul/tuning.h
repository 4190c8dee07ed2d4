// The thresholds of `auto` (dispatch.h): a line of tuning.inc for each architecture on which
// block_search measured them.

#ifndef STRIDEWISE_MATMUL_TUNING_H_
#define STRIDEWISE_MATMUL_TUNING_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"

namespace stridewise {

// Tiles are those of the whole batch's C, terms are k. The order is that of the dispatch table, so
// that thresholds which decide together stand side by side: block_search moves two neighbours at a
// time.
struct MatMulTuning {
  int64_t compute_capability = 0;  // Of the device that was measured: 90 for 9.0.
  int64_t tiny_work = 0;           // tiny: tiles of 16x16 times terms are at most so much,
  int64_t tiny_terms = 0;          // and terms.
  int64_t thin_lines = 0;          // thin: at most so many rows or columns, whichever are fewer,
  int64_t thin_terms = 0;          // and at least so many terms.
  int64_t tiles_32x32 = 0;         // stream_k_32x32: at most so many tiles of 32x32,
  int64_t few_terms = 0;           // and, of stream_k_32x64 and round_64x64 too, terms.
  int64_t tiles_32x64 = 0;         // stream_k_32x64: at most so many tiles of 32x64.
  int64_t short_terms = 0;         // batch_64x64, not stream_k_64x64: at most so many terms.
  int64_t tiles_64x64 = 0;         // stream_k_64x64: at most so many of 64x64; batch_64x64: more.
  int64_t round_from = 0;          // round_64x64, not stream_k_64x64: from so many of 64x64
  int64_t round_to = 0;            // to so many, which is a round of all multiprocessors.
  // The time that tiles take for an element that they cover, in percent of stream_k's.
  int64_t slower_32x32 = 0;
  int64_t slower_32x64 = 0;
  int64_t slower_64x64 = 0;
  int64_t slower_128x128 = 0;
};

// A field of MatMulTuning, and within what it is sensible: 100 is the least of a percentage.
struct MatMulThreshold {
  const char* name;  // As tuning.inc and the texts of the dispatch table call it.
  int64_t MatMulTuning::*value;
  int64_t least;
  int64_t most;
};

// All of them, in the order of the fields.
absl::Span<const MatMulThreshold> MatMulThresholds();

// Those measured, by compute capability.
absl::Span<const MatMulTuning> MatMulTunings();

// That of this compute capability or, where it was not measured, of the one whose number is
// nearest; of two that are as near, the older. REQUIRES: `tunings` is not empty and is ascending.
const MatMulTuning& NearestTuning(absl::Span<const MatMulTuning> tunings, int compute_capability);

// NearestTuning() of those measured: what `auto` goes by. 0, the host executor, has that of the
// oldest.
const MatMulTuning& TuningFor(int compute_capability);

// What tuning.inc holds for it, with a newline: a line, wrapped at 100 columns.
std::string TuningLine(const MatMulTuning& tuning);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TUNING_H_
