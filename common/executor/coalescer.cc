#include "common/executor/coalescer.h"

#include <algorithm>
#include <cstdint>

namespace stridewise::executor {
namespace {

constexpr int kBankBytes = 4;  // What a bank delivers in one pass.

// Copies the addresses of the lanes in `mask` to `sorted`, ascending, and returns their number.
// Most warps have them in order already, or in two ascending halves, as where a block's rows have
// 16 threads, so that checking first makes this fast.
int SortActive(const uint64_t address[kWarpLanes], uint32_t mask, uint64_t sorted[kWarpLanes]) {
  int count = 0;
  if (mask == ~uint32_t{0}) {
    std::copy(address, address + kWarpLanes, sorted);
    count = kWarpLanes;
  } else {
    for (; mask != 0; mask &= mask - 1) sorted[count++] = address[__builtin_ctz(mask)];
  }
  uint64_t* const end = sorted + count;
  uint64_t* const second = std::is_sorted_until(sorted, end);
  if (second == end) return count;
  if (!std::is_sorted(second, end)) {
    std::sort(sorted, end);
    return count;
  }
  uint64_t first[kWarpLanes];
  const uint64_t* const first_end = std::copy(sorted, second, first);
  const uint64_t* low = first;
  const uint64_t* high = second;
  for (uint64_t* out = sorted; low != first_end; ++out) {
    *out = high != end && *high < *low ? *high++ : *low++;
  }
  return count;
}

// Returns whether all 32 lanes access neighbouring addresses, `step` bytes from one to the next.
bool EvenlySpaced(const uint64_t address[kWarpLanes], uint32_t mask, uint64_t step) {
  if (mask != ~uint32_t{0}) return false;
  uint64_t difference = 0;
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    difference |= address[lane] ^ (address[0] + lane * step);
  }
  return difference == 0;
}

// Returns whether two addresses lie in different units of `unit` bytes, a power of two: then they
// differ in a bit that counts units.
bool Differ(uint64_t a, uint64_t b, uint64_t unit) { return (a ^ b) >= unit; }

// Returns whether every lane has the address of lane ^ `distance`, where both are active.
bool NeighboursAgree(const uint64_t address[kWarpLanes], uint32_t mask, int distance) {
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    const int other = lane ^ distance;
    if ((mask >> lane & mask >> other & 1) != 0 && address[lane] != address[other]) return false;
  }
  return true;
}

// Returns the number of neighbouring lanes that are processed together, by the rule of the header.
int LanesTogether(const uint64_t address[kWarpLanes], uint32_t mask, int bytes, bool store) {
  if (bytes <= kBankBytes) return kWarpLanes;
  const int lanes = kBanks * kBankBytes / bytes;
  if (store) return lanes;
  const bool paired = NeighboursAgree(address, mask, 1) || NeighboursAgree(address, mask, 2);
  return paired ? 2 * lanes : lanes;
}

// Returns the passes through the banks for ascending addresses that are processed together: the
// most words that any bank has to deliver. An access wider than a bank uses each of its banks
// equally, which are one `column` here.
uint32_t WavefrontsTogether(const uint64_t sorted[], int count, int bytes) {
  const int width = std::max(bytes, kBankBytes);
  const int shift = __builtin_ctz(width);
  const int columns = kBanks * kBankBytes / width;
  uint8_t load[kBanks] = {};
  uint8_t most = 0;
  for (int i = 0; i < count; ++i) {
    if (i > 0 && !Differ(sorted[i], sorted[i - 1], width)) continue;  // Delivered to both at once.
    most = std::max(most, ++load[sorted[i] >> shift & (columns - 1)]);
  }
  return most;
}

}  // namespace

GlobalCost CoalesceGlobal(const uint64_t address[kWarpLanes], uint32_t mask, int bytes) {
  GlobalCost cost;
  if (EvenlySpaced(address, mask, bytes)) {  // As most requests are.
    const uint64_t last = address[kWarpLanes - 1];
    cost.distinct_bytes = kWarpLanes * bytes;
    cost.sectors = static_cast<uint32_t>(last / kSectorBytes - address[0] / kSectorBytes + 1);
    cost.lines = static_cast<uint32_t>(last / kLineBytes - address[0] / kLineBytes + 1);
    cost.ideal_sectors = cost.distinct_bytes / kSectorBytes;
    return cost;
  }
  uint64_t sorted[kWarpLanes];
  const int count = SortActive(address, mask, sorted);
  if (count == 0) return cost;
  uint32_t addresses = 1;
  uint32_t sectors = 1;
  uint32_t lines = 1;
  for (int i = 1; i < count; ++i) {
    addresses += Differ(sorted[i], sorted[i - 1], 1);
    sectors += Differ(sorted[i], sorted[i - 1], kSectorBytes);
    lines += Differ(sorted[i], sorted[i - 1], kLineBytes);
  }
  cost.distinct_bytes = addresses * bytes;
  cost.sectors = sectors;
  cost.lines = lines;
  cost.ideal_sectors = (cost.distinct_bytes + kSectorBytes - 1) / kSectorBytes;
  return cost;
}

SharedCost CoalesceShared(const uint64_t address[kWarpLanes], uint32_t mask, int bytes,
                          bool store) {
  SharedCost cost;
  if (bytes <= kBankBytes && EvenlySpaced(address, mask, bytes)) {
    cost.distinct_bytes = kWarpLanes * bytes;
    cost.wavefronts = cost.ideal_wavefronts = 1;
    return cost;
  }
  uint64_t sorted[kWarpLanes];
  int count = SortActive(address, mask, sorted);
  for (int i = 0; i < count; ++i) {
    if (i == 0 || sorted[i] != sorted[i - 1]) cost.distinct_bytes += bytes;
  }

  const int together = LanesTogether(address, mask, bytes, store);
  cost.lanes_together = together;
  const uint32_t group = static_cast<uint32_t>((uint64_t{1} << together) - 1);
  for (int first = 0; first < kWarpLanes; first += together) {
    const uint32_t lanes = mask & group << first;
    if (lanes == 0) continue;
    if (lanes != mask) count = SortActive(address, lanes, sorted);
    cost.wavefronts += WavefrontsTogether(sorted, count, bytes);
    ++cost.ideal_wavefronts;
  }
  return cost;
}

}  // namespace stridewise::executor
