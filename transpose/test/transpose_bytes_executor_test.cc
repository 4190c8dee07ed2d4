// The kernels for batches of elements of 1 and 2 bytes on the host executor: whole matrices and
// strips, wherever rows begin on either side, and a few rows; and tiles of all rows.

#include <cstdint>
#include <utility>

#include "gtest/gtest.h"
#include "transpose/test/executor_fixture.h"
#include "transpose/test/transpose_test_problem.h"

namespace stridewise {
namespace {

class TransposeBytesTest : public TransposeOnExecutorTest {
 protected:
  void RunBytes(const TransposeCase& c) {
    for (const int64_t element_bytes : {1, 2}) RunCase("tile_bytes", c, element_bytes);
  }
};

// Batches without gaps: rows and columns that begin and end everywhere in words, fewer than a
// square has, more matrices than a block takes, and pieces that begin anywhere.
TEST_F(TransposeBytesTest, WholeMatrices) {
  for (int64_t rows = 1; rows <= 9; ++rows) {
    for (int64_t cols = 1; cols <= 9; ++cols) RunBytes({rows, cols, 0, 0, 40});
  }
  for (const auto& [rows, cols] :
       {std::pair{49, 64}, std::pair{64, 49}, std::pair{81, 71}, std::pair{17, 53},
        std::pair{128, 32}, std::pair{200, 3}, std::pair{3, 200}, std::pair{445, 27}}) {
    RunBytes({rows, cols, 0, 0, 7});
    RunBytes({rows, cols, 0, 0, 3, 0, 1, 0});
    RunBytes({rows, cols, 0, 0, 3, 0, 3, 5});
  }
}

// All rows of some columns, which are one piece of `out`; with gaps between rows of `in`, and
// between matrices.
TEST_F(TransposeBytesTest, Strips) {
  for (const auto& [rows, cols] : {std::pair{49, 1025}, std::pair{128, 257}, std::pair{257, 130},
                                   std::pair{300, 202}, std::pair{25, 3001}}) {
    RunBytes({rows, cols, 0, 0});
    RunBytes({rows, cols, 7, 0});
    RunBytes({rows, cols, 0, 0, 2, 0, 1, 3});
    RunBytes({rows, cols, 3, 0, 2, 5});
  }
}

// What is no batch, or has too many rows, goes to tile_ragged.
TEST_F(TransposeBytesTest, OtherMatrices) {
  for (const auto& [rows, cols] : {std::pair{1025, 9}, std::pair{700, 300}}) {
    RunBytes({rows, cols, 0, 0});
    RunBytes({rows, cols, 1, 32, 2, 5});
  }
}

// All rows of some columns as one piece of `out`: vectors that end in the next column, banks of
// every remainder of both leading dimensions, the matrix's ends, and its neighbours in a batch.
using TileFlatTest = TransposeOnExecutorTest;

TEST_F(TileFlatTest, EveryRemainder) {
  for (const int64_t element_bytes : {1, 2, 4}) {
    for (int64_t more = 0; more < 16; ++more) {
      RunCase("tile_flat", {33 + more, 600 + 7 * more, 0, 0}, element_bytes);
      RunCase("tile_flat", {100 - more, 65 + 5 * more, more, 0, 2, 0, more, 3}, element_bytes);
    }
  }
}

// Tiles of each of the shapes, of one column and of none that is left.
TEST_F(TileFlatTest, EveryShape) {
  for (const int64_t element_bytes : {1, 2, 4}) {
    for (const int64_t rows : {32, 64, 120, 121, 221, 222, 360, 361}) {
      for (const int64_t cols : {1, 15, 16, 17, 240, 241, 497}) {
        RunCase("tile_flat", {rows, cols, 0, 0}, element_bytes);
      }
    }
  }
}

TEST_F(TileFlatTest, BatchesAndGaps) {
  for (const int64_t element_bytes : {1, 2, 4}) {
    for (const auto& [rows, cols] : {std::pair{37, 251}, std::pair{96, 130}, std::pair{225, 49}}) {
      RunCase("tile_flat", {rows, cols, 0, 0, 5}, element_bytes);
      RunCase("tile_flat", {rows, cols, 3, 0, 3, 5, 1, 2}, element_bytes);
      RunCase("tile_flat", {rows, cols, 0, 2, 3, 1}, element_bytes);  // By tile_ragged.
    }
  }
}

using WeaveRowsTest = TransposeOnExecutorTest;

// Every number of rows, with columns that end anywhere in a word, more matrices than a block takes,
// and pieces that begin anywhere.
TEST_F(WeaveRowsTest, FewRowsOfBytes) {
  for (int64_t rows = 2; rows <= 13; ++rows) {
    for (const int64_t cols : {1, 2, 3, 4, 5, 7, 8, 33, 250}) {
      RunCase("weave_rows", {rows, cols, 0, 0, 5}, 1);
      RunCase("weave_rows", {rows, cols, 0, 0, 3, 0, 3, 5}, 1);
    }
    RunCase("weave_rows", {rows, 19, 0, 0, 1003}, 1);
    RunCase("weave_rows", {rows, 2001, 0, 0, 2, 0, 1, 2}, 1);
  }
}

TEST_F(WeaveRowsTest, OtherMatrices) {
  for (const int64_t element_bytes : {1, 2}) {
    RunCase("weave_rows", {1, 40, 0, 0, 5}, element_bytes);
    RunCase("weave_rows", {14, 40, 0, 0, 5}, element_bytes);
    RunCase("weave_rows", {6, 40, 1, 0, 5}, element_bytes);
    RunCase("weave_rows", {6, 40, 0, 0, 1}, element_bytes);
    RunCase("weave_rows", {6, 5000, 0, 0, 2}, element_bytes);
  }
}

}  // namespace
}  // namespace stridewise
