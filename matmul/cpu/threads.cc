#include "matmul/cpu/threads.h"

#include <algorithm>
#include <limits>

namespace stridewise {
namespace {

// Some 3 us of work, about what it takes to start threads that still spin and to wait for them.
constexpr double kMinWorkOfThread = 3e5;

// So many threads are taken for less, too: OpenMP ends threads that a call has no use for, and
// starts them again for the next one, which takes longer than to have all of them wait.
constexpr int64_t kThreadsOfAny = 16;

// Less stays on one thread: two or three would not gain what they cost.
constexpr double kMinWorkOfThreads = 1e6;

// The operations that take as long as an element of an operand that is read once.
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

// Few rows or columns of operands that both lie along k are dot products.
bool TakesDots(const ProductShape& shape) {
  const int64_t most = std::max<int64_t>(4, std::min<int64_t>(32, shape.k / 8));
  return shape.transposed_b && !shape.transposed_a && std::min(shape.m, shape.n) <= most;
}

// From this number of rows on columns of a transposed A come from other lines for each part.
constexpr int64_t kMinRowsOfColumns = 128;

// The time of the largest part in multiply-adds for each step along k, with what operands cost: an
// element of A is read where it lies, one of B or of columns of A is packed, as long as about 16
// multiply-adds.
double TimeOfStep(const ProductShape& shape, const ThreadGrid& grid) {
  const int64_t rows = (shape.m + grid.rows - 1) / grid.rows;
  const int64_t cols = (shape.n + grid.cols - 1) / grid.cols;
  if (TakesDots(shape)) {
    const int64_t products = std::max<int64_t>(rows, 2) * std::max<int64_t>(cols, 4);
    return static_cast<double>(products + 2 * (rows + cols));
  }
  const int64_t tall = std::max(rows, kMinRows);
  const int64_t time_of_a = shape.transposed_a && shape.m >= kMinRowsOfColumns ? 16 : 4;
  return static_cast<double>(tall * TiledCols(cols) + time_of_a * tall + 16 * TiledCols(cols));
}

// A piece of a row of C, in multiply-adds: its neighbours are lines of other cores, whose fetches
// get in each other's way, some 75 ns. That decides where there is little else to do.
constexpr double kTimeOfPiece = 3000;

// A piece of a row of B, if B is more than the L2 caches of some threads hold: some 20 ns until it
// comes, and less where it is long. Of fewer rows of A other pieces are fetched meanwhile, if they
// are more than some lines: 2x689x6589 is 2.8 times as fast by parts along k.
constexpr double kTimeOfPieceOfB = 750;
constexpr double kTimeOfLongPieceOfB = 225;
constexpr int64_t kLongPieceCols = 256;
constexpr int64_t kShortPieceCols = 64;
constexpr int64_t kMinElementsOfPieces = 1 << 20;

// What parts along k cost beside their products, in multiply-adds: an element of C is stored for
// each of them and read once more by another thread, and all wait for each other, 4 us.
constexpr double kTimeOfSum = 64;
constexpr double kTimeOfWait = 1.5e5;

double TimeOf(const ProductShape& shape, const ThreadGrid& grid) {
  const auto rows = static_cast<double>((shape.m + grid.rows - 1) / grid.rows);
  const int64_t cols = (shape.n + grid.cols - 1) / grid.cols;
  const auto steps = static_cast<double>((shape.k + grid.depth - 1) / grid.depth);
  double time = steps * TimeOfStep(shape, grid);
  if (grid.cols > 1) time += kTimeOfPiece * rows;
  const bool waits = shape.m >= kMinRows || cols < kShortPieceCols;
  if (grid.cols > 1 && !shape.transposed_b && waits && shape.n * shape.k > kMinElementsOfPieces) {
    time += steps * (cols < kLongPieceCols ? kTimeOfPieceOfB : kTimeOfLongPieceOfB);
  }
  if (grid.depth > 1) time += kTimeOfSum * rows * static_cast<double>(cols) + kTimeOfWait;
  return time;
}

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

// Up to three rows times a larger row-major B, 12 MB, are divided along k by four of the threads:
// 1.16 times as fast as columns for each thread for eight shapes, because longer pieces of B's rows
// come faster.
constexpr int64_t kMinElementsOfWideB = 3 << 20;
constexpr int64_t kPartsOfWideB = 4;

bool DividesWideB(const ProductShape& shape, const ThreadGrid& without, int64_t threads) {
  return shape.m < kMinRows && !shape.transposed_b && shape.n * shape.k >= kMinElementsOfWideB &&
         without.cols == threads && threads % kPartsOfWideB == 0 &&
         shape.n >= threads * kShortPieceCols && shape.k >= kPartsOfWideB * kMinDepth;
}

int64_t MostThreads(const ProductShape& shape, int threads) {
  const double work = WorkOfProduct(shape.m, shape.n, shape.k);
  if (work < kMinWorkOfThreads) return 1;
  const auto worthwhile = static_cast<int64_t>(std::min<double>(threads, work / kMinWorkOfThread));
  return std::min<int64_t>(threads, std::max(worthwhile, kThreadsOfAny));
}

// So many rows and multiply-adds repay teams of two threads, which take rows in turn, where parts
// of columns alone would take as long by the model: nobody waits for the slowest core, and each
// thread reads half of A. Ten shapes of 50 to 118 rows are 1.11 times as fast, four of 147 to 372
// rows 1.2 to 1.4 times. With 29 rows, or less work, parts of columns are faster.
constexpr int64_t kMinRowsOfTeams = 48;
// In BF16 multiply-adds of 64 rows are over before B is packed, which each thread of a team does.
constexpr int64_t kMinRowsOfTeamsOfBf16 = 128;
constexpr double kMinWorkOfTeams = 1e8;

bool RepaysTeams(const ProductShape& shape, int64_t threads) {
  const double work =
      static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
  const int64_t least = shape.is_bf16 ? kMinRowsOfTeamsOfBf16 : kMinRowsOfTeams;
  return shape.m >= least && work >= kMinWorkOfTeams && threads % 2 == 0;
}

// Keeps the grid that takes the least time.
class Fastest {
 public:
  void Add(const ThreadGrid& grid, double time) {
    if (time >= time_) return;
    grid_ = grid;
    time_ = time;
  }

  const ThreadGrid& grid() const { return grid_; }
  double time() const { return time_; }

 private:
  ThreadGrid grid_;
  double time_ = std::numeric_limits<double>::infinity();
};

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

// Looks at some thirty grids, because a short product would wait for more: with each number of
// parts of rows either all columns or as many parts of them as there are threads for.
ThreadGrid ChooseThreadGrid(const ProductShape& shape, int threads) {
  const int64_t most = MostThreads(shape, threads);
  Fastest fastest;
  for (int64_t rows = 1; rows <= most; ++rows) {
    fastest.Add({rows, 1}, TimeOf(shape, {rows, 1}));
    const ThreadGrid grid = {rows, most / rows};
    if (grid.cols > 1) fastest.Add(grid, TimeOf(shape, grid));
  }
  const bool divides_columns = fastest.grid().rows == 1 && fastest.grid().cols > 2;
  return divides_columns && RepaysTeams(shape, most) ? ThreadGrid{2, most / 2} : fastest.grid();
}

ThreadGrid ChooseDepthGrid(const ProductShape& shape, const ThreadGrid& without, int threads) {
  const auto& [m, n, k, transposed_a, transposed_b, is_bf16] = shape;
  const int64_t most = MostThreads(shape, threads);
  if (most < 2 || k < 2 * kMinDepth || m * n > kMaxSums) return without;
  if (transposed_a && n <= kMaxVectors && m * k >= kMinElementsOfRows &&
      2 * (k / kMinDepth) >= most) {
    return {1, 1, std::min(most, k / kMinDepth)};
  }
  if (without.rows == 2 && RepaysTeams(shape, most)) return without;
  if (DividesWideB(shape, without, most)) return {1, most / kPartsOfWideB, kPartsOfWideB};
  Fastest fastest;
  for (int64_t rows = 1; rows <= most / 2; rows *= 2) {
    for (int64_t cols = 1; rows * cols <= most / 2; cols *= 2) {
      const ThreadGrid grid = {rows, cols, std::min(most / (rows * cols), k / kMinDepth)};
      fastest.Add(grid, TimeOf(shape, grid));
    }
  }
  return fastest.time() < kMaxShareOfGrid * TimeOf(shape, without) ? fastest.grid() : without;
}

ThreadGrid ChooseBatchGrid(int64_t m, int64_t n, int64_t batch, int64_t threads) {
  const ProductShape shape = {m, n, 1};
  Fastest fastest;
  for (int64_t rows = 1; rows <= threads; ++rows) {
    for (int64_t cols = 1; rows * cols <= threads; ++cols) {
      const ThreadGrid grid = {rows, cols};
      const int64_t turns = (batch * grid.parts() + threads - 1) / threads;
      fastest.Add(grid, static_cast<double>(turns) * TimeOfStep(shape, grid));
    }
  }
  return fastest.grid();
}

}  // namespace stridewise
