#include "matmul/cpu/threads.h"

#include <algorithm>
#include <limits>

namespace stridewise {
namespace {

// Some 3 us of work, about what it takes to start threads that still spin and to wait for them.
constexpr double kMinWorkOfThread = 3e5;

// Less stays on one thread: two or three would not gain what they cost.
constexpr double kMinWorkOfThreads = 1e6;

// An element of an operand that is read once takes as long as so many operations.
constexpr double kWorkOfElement = 16;

// A tile of fewer rows takes as long as one of four.
constexpr int64_t kMinRows = 4;

// Columns that take as long in tiles of three vectors: a tile of two takes as long as one of 36
// columns, of one as one of 24, since they load more for each multiply-add.
int64_t TiledCols(int64_t cols) {
  constexpr int64_t kColsOfRest[] = {0, 24, 36};
  const int64_t vectors = (cols + kPartUnit - 1) / kPartUnit;
  return vectors / 3 * 3 * kPartUnit + kColsOfRest[vectors % 3];
}

// The time of the largest part in multiply-adds for each step along k, with what operands cost: an
// element of A is read where it lies, one of B is packed, as long as about 16 multiply-adds.
double TimeOf(int64_t m, int64_t n, const ThreadGrid& grid) {
  const auto rows = static_cast<double>(std::max((m + grid.rows - 1) / grid.rows, kMinRows));
  const auto cols = static_cast<double>(TiledCols((n + grid.cols - 1) / grid.cols));
  return rows * cols + 4 * rows + 16 * cols;
}

// A piece of a row of C, in multiply-adds of all of k: its neighbours are lines of other cores,
// whose fetches get in each other's way. That decides where there is little else to do.
constexpr double kTimeOfPiece = 256;

// What parts along k cost beside their products, in multiply-adds: an element of C is stored by
// each thread and read once more by another, and all wait for each other, 2 us.
constexpr double kTimeOfSum = 32;
constexpr double kTimeOfWait = 1.5e5;

// Parts along k are taken where they are faster by a fifth.
constexpr double kMaxShareOfGrid = 0.8;

// Sums of more elements leave the L2 cache.
constexpr int64_t kMaxSums = 1 << 17;
constexpr int64_t kMinDepth = 64;

// A large A that is stored transposed, and multiplied with so few vectors, is read row by row as it
// is stored, where a grid would read a piece of each: 1.7 times as fast for 2432x1x1922, but half
// as fast for 1517x1x492.
constexpr int64_t kMaxVectors = 4;
constexpr int64_t kMinElementsOfRows = 1 << 21;

int64_t MostThreads(int64_t m, int64_t n, int64_t k, int threads) {
  const double work = WorkOfProduct(m, n, k);
  if (work < kMinWorkOfThreads) return 1;
  return static_cast<int64_t>(std::min<double>(threads, work / kMinWorkOfThread));
}

// Returns the grid of at most `most` parts whose time(grid) is the least.
template <typename Time>
ThreadGrid FastestGrid(int64_t most, Time time_of) {
  ThreadGrid best;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t rows = 1; rows <= most; ++rows) {
    for (int64_t cols = 1; rows * cols <= most; ++cols) {
      const double time = time_of(ThreadGrid{rows, cols});
      if (time < least) {
        least = time;
        best = {rows, cols};
      }
    }
  }
  return best;
}

}  // namespace

double WorkOfProduct(int64_t m, int64_t n, int64_t k) {
  const auto rows = static_cast<double>(m);
  const auto cols = static_cast<double>(n);
  const auto depth = static_cast<double>(k);
  return 2 * rows * cols * depth + kWorkOfElement * (rows * depth + depth * cols + rows * cols);
}

int64_t FirstOfPart(int64_t extent, int64_t part, int64_t parts) {
  const int64_t first = extent * part / parts;
  if (part == parts || extent < 2 * parts * kPartUnit) return first;
  return (first + kPartUnit / 2) / kPartUnit * kPartUnit;
}

int64_t ChunkRows(int64_t m, int64_t work_of_row, int64_t threads, int64_t panel) {
  constexpr int64_t kChunksOfThread = 4;
  constexpr int64_t kMost = 64;
  // 4 us: taking a chunk costs a tenth of a microsecond and a panel that is not fetched yet.
  constexpr int64_t kMinWork = 250000;
  const auto whole = [panel](int64_t rows) { return (rows + panel - 1) / panel * panel; };
  const int64_t rows = whole(std::min(m / (threads * kChunksOfThread), kMost));
  const int64_t worthwhile = whole(kMinWork / std::max<int64_t>(work_of_row, 1) + 1);
  return std::max(panel, std::min(std::max(rows, worthwhile), whole((m + threads - 1) / threads)));
}

ThreadGrid ChooseThreadGrid(int64_t m, int64_t n, int64_t k, int threads) {
  const double piece = kTimeOfPiece / static_cast<double>(std::max<int64_t>(k, 1));
  return FastestGrid(MostThreads(m, n, k, threads), [&](const ThreadGrid& grid) {
    const auto rows = static_cast<double>((m + grid.rows - 1) / grid.rows);
    return TimeOf(m, n, grid) + (grid.cols > 1 ? piece * rows : 0);
  });
}

ThreadGrid ChooseBatchGrid(int64_t m, int64_t n, int64_t batch, int64_t threads) {
  return FastestGrid(threads, [&](const ThreadGrid& grid) {
    const int64_t turns = (batch * grid.rows * grid.cols + threads - 1) / threads;
    return static_cast<double>(turns) * TimeOf(m, n, grid);
  });
}

int64_t ChooseDepthParts(int64_t m, int64_t n, int64_t k, int threads, bool transposed_a) {
  const int64_t parts = std::min(MostThreads(m, n, k, threads), k / kMinDepth);
  if (parts < 2 || m * n > kMaxSums) return 1;
  if (transposed_a && n <= kMaxVectors && m * k >= kMinElementsOfRows) return parts;
  const auto sums = static_cast<double>(m * n);
  const double along_k =
      static_cast<double>(k) / static_cast<double>(parts) * TimeOf(m, n, ThreadGrid()) +
      kTimeOfSum * sums + kTimeOfWait;
  const double by_grid = static_cast<double>(k) * TimeOf(m, n, ChooseThreadGrid(m, n, k, threads));
  return along_k < kMaxShareOfGrid * by_grid ? parts : 1;
}

}  // namespace stridewise
