#include "matmul/split_choice.h"

#include <algorithm>
#include <limits>

#include "matmul/memory_factor.h"

namespace stridewise {
namespace {

constexpr int64_t kBlockRows = 128;

// Maps of the TMA begin at multiples of 16 bytes; so do rows.
constexpr int64_t kAlignment = 256;
constexpr int64_t kRowBytes = 16;
constexpr int64_t kLineBytes = 128;  // Of the L2.
constexpr int64_t kScaleBytes = 4;

int64_t Aligned(int64_t bytes) { return CeilDiv(bytes, kAlignment) * kAlignment; }

// Returns the elements from a row of a part to the next. Rows begin with lines of the L2 where that
// makes the part larger by a sixteenth at most: a box of the TMA that begins in the middle of a
// line is read as two. Nothing is written or read between rows.
int64_t RowElements(int64_t elements, int part_bytes) {
  const int64_t row = CeilDiv(elements * part_bytes, kRowBytes) * kRowBytes;
  const int64_t lines = CeilDiv(row, kLineBytes) * kLineBytes;
  return (16 * (lines - row) <= row ? lines : row) / part_bytes;
}

SplitLayout LayoutOf(const MatMulInput& operand, const SplitForm& form, int64_t batch, int64_t mn,
                     int64_t k, bool stored_by_k) {
  const bool k_is_row = stored_by_k || form.k_major;
  SplitLayout layout;
  layout.count = operand.stride == 0 ? 1 : batch;
  layout.out_ld = RowElements(k_is_row ? k : mn, form.part_bytes);
  layout.part_bytes = Aligned(layout.count * (k_is_row ? mn : k) * layout.out_ld * form.part_bytes);
  layout.scales = form.parts * layout.part_bytes;
  layout.bytes = layout.scales + Aligned(layout.count * mn * kScaleBytes);
  return layout;
}

// Microseconds, like the other constants here fitted to 229 products on an H100. Those of the
// split, of ragged lines and of C were fitted again to 228 times of an H200: 5 % off in the mean at
// 61 products that nothing was fitted to.
struct TileTime {
  SplitTileCols tile;
  int64_t cols;
  int64_t cluster;
  double us_of_k;  // For each k of a tile, of three products.
  double us;       // Its first loads and its store.
  // The least part of us_of_k that is left in a last round where other multiprocessors have nothing
  // to do, which would read from the L2, too.
  double alone;
};
constexpr TileTime kTimes[] = {
    {SplitTileCols::k64, 64, 1, 10.8e-3, 1.1, 0.57},
    {SplitTileCols::k128, 128, 1, 15.6e-3, 2.1, 0.88},
    {SplitTileCols::k192, 192, 2, 22.8e-3, 2.9, 1},
    {SplitTileCols::k128InPairs, 128, 2, 15.8e-3, 2.1, 0.86},
};
// A tile has whole steps of k, zeros behind the end: a k of 70 takes as long as one of 128.
constexpr int64_t kStepK = 64;
// What promotions of each instruction's sum add to a tile's time, where k is below that of the
// form.
constexpr double kUsOfFineSums = 0.55;
// A tile whose block reads alone boxes that begin in the middle of lines takes this many times as
// long.
constexpr double kAloneAndRagged = 1.1;
constexpr double kUsOfCall = 8.8;  // Two launches.
// Of a byte that is read or written, wherever rows begin.
constexpr double kUsOfByteOfRows = 0.3e-6;    // A row has a scale,
constexpr double kUsOfByteOfCols = 0.355e-6;  // or a column has.
// A warp that splits a row takes this much of the device's time, however short it is.
constexpr double kUsOfRow = 0.125e-3;
// Of C, stored as whole rows instead of by the TMA, and added to element by element.
constexpr double kUsOfByteOfRowsOfC = 0.16e-6;
constexpr double kUsOfByteOfAddedC = 1.13e-6;

// Returns whether rows of parts begin in the middle of the L2's lines: boxes of 128 bytes are then
// read as two lines, and blocks that share what they read gain more than they lose by waiting for
// each other: up to 1.27 times the speed on an H100, and 0.93 to 0.99 of it elsewhere.
bool IsRagged(const SplitLayout& layout, const SplitForm& form) {
  return layout.out_ld * form.part_bytes % kLineBytes != 0;
}

// Returns the least k of a scheme. That of pairs of FP16 is below that of the form, where the sum
// of each instruction is promoted (SumFinely() in matmul/device/split_kernel.h).
int64_t LeastK(const SplitForm& form) {
  constexpr int64_t kLeastPromotedFinely = 37;
  return form.least_k == kFp16PairForm.least_k ? kLeastPromotedFinely : form.least_k;
}

// Returns the microseconds of the split of an operand, of whose rows or columns each has a scale.
double SplitUs(const SplitLayout& layout, const SplitForm& form, int64_t mn, int64_t k, bool rows,
               const DeviceModel& device) {
  const auto scales = static_cast<double>(mn * layout.count);
  const double bytes = scales * static_cast<double>(k) *
                       (form.parts * form.part_bytes + static_cast<int>(sizeof(float)));
  return bytes * MemoryFactor(device) * (rows ? kUsOfByteOfRows : kUsOfByteOfCols) +
         (rows ? kUsOfRow * scales : 0);
}

}  // namespace

SplitLayout SplitLayoutOfA(const MatMulArgs& args, const SplitForm& form) {
  return LayoutOf(args.a, form, args.batch, args.m, args.k, !args.a.transposed);
}

SplitLayout SplitLayoutOfB(const MatMulArgs& args, const SplitForm& form) {
  return LayoutOf(args.b, form, args.batch, args.n, args.k, args.b.transposed);
}

bool CanSplit(const MatMulArgs& args, const DeviceModel& device, const SplitForm& form) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  constexpr int64_t kMostRows = kMost / 8;  // Of all matrices together.
  return device.compute_capability == 90 && args.k >= LeastK(form) && args.k <= form.most_k &&
         static_cast<float>(args.alpha) != 0 && args.batch <= kMostRows &&
         std::max(args.m, args.n) <= kMostRows / args.batch &&
         CeilDiv(args.m, kBlockRows) * CeilDiv(args.n, kTimes[0].cols) <= kMost / args.batch &&
         SplitWorkspaceBytes(args, form) <= args.workspace_bytes;
}

bool CanSplitFlat(const MatMulArgs& args, const DeviceModel& device) {
  return CanSplit(args, device, kInt8SliceForm) && CanSplit(args, device) &&
         FlatWorkspaceBytes(args) <= args.workspace_bytes;
}

SplitChoice ChooseSplit(const MatMulArgs& args, const DeviceModel& device, const SplitForm& form) {
  // Of FP16, whose rate is half of INT8's and twice TF32's.
  const double products = form.products * form.part_bytes / 6.0;
  SplitChoice best = {SplitTileCols::k128, std::numeric_limits<double>::infinity()};
  const SplitLayout layout_a = SplitLayoutOfA(args, form);
  const SplitLayout layout_b = SplitLayoutOfB(args, form);
  const bool ragged = IsRagged(layout_a, form) || IsRagged(layout_b, form);
  const bool pairs = form.parts == 2 && form.part_bytes == 2 && !form.mixed && ragged;
  for (const TileTime& time : kTimes) {
    if (time.tile == SplitTileCols::k128InPairs && !pairs) continue;
    if (time.tile == SplitTileCols::k192 && (form.parts > 2 || args.k < form.least_k)) continue;
    if (time.tile != SplitTileCols::k128 && form.part_bytes == 1) continue;
    if (time.tile == SplitTileCols::k64 && form.mixed) continue;
    const int64_t clusters = std::max<int64_t>(1, device.multiprocessors / time.cluster);
    const int64_t tiles =
        CeilDiv(args.m, kBlockRows * time.cluster) * CeilDiv(args.n, time.cols) * args.batch;
    const auto k = static_cast<double>(CeilDiv(args.k, kStepK) * kStepK);
    const auto us_of_round = [&](int64_t tiles_at_once) {
      const double used = static_cast<double>(tiles_at_once) / static_cast<double>(clusters);
      return products * time.us_of_k * std::max(used, time.alone) * k + time.us +
             (args.k < form.least_k ? kUsOfFineSums : 0);
    };
    const int64_t rest = tiles % clusters;
    const double us = (ragged && time.cluster == 1 ? kAloneAndRagged : 1) *
                      (static_cast<double>(tiles / clusters) * us_of_round(clusters) +
                       (rest > 0 ? us_of_round(rest) : 0));
    if (us < best.us) best = {time.tile, us};
  }
  best.us += kUsOfCall + SplitUs(layout_a, form, args.m, args.k, !args.a.transposed, device) +
             SplitUs(layout_b, form, args.n, args.k, args.b.transposed, device);
  double us_of_byte = 0;
  if (args.c.ld % 4 != 0) us_of_byte = kUsOfByteOfRowsOfC;
  if (args.beta != 0) us_of_byte = kUsOfByteOfAddedC;
  best.us += us_of_byte * 4 * static_cast<double>(args.m) * static_cast<double>(args.n) *
             static_cast<double>(args.batch);
  return best;
}

}  // namespace stridewise
