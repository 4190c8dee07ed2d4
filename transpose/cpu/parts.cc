#include "transpose/cpu/parts.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "transpose/cpu/schedules.h"

namespace stridewise {
namespace {

// What a piece of a row of the output costs beside its lines where another thread writes the next
// one, in lines: probably the hardware's prefetching goes on behind its end and takes lines from
// that thread, up to a page of them. Of 25 shapes, each in all parts, those that follow took 1.11
// times as long as the best ones on 16 cores, and 1.12 times with the lines of a page.
constexpr double kLinesOfEnd = 48;

// Of such a piece, which is not worth looking at where it has fewer.
constexpr int64_t kLeastLines = 16;

constexpr double kNever = std::numeric_limits<double>::infinity();

// Returns the units of the columns of parts: lines where there are many, else squares.
int64_t ColumnUnit(const BlockTranspose& matrix, int64_t parts) {
  const int64_t line = kLineBytes / matrix.element_bytes;
  return matrix.cols / line >= 4 * parts ? line : 16 / matrix.element_bytes;
}

// Returns how much of n the last part has, which is the largest.
int64_t LargestPart(int64_t n, int64_t parts, int64_t unit) {
  return n - WholeBegin(n, parts, parts - 1, unit);
}

// Returns the lines that a thread reads and writes.
double LinesOfThread(const BatchTranspose& batch, const Parts& parts, int threads) {
  const BlockTranspose& one = batch.first;
  const int64_t line = kLineBytes / one.element_bytes;
  const auto rows = static_cast<double>(LargestPart(one.rows, parts.rows, line));
  const int64_t whole = LargestPart(one.cols, parts.cols, ColumnUnit(one, parts.cols));
  const auto cols = static_cast<double>(whole);
  const auto turns = static_cast<double>(DivideUp(batch.count * parts.count(), threads));
  const bool shares = parts.cols > 1 && (one.ld_in % kLineBytes != 0 || whole % line != 0);
  const double of_line = 1.0 / static_cast<double>(line);
  return turns * (rows * (cols * of_line + (shares ? 1 : 0)) +
                  cols * (rows * of_line + (parts.rows > 1 ? kLinesOfEnd : 0)));
}

}  // namespace

Parts ChooseParts(const BatchTranspose& batch, int threads) {
  const BlockTranspose& one = batch.first;
  const int64_t most_rows =
      std::max<int64_t>(one.rows * one.element_bytes / (kLeastLines * kLineBytes), 1);
  const int64_t most_cols = std::max<int64_t>(one.cols * one.element_bytes / 16, 1);
  Parts best;
  double least = kNever;
  // As many parts of a matrix as there are threads, or half of them and so on, as long as all have
  // one: short transposes would wait for a longer search.
  for (int64_t count = batch.count < 4 * threads ? threads : 1;; count = DivideUp(count, 2)) {
    for (int64_t rows = 1; rows <= std::min(count, most_rows); rows *= 2) {
      const Parts parts = {rows, count / rows};
      if (parts.cols > most_cols) continue;
      const double lines = LinesOfThread(batch, parts, threads);
      if (lines > least) continue;
      least = lines;
      best = parts;
    }
    const bool is_last = count * batch.count <= threads && least < kNever;
    if (count == 1 || is_last) return best;
  }
}

void TransposePart(const BlockTranspose& matrix, const Parts& parts, int64_t index) {
  const int64_t bytes = matrix.element_bytes;
  const int64_t line = kLineBytes / bytes;
  const int64_t row = WholeBegin(matrix.rows, parts.rows, index / parts.cols, line);
  const int64_t end_row = WholeBegin(matrix.rows, parts.rows, index / parts.cols + 1, line);
  const int64_t unit = ColumnUnit(matrix, parts.cols);
  const int64_t col = WholeBegin(matrix.cols, parts.cols, index % parts.cols, unit);
  BlockTranspose block = matrix;
  block.in += row * matrix.ld_in + col * bytes;
  block.out += col * matrix.ld_out + row * bytes;
  block.rows = end_row - row;
  block.cols = WholeBegin(matrix.cols, parts.cols, index % parts.cols + 1, unit) - col;
  if (block.rows == 0 || block.cols == 0) return;
  const bool aligned = matrix.aligned();
  if (row > 0 && !aligned) {
    BlockTranspose edge = block;
    edge.rows = std::min(line, block.rows);
    TransposeEdge(edge, /*behind=*/true);
    block.in += edge.rows * matrix.ld_in;
    block.out += edge.rows * bytes;
    block.rows -= edge.rows;
  }
  if (block.rows > 0) TransposeInStrips(block);
  if (end_row < matrix.rows && !aligned) {
    block.in += block.rows * matrix.ld_in;
    block.out += block.rows * bytes;
    block.rows = std::min(line, matrix.rows - end_row);
    TransposeEdge(block, /*behind=*/false);
  }
}

}  // namespace stridewise
