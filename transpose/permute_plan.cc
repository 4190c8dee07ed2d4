#include "transpose/permute_plan.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>

#include "common/gpu/launch_geometry.h"
#include "transpose/permute_lanes.h"

namespace stridewise {
namespace {

constexpr int64_t kWordBytes = 4;
constexpr int64_t kChunkBytes = 16;
constexpr int kSectorBytes = 32;
constexpr int64_t kLineBytes = 128;

// Runs that tiles are tried with, in bytes.
constexpr int64_t kRuns[] = {32,   48,   64,   80,    96,    112,   128,   160,  192,
                             224,  256,  320,  384,   448,   512,   576,   640,  768,
                             896,  1024, 1280, 1536,  1792,  2048,  2560,  3072, 4096,
                             5120, 6144, 8192, 10240, 12288, 16384, 24576, 32768};

constexpr int kRowBytes = 16;  // A row's entry in the kernel's tables.
constexpr int kPositionBytes = 2;

bool Contains(const DimensionList& list, int dim) {
  return std::find(list.dims, list.dims + list.count, dim) != list.dims + list.count;
}

class Planner {
 public:
  Planner(const PermuteArgs& args, const PermuteTileLimits& limits)
      : element_bytes_(args.element_bytes), in_(args.in), out_(args.out), limits_(limits) {
    plan_.rank = args.rank;
    plan_.threads = limits.threads;
    for (int d = 0; d < args.rank; ++d) {
      const PermuteDimension& from = args.dims[d];
      plan_.dims[d].extent = from.extent;
      plan_.dims[d].stride_in = from.stride_in * element_bytes_;
      plan_.dims[d].stride_out = from.stride_out * element_bytes_;
    }
    // A dimension of stride 0, which repeats elements, makes no run: it is the slowest.
    SortFew(plan_.dims, plan_.rank, [](const TileDimension& a, const TileDimension& b) {
      return static_cast<uint64_t>(a.stride_in - 1) < static_cast<uint64_t>(b.stride_in - 1);
    });
    for (int d = 0; d < plan_.rank; ++d) in_order_[d] = out_order_[d] = d;
    SortFew(out_order_, plan_.rank,
            [this](int a, int b) { return plan_.dims[a].stride_out < plan_.dims[b].stride_out; });
  }

  // Returns the plan with the longest runs whose tile has at most `bytes` of shared memory.
  PermutePlan Make(int64_t bytes) {
    PlanFor(kRuns[0]);
    PermutePlan best = plan_;
    size_t fits = 0;
    size_t too_long = std::size(kRuns);
    while (too_long - fits > 1) {
      const size_t middle = (fits + too_long) / 2;
      PlanFor(kRuns[middle]);
      if (plan_.shared_bytes <= bytes) best = plan_;
      (plan_.shared_bytes <= bytes ? fits : too_long) = middle;
    }
    return best;
  }

 private:
  void PlanFor(int64_t run_bytes) {
    ChooseTile(run_bytes);
    FindRuns();
    HoldMore();
    LayOut();
  }

  // Returns whether every tile's runs begin at multiples of `bytes`.
  bool RunsAreAt(const void* data, int64_t TileDimension::*stride, const DimensionList& run,
                 int64_t bytes) const {
    if (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(bytes) != 0) return false;
    for (int d = 0; d < plan_.rank; ++d) {
      const TileDimension& dim = plan_.dims[d];
      const int64_t step = Contains(run, d) ? dim.tile : 1;
      if (step < dim.extent && step * (dim.*stride) % bytes != 0) return false;
    }
    return true;
  }

  // Grows the tile along the dimensions in this order until they make a run of `bytes`.
  void Grow(const int* order, int64_t TileDimension::*stride, int64_t bytes) {
    int64_t run = element_bytes_;
    for (int i = 0; i < plan_.rank && run < bytes; ++i) {
      TileDimension& d = plan_.dims[order[i]];
      if (d.*stride != run) return;
      const int64_t wanted = CeilDiv(bytes, run);
      if (2 * d.extent > 3 * wanted) {
        // Tiles of equal size, cut at cache lines or at least at sectors.
        const int64_t line = bytes >= 2 * kLineBytes ? kLineBytes : kSectorBytes;
        int64_t unit = line / std::gcd(line, run);
        while (2 * unit > wanted && unit > 1) unit /= 2;
        const int64_t tiles = std::max<int64_t>(1, d.extent / wanted);
        const int64_t even = CeilDiv(CeilDiv(d.extent, tiles), unit) * unit;
        d.tile = std::max<int>(d.tile, static_cast<int>(std::min(d.extent, even)));
        return;
      }
      d.tile = static_cast<int>(d.extent);
      run *= d.extent;
    }
  }

  void ChooseTile(int64_t run_bytes) {
    for (int d = 0; d < plan_.rank; ++d) plan_.dims[d].tile = 1;
    Grow(in_order_, &TileDimension::stride_in, run_bytes);
    Grow(out_order_, &TileDimension::stride_out,
         std::max(kRuns[0], run_bytes * limits_.out_quarters / 4));
  }

  // Sets `run` to the dimensions that are contiguous within a tile, until it is `enough` bytes long
  // and ends at a sector, and `rows` to the others.
  void Split(const int* order, int64_t TileDimension::*stride, int64_t enough, DimensionList* run,
             DimensionList* rows) const {
    *run = DimensionList();
    *rows = DimensionList();
    int64_t bytes = element_bytes_;
    for (int i = 0; i < plan_.rank; ++i) {
      const TileDimension& d = plan_.dims[order[i]];
      if (d.*stride != bytes || d.tile == 1) break;
      if (bytes >= enough && bytes % kSectorBytes == 0) break;
      run->dims[run->count++] = order[i];
      if (d.tile < d.extent) break;
      bytes *= d.extent;
    }
    for (int d = 0; d < plan_.rank; ++d) {
      if (plan_.dims[d].tile > 1 && !Contains(*run, d)) rows->dims[rows->count++] = d;
    }
  }

  void FindRuns() {
    Split(in_order_, &TileDimension::stride_in, std::numeric_limits<int64_t>::max(), &plan_.in_run,
          &plan_.in_rows);
    Split(out_order_, &TileDimension::stride_out, limits_.enough_run_bytes, &plan_.out_run,
          &plan_.out_rows);
  }

  // Lets tiles hold so much more of an out run that each part of it can begin at a sector.
  void HoldMore() {
    for (int d = 0; d < plan_.rank; ++d) plan_.dims[d].held = plan_.dims[d].tile;
    plan_.out_cut = -1;
    plan_.out_cut_below = 1;
    plan_.out_shifts = false;
    int64_t below = 1;
    for (int i = 0; i < plan_.out_run.count; ++i) {
      TileDimension& d = plan_.dims[plan_.out_run.dims[i]];
      if (d.tile < d.extent) {
        plan_.out_cut = plan_.out_run.dims[i];
        plan_.out_cut_below = static_cast<int>(below);
        plan_.out_shifts = limits_.shift && !RunsAreAt(out_, &TileDimension::stride_out,
                                                       plan_.out_run, kSectorBytes);
        if (plan_.out_shifts) {
          d.held += static_cast<int>(CeilDiv(kSectorBytes / element_bytes_ - 1, below));
        }
      }
      below *= d.held;
    }
    plan_.out_run_held = static_cast<int>(below);
  }

  // Returns whether an out run may begin or end inside a vector.
  bool OutRunHasEnds() const {
    if (!RunsAreAt(out_, &TileDimension::stride_out, plan_.out_run, kChunkBytes)) return true;
    int64_t of_tensor = element_bytes_;
    int64_t of_tile = element_bytes_;
    for (int i = 0; i < plan_.out_run.count; ++i) {
      of_tensor *= plan_.dims[plan_.out_run.dims[i]].extent;
      of_tile *= plan_.dims[plan_.out_run.dims[i]].tile;
    }
    return of_tensor % kChunkBytes != 0 || of_tile % kChunkBytes != 0;
  }

  void LayOut() {
    // Rows of chunks do not overlap: each may begin and end inside a chunk.
    int64_t bytes = element_bytes_;
    for (int i = 0; i < plan_.in_run.count; ++i) {
      TileDimension& d = plan_.dims[plan_.in_run.dims[i]];
      d.pitch = static_cast<int>(d.stride_in);
      bytes *= d.held;
    }
    const bool aligned = RunsAreAt(in_, &TileDimension::stride_in, plan_.in_run, kChunkBytes);
    const int64_t slack = aligned ? 0 : 2 * (kChunkBytes - 1);
    plan_.in_chunks = static_cast<int>(CeilDiv(bytes + slack / 2, kChunkBytes));
    plan_.in_rows_held = 1;
    for (int i = 0; i < plan_.in_rows.count; ++i) {
      TileDimension& d = plan_.dims[plan_.in_rows.dims[i]];
      const int64_t least = bytes + slack;
      int64_t pitch = least + ((d.stride_in - least) % kChunkBytes + kChunkBytes) % kChunkBytes;
      // An odd number of chunks: neighbours then lie in different banks.
      if (pitch % (2 * kChunkBytes) == 0) pitch += kChunkBytes;
      d.pitch = static_cast<int>(pitch);
      bytes += pitch * (d.held - 1);
      plan_.in_rows_held *= d.held;
    }
    plan_.tile_bytes = static_cast<int>(CeilDiv(bytes + slack + 1, kChunkBytes) * kChunkBytes);
    plan_.out_rows_held = 1;
    for (int i = 0; i < plan_.out_rows.count; ++i) {
      plan_.out_rows_held *= plan_.dims[plan_.out_rows.dims[i]].held;
    }
    plan_.out_packed = plan_.out_run.count > 1;
    plan_.out_ends = OutRunHasEnds();
    const int64_t shared =
        plan_.tile_bytes + int64_t{kRowBytes} * plan_.in_rows_held +
        int64_t{kRowBytes} * plan_.out_rows_held + int64_t{sizeof(int)} * kMaxOutLists +
        (plan_.out_packed ? kPositionBytes * (plan_.out_run_held + kWordBytes) : 0);
    plan_.shared_bytes = static_cast<int>(CeilDiv(shared, kChunkBytes) * kChunkBytes);
  }

 public:
  // Numbers the blocks: first a few neighbours along in's run, which share sectors, then all
  // dimensions in the order of `out`.
  void NumberBlocks(PermutePlan* plan) const {
    for (int d = 0; d < plan->rank; ++d) {
      TileDimension& dim = plan->dims[d];
      dim.tiles = static_cast<uint32_t>(CeilDiv(dim.extent, dim.tile));
      dim.by_held = SmallDivisor(dim.held);
    }
    plan->digits = 0;
    plan->blocks = 1;
    const auto add = [&](int dim, uint32_t count, uint32_t step) {
      plan->digit[plan->digits++] = {
          dim, count, step, BlockDivisor(static_cast<uint32_t>(plan->blocks)), BlockDivisor(count)};
      plan->blocks *= count;
    };
    int grouped = -1;
    uint32_t group = 1;
    if (plan->in_run.count > 0) {
      grouped = plan->in_run.dims[plan->in_run.count - 1];
      const int64_t tiles = plan->dims[grouped].tiles;
      group = static_cast<uint32_t>(CeilDiv(tiles, CeilDiv(tiles, limits_.group)));
      if (group > 1) add(grouped, group, 1);
    }
    for (int i = 0; i < plan->rank; ++i) {
      const int dim = out_order_[i];
      const uint32_t step = dim == grouped ? group : 1;
      const auto count = static_cast<uint32_t>(CeilDiv(plan->dims[dim].tiles, step));
      if (count > 1) add(dim, count, step);
    }
  }

  // Lists the digits of rows and elements.
  void ListDigits(PermutePlan* plan) const {
    const auto list = [plan](const DimensionList& from, int64_t TileDimension::*stride,
                             RowDigit* to) {
      for (int i = 0; i < from.count; ++i) {
        const TileDimension& d = plan->dims[from.dims[i]];
        to[i] = {d.*stride, from.dims[i], d.held, d.pitch, d.by_held};
      }
    };
    list(plan->in_rows, &TileDimension::stride_in, plan->in_row);
    list(plan->out_rows, &TileDimension::stride_out, plan->out_row);
    list(plan->out_run, &TileDimension::stride_out, plan->out_element);
  }

  // Says how threads take chunks and vectors.
  void AssignThreads(PermutePlan* plan) const {
    plan->by_chunks = SmallDivisor(plan->in_chunks);
    // A run may begin inside a vector, and be longer by what its part begins later.
    const int64_t slack = plan->out_ends ? kChunkBytes - 1 : 0;
    const int64_t vectors = CeilDiv(plan->out_run_held * element_bytes_ + slack, kChunkBytes);
    // With less shared memory, more blocks would be resident.
    const int resident = std::max(1, limits_.resident_bytes / plan->shared_bytes);
    constexpr int kSharedBytes = 228 << 10;  // Of a multiprocessor of sm_90, 1 KB a block for CUDA.
    const int least = kSharedBytes / (resident + 1) - (1 << 10);
    plan->shared_bytes = std::max(plan->shared_bytes, least / 16 * 16);
    plan->threads = plan->tile_bytes <= 16 << 10 ? std::min(128, limits_.threads) : limits_.threads;
    AssignLists(plan, vectors);
    // Rows that conflict in shared memory are less often side by side in a warp; with elements of 1
    // and 2 bytes, and with short rows, 16 were slower.
    constexpr int64_t kLongRow = 24;  // Vectors.
    plan->log2_neighbours = element_bytes_ >= 4 && vectors >= kLongRow ? 4 : 2;
    plan->out_vectors = static_cast<int>(vectors);
    plan->out_groups = static_cast<int>(CeilDiv(vectors, 1 << plan->log2_neighbours));
    // Vectors of a row start in the same bank where the pitch is an even number of elements.
    const bool rotates = plan->out_packed || plan->out_element[0].pitch / element_bytes_ % 2 == 0;
    plan->rotation_mask = rotates ? 3 : 0;
    plan->out_pieces = CeilDiv(plan->out_element[0].held, kPieceElements);
    plan->by_pieces = SmallDivisor(plan->out_pieces);
  }

 private:
  // Makes lists of out rows, enough of them for all threads, of small elements as many as cost
  // least.
  void AssignLists(PermutePlan* plan, int64_t vectors) const {
    int64_t apart = kSectorBytes;  // A power of two.
    for (int i = 0; i < plan->out_rows.count; ++i) {
      apart = std::gcd(apart, plan->dims[plan->out_rows.dims[i]].stride_out);
    }
    plan->log2_class_bytes = 0;
    while (1 << plan->log2_class_bytes < apart) ++plan->log2_class_bytes;
    plan->out_words = plan->out_packed && element_bytes_ < kWordBytes && apart % kWordBytes == 0;
    const int classes = kSectorBytes >> plan->log2_class_bytes;
    int log2_lists = 0;
    while (1 << log2_lists < classes) ++log2_lists;
    plan->log2_lists = log2_lists;
    const int64_t vectors_taken = CeilDiv(vectors, 4) * 4;
    int64_t least = InstructionsOf(*plan, log2_lists, vectors_taken);
    while (2 << log2_lists <= kMaxOutLists && 1 << log2_lists < plan->out_rows_held &&
           vectors_taken << log2_lists < plan->threads) {
      const int64_t instructions = InstructionsOf(*plan, ++log2_lists, vectors_taken);
      if (element_bytes_ < kWordBytes && instructions >= least) continue;
      least = instructions;
      plan->log2_lists = log2_lists;
    }
  }

  // Returns the most instructions of a thread that takes vectors of all rows of a list: of 1- and
  // 2-byte elements, whose places are found once for a list's rows, and which are loaded and put
  // together one by one.
  static int64_t InstructionsOf(const PermutePlan& plan, int log2_lists, int64_t vectors) {
    constexpr int64_t kOfPlaces = 95;
    constexpr int64_t kOfVector = 69;
    const int64_t turns = CeilDiv(vectors << log2_lists, int64_t{plan.threads});
    const int64_t rows = CeilDiv(int64_t{plan.out_rows_held}, int64_t{1} << log2_lists);
    return turns * (kOfPlaces + kOfVector * rows);
  }

  int64_t element_bytes_;
  const void* in_;
  const void* out_;
  PermuteTileLimits limits_;
  PermutePlan plan_;
  int in_order_[kMaxPermuteRank] = {};
  int out_order_[kMaxPermuteRank] = {};
};

}  // namespace

PermutePlan MakePermutePlan(const PermuteArgs& args, const PermuteTileLimits& limits) {
  Planner planner(args, limits);
  const int64_t bytes = Elements(args) * args.element_bytes;
  PermutePlan plan = planner.Make(
      std::clamp<int64_t>(bytes / limits.blocks_of_device, limits.least_bytes, limits.most_bytes));
  planner.NumberBlocks(&plan);
  planner.ListDigits(&plan);
  planner.AssignThreads(&plan);
  if (limits.lanes && args.element_bytes <= 2) ChooseLanes(args.element_bytes, &plan);
  return plan;
}

}  // namespace stridewise
