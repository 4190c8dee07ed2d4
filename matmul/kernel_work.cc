#include "matmul/kernel_work.h"

#include <algorithm>
#include <cmath>

namespace stridewise {
namespace {

constexpr double kMb = 1e6;
constexpr double kFloatMb = sizeof(float) / kMb;

// In floating point: a division takes a fifth of the time of one in 64-bit integers. Exact, as all
// counts are below 2^53.
double Ceil(double a, double b) { return std::ceil(a / b); }

double Double(int64_t value) { return static_cast<double>(value); }

// Returns whether every row of the operand, as stored, begins and ends at a multiple of 16 bytes.
bool IsMadeOfVectors(const MatMulInput& operand, int64_t row_length, int64_t batch) {
  const int64_t all = operand.ld | row_length | (batch == 1 ? 0 : operand.stride);
  return reinterpret_cast<uintptr_t>(operand.data) % 16 == 0 && all % 4 == 0;
}

// The k extent that is computed: none where alpha is 0.
double ExtentK(const MatMulArgs& args) { return args.alpha == 0 ? 0 : Double(args.k); }

// The MB of the operands, each read once, and of C.
double DramMb(const MatMulArgs& args) {
  const double m = Double(args.m), n = Double(args.n), k = ExtentK(args), batch = Double(args.batch);
  const double a = m * k * (args.a.stride == 0 ? 1 : batch);
  const double b = k * n * (args.b.stride == 0 ? 1 : batch);
  return kFloatMb * (a + b + m * n * batch * (args.beta == 0 ? 1 : 2));
}

// Adds rounds of blocks of `steps` k steps each, on multiprocessors that have room for `resident`.
void AddBlocks(double blocks, double steps, double resident, double multiprocessors,
               MatMulWork* work) {
  const double slots = resident * multiprocessors;
  const double whole = std::floor(blocks / slots);
  const double last = Ceil(blocks - whole * slots, multiprocessors);  // On a multiprocessor.
  const double rounds = whole + (last > 0 ? 1 : 0);
  const double resident_rounds = whole * resident + last;
  work->rounds += rounds;
  work->tiles += resident_rounds;
  work->steps += rounds * steps;
  work->block_steps += resident_rounds * steps;
}

}  // namespace

bool HasVectorsA(const MatMulArgs& args) {
  return IsMadeOfVectors(args.a, args.a.transposed ? args.m : args.k, args.batch);
}

bool HasVectorsB(const MatMulArgs& args) {
  return IsMadeOfVectors(args.b, args.b.transposed ? args.k : args.n, args.batch);
}

namespace {

MatMulWork CountTiles(const MatMulArgs& args, const DeviceModel& device, const MatMulTile& tile,
                      bool may_split) {
  const double tile_rows = Ceil(Double(args.m), tile.rows);
  const double tile_cols = Ceil(Double(args.n), tile.cols);
  const double tiles = tile_rows * tile_cols * Double(args.batch);
  const double steps = Ceil(ExtentK(args), tile.k);
  const double resident = tile.resident;
  const double slots = resident * device.multiprocessors;
  const double area = Double(tile.rows) * tile.cols;

  // As PlanSplit() does it.
  double split = tiles - std::floor(tiles / slots) * slots;
  const double split_steps = split * steps;
  double units = std::min(slots, std::floor(split_steps / 2));
  const double workspace = 2 * units * area * sizeof(float);
  const bool splits = may_split && units > 0 &&
                      split_steps / units + device.split_cost_factor * tile.split_cost < steps &&
                      workspace <= Double(args.workspace_bytes);
  if (!splits) split = units = 0;

  MatMulWork work;
  AddBlocks(tiles - split, steps, tile.resident, device.multiprocessors, &work);
  work.launches = tiles > split ? 1 : 0;
  if (splits) {
    AddBlocks(units, split_steps / units, tile.resident, device.multiprocessors, &work);
    work.launches += 2;
    // A unit has parts of about two tiles.
    work.fixup_mb = kFloatMb * area * (units + split);
  }
  const bool slow_a = !args.a.transposed || !HasVectorsA(args);
  const bool slow_b = args.b.transposed || !HasVectorsB(args);
  work.slow_copies = work.block_steps * ((slow_a ? tile.rows : 0) + (slow_b ? tile.cols : 0)) /
                     (tile.rows + tile.cols);
  work.dram_mb = DramMb(args);
  work.fill = tiles / slots;
  work.waste = tiles * area / (Double(args.m) * Double(args.n) * Double(args.batch));
  work.units = units;
  return work;
}

}  // namespace

MatMulWork TileWork(const MatMulArgs& args, const DeviceModel& device, const MatMulTile& tile) {
  return CountTiles(args, device, tile, /*may_split=*/true);
}

MatMulWork WholeTileWork(const MatMulArgs& args, const DeviceModel& device,
                         const MatMulTile& tile) {
  return CountTiles(args, device, tile, /*may_split=*/false);
}

MatMulWork TinyWork(const MatMulArgs& args, const DeviceModel& device,
                    const MatMulTile& /*tile*/) {
  const double k = ExtentK(args);
  const double small = Ceil(Double(args.m), 8) * Ceil(Double(args.n), 8) * Double(args.batch);
  const bool is_small = k <= 128 && small <= 264;
  const int side = is_small ? 8 : 16;
  constexpr int resident = 4;
  const double tiles =
      Ceil(Double(args.m), side) * Ceil(Double(args.n), side) * Double(args.batch);
  MatMulWork work;
  work.launches = 1;
  AddBlocks(tiles, k / 16, resident, device.multiprocessors, &work);
  work.dram_mb = DramMb(args);
  work.fill = tiles / resident / device.multiprocessors;
  work.waste = tiles * side * side / (Double(args.m) * Double(args.n) * Double(args.batch));
  return work;
}

MatMulWork ThinWork(const MatMulArgs& args, const DeviceModel& device,
                    const MatMulTile& /*tile*/) {
  const bool few_rows = args.m <= args.n;
  const double rows = Double(few_rows ? args.m : args.n);
  const double cols = Double(few_rows ? args.n : args.m);
  const bool k_major = few_rows ? args.b.transposed : !args.a.transposed;
  const bool vectors = few_rows ? HasVectorsB(args) : HasVectorsA(args);
  const double k = ExtentK(args);
  const double row_tiles = Ceil(rows, 16);
  // The forms of thin.cu: columns of a tile, and blocks on a multiprocessor.
  const double tile_cols = rows <= 4 ? 32 : rows <= 8 || k_major ? 64 : 128;
  const bool two = rows == 1 || (rows == 2 && k_major && vectors);
  const double resident = rows == 1 && vectors && !k_major && cols > 8192 ? 4 : two ? 2 : 1;
  const double slots = resident * device.multiprocessors;
  const double tiles = Ceil(cols, tile_cols) * row_tiles * Double(args.batch);

  // Parts of k as SkinnyPlan chooses them: the best for each number of rounds.
  const double tile_bytes = tile_cols * k * sizeof(float);
  double parts = 1;
  double best = Ceil(tiles, slots) * tile_bytes;
  constexpr int kMaxRounds = 8;
  for (int rounds = 1; rounds <= kMaxRounds; ++rounds) {
    const double most = std::floor(rounds * slots / tiles);
    if (most < 2) continue;
    const double cost = rounds * (tile_bytes / most + Double(device.k_part_cost_bytes));
    if (cost < best) {
      best = cost;
      parts = most;
    }
  }
  const double elements = rows * cols * Double(args.batch);
  if (parts * elements * sizeof(float) > Double(args.workspace_bytes)) parts = 1;

  MatMulWork work;
  AddBlocks(tiles * parts, k / parts / 16, resident, device.multiprocessors, &work);
  work.launches = parts > 1 ? 2 : 1;
  work.fixup_mb = parts > 1 ? kFloatMb * parts * elements : 0;
  work.slow_copies = vectors ? 0 : work.block_steps;
  work.dram_mb = DramMb(args);
  work.fill = tiles * parts / slots;
  work.waste = row_tiles * 16 / rows;
  work.units = parts > 1 ? tiles * parts : 0;
  return work;
}

MatMulWork RaggedWork(const MatMulArgs& args, const DeviceModel& device, const MatMulTile& tile) {
  constexpr int64_t kMaxThin = 16;
  const auto bulk_extent = [](int64_t extent, int64_t tile) {
    const int64_t rest = extent % tile;
    return extent > tile && rest <= kMaxThin ? extent - rest : extent;
  };
  MatMulArgs bulk = args;
  bulk.m = bulk_extent(args.m, tile.rows);
  bulk.n = bulk_extent(args.n, tile.cols);

  // The TMA loads operands with a row for each k, at multiples of 16 bytes; others are packed.
  const double k = ExtentK(args);
  const bool packs_a = !args.a.transposed || args.a.ld % 4 != 0 ||
                       reinterpret_cast<uintptr_t>(args.a.data) % 16 != 0;
  const bool packs_b = args.b.transposed || args.b.ld % 4 != 0 ||
                       reinterpret_cast<uintptr_t>(args.b.data) % 16 != 0;
  const double packed = k * ((packs_a ? Double(bulk.m) : 0) + (packs_b ? Double(bulk.n) : 0));
  const double packed_bytes =
      k * sizeof(float) * ((packs_a ? Double((bulk.m + 3) & ~int64_t{3}) : 0) +
                           (packs_b ? Double((bulk.n + 3) & ~int64_t{3}) : 0));
  constexpr double kProductsPerElement = 900;
  const bool specialized = device.compute_capability >= 90 && args.batch == 1 && k > 0 &&
                           kProductsPerElement * packed <= Double(bulk.m) * Double(bulk.n) * k &&
                           packed_bytes <= Double(args.workspace_bytes);
  if (specialized && args.workspace_bytes != kAnyWorkspace) {
    bulk.workspace_bytes -= static_cast<int64_t>(packed_bytes);
  }
  MatMulWork work = TileWork(bulk, device, tile);
  if (specialized) {
    work.slow_copies = 0;
    work.launches = 1 + (work.units > 0 ? 1 : 0) + (packs_a ? 1 : 0) + (packs_b ? 1 : 0);
    work.packed_mb = 2 * kFloatMb * packed;
  }
  const auto add_thin = [&](int64_t rows, int64_t cols) {
    if (rows == 0 || cols == 0) return;
    work.launches += 1;
    work.dram_mb += kFloatMb * k * Double(std::max(rows, cols)) * Double(args.batch);
  };
  add_thin(args.m - bulk.m, args.n);
  add_thin(bulk.m, args.n - bulk.n);
  return work;
}

}  // namespace stridewise
