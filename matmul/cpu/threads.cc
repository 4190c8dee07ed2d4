#include "matmul/cpu/threads.h"

#include <algorithm>
#include <limits>

namespace stridewise {
namespace {

// Some 25 us of work. A thread that sleeps is awake after a few, but on cores that others use too
// all wait for the last one, which may get its core only milliseconds later.
constexpr double kMinFlopsOfThread = 2e6;

// Parts are multiples of about a tile.
constexpr int64_t kUnitRows = 14;
constexpr int64_t kUnitCols = 32;

int64_t PartOf(int64_t extent, int64_t parts, int64_t unit) {
  const int64_t part = (extent + parts - 1) / parts;
  return (part + unit - 1) / unit * unit;
}

// The time of the largest part in units of one tile's, with what packing adds: an element of A or B
// takes as long as about 16 multiply-adds.
double TimeOf(int64_t m, int64_t n, const ThreadGrid& grid) {
  const auto rows = static_cast<double>(PartOf(m, grid.rows, kUnitRows));
  const auto cols = static_cast<double>(PartOf(n, grid.cols, kUnitCols));
  return rows * cols + 16 * (rows + cols);
}

}  // namespace

ThreadGrid ChooseThreadGrid(int64_t m, int64_t n, int64_t k, int threads) {
  const double flops =
      2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const auto most =
      static_cast<int64_t>(std::min<double>(threads, std::max(flops / kMinFlopsOfThread, 1.0)));
  ThreadGrid best;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t rows = 1; rows <= most; ++rows) {
    for (int64_t cols = 1; rows * cols <= most; ++cols) {
      const double time = TimeOf(m, n, {rows, cols});
      if (time < least) {
        least = time;
        best = {rows, cols};
      }
    }
  }
  return best;
}

}  // namespace stridewise
