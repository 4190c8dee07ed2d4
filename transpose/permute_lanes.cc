#include "transpose/permute_lanes.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace stridewise {
namespace {

constexpr int kLanesOfWarp = 32;
constexpr int kBanks = 32;
constexpr int kWordBytes = 4;
constexpr int kPlaceBytes = 2;
constexpr int kVector = 16;          // Bytes.
constexpr int kMostElements = 1024;  // Of a run, of which places are found.
constexpr int kMostRows = 2 * kMaxOutLists;
constexpr int kNone = -1;

// How many wavefronts a cache line of a warp's store costs beyond the bytes: on an H100 a store of
// 512 bytes to 32 lines takes 95 cycles longer than one to 4.
constexpr double kLineCost = 2;

// How many wavefronts the instructions for 512 bytes cost as much as, where all lanes have a
// vector.
constexpr double kIssueCost = 16;

// Where a tile's rows and elements of `out` are in shared memory, in bytes.
struct Places {
  int of_list[kMaxOutLists];  // Of a row of each list, or kNone.
  int of_element[kMostElements];
  int elements = 0;
};

Places PlacesOf(const PermutePlan& plan) {
  Places places;
  std::fill(std::begin(places.of_list), std::end(places.of_list), kNone);
  const int rows = std::min(plan.out_rows_held, kMostRows);
  for (int row = 0; row < rows; ++row) {
    int rest = row;
    int place = 0;
    int64_t offset = 0;
    for (int i = 0; i < plan.out_rows.count; ++i) {
      const RowDigit& d = plan.out_row[i];
      const int index = rest % d.held;
      rest /= d.held;
      place += index * d.pitch;
      offset += index * d.stride;
    }
    const int in_sector = static_cast<int>(offset) & ((1 << kLog2SectorBytes) - 1);
    places.of_list[ListOf(plan, row, in_sector >> plan.log2_class_bytes)] = place;
  }
  places.elements = std::min(plan.out_run_held, kMostElements);
  int index[kMaxPermuteRank] = {};
  int place = 0;
  for (int element = 0; element < places.elements; ++element) {
    places.of_element[element] = place;
    for (int i = 0; i < plan.out_run.count; ++i) {
      const RowDigit& d = plan.out_element[i];
      place += d.pitch;
      if (++index[i] < d.held) break;
      place -= d.pitch * d.held;
      index[i] = 0;
    }
  }
  return places;
}

// Counts the wavefronts of one load of a warp after the other: the most words in a bank.
class Wavefronts {
 public:
  // Begins another load.
  void Begin() {
    ++load_;
    most_ = 0;
    std::fill(std::begin(count_), std::end(count_), 0);
  }
  void Add(int place) {
    const int word = place / kWordBytes;
    uint16_t& loaded_by = loaded_by_[word & (kWords - 1)];
    if (loaded_by == load_) return;
    loaded_by = load_;
    most_ = std::max(most_, ++count_[word % kBanks]);
  }
  int most() const { return most_; }

 private:
  static constexpr int kWords = 1 << 14;  // Of 64 KB, more than a tile has.
  uint16_t loaded_by_[kWords] = {};
  uint16_t load_ = 0;
  int count_[kBanks];
  int most_ = 0;
};

// What the lanes of a warp gather at the same time.
struct WarpItems {
  int row[kLanesOfWarp];  // Where the lane's row is, or kNone.
  int first[kLanesOfWarp];
  int rotation[kLanesOfWarp];
};

// Some warps of a block.
struct SampledWarps {
  static constexpr int kMost = 3;
  WarpItems items[kMost];
  int count = 0;
  int lanes = 0;  // That gather something.
  int lines = 0;  // Cache lines that they store to.
};

SampledWarps WarpsOf(const PermutePlan& plan, int64_t element_bytes, const Places& places) {
  const int size = static_cast<int>(element_bytes);
  const int elements = kVector / size;
  const int classes = 1 << (kLog2SectorBytes - plan.log2_class_bytes);
  const int vectors = std::min(plan.out_groups << plan.log2_neighbours,
                               std::max(places.elements / elements, 1 << plan.log2_neighbours));
  const int warps = std::max(1, (vectors << plan.log2_lists) / kLanesOfWarp);
  SampledWarps sampled;
  sampled.count = std::min(warps, SampledWarps::kMost);
  for (int w = 0; w < sampled.count; ++w) {
    WarpItems& items = sampled.items[w];
    const int warp = warps * (w + 1) / (SampledWarps::kMost + 1);
    OutItem last = {kNone, 0};
    for (int lane = 0; lane < kLanesOfWarp; ++lane) {
      const OutItem item = OutItemOf(plan, warp * kLanesOfWarp + lane);
      const int phase = (item.list & (classes - 1)) << plan.log2_class_bytes;
      const int begin = plan.out_shifts ? -phase & ((1 << kLog2SectorBytes) - 1) : 0;
      const int first = (((phase + begin) & -kVector) + item.vector * kVector - phase) / size;
      items.first[lane] = first;
      items.rotation[lane] = RotationOf(plan, lane);
      const bool has_all = first >= 0 && first + elements <= places.elements;
      items.row[lane] = has_all ? places.of_list[item.list] : kNone;
      if (items.row[lane] == kNone) continue;
      ++sampled.lanes;
      constexpr int kLineVectors = 8;
      if (item.list != last.list || item.vector / kLineVectors != last.vector / kLineVectors) {
        ++sampled.lines;
      }
      last = item;
    }
  }
  return sampled;
}

// Returns the cost of 512 bytes of a plan's warps, or some cost that is not less than `enough`.
double CostOf(const PermutePlan& plan, int64_t element_bytes, const Places& places, double enough,
              Wavefronts* wavefronts) {
  const int size = static_cast<int>(element_bytes);
  const int elements = kVector / size;
  const int in_word = kWordBytes / size;
  constexpr int kLoads = 4;  // Of a vector's, whose wavefronts are counted.
  const SampledWarps sampled = WarpsOf(plan, element_bytes, places);
  if (sampled.lanes == 0) return 0;
  const double per_lane = static_cast<double>(kLanesOfWarp) / sampled.lanes;
  const double issue = kIssueCost * (plan.out_groups << plan.log2_neighbours) /
                       static_cast<double>(plan.out_vectors);
  // Of a run of one dimension, places are computed.
  const double rows_of_list = plan.out_packed
                                  ? std::max(1.0, static_cast<double>(plan.out_rows_held) /
                                                      static_cast<double>(1 << plan.log2_lists))
                                  : kLanesOfWarp;
  const int table_loads = plan.out_words ? kVector / kWordBytes : elements;
  // Places of bytes are loaded two words at a time, by half a warp.
  const bool pairs = plan.out_words && size == 1;
  const int table_parts = pairs ? 2 : 1;
  const int part_lanes = kLanesOfWarp / table_parts;
  double cost = kLineCost * sampled.lines;
  for (int w = 0; w < sampled.count; ++w) {
    const WarpItems& items = sampled.items[w];
    for (int load = 0; load < kLoads; ++load) {
      // In another word of the vector each, and elsewhere in it.
      const int k = load * (elements / kLoads + 1) % elements;
      const auto element_of = [&](int lane) {
        return items.first[lane] + ((k + items.rotation[lane] * in_word) & (elements - 1));
      };
      wavefronts->Begin();
      for (int lane = 0; lane < kLanesOfWarp; ++lane) {
        if (items.row[lane] == kNone) continue;
        wavefronts->Add(items.row[lane] + places.of_element[element_of(lane)]);
      }
      double of_load = static_cast<double>(wavefronts->most()) * elements;
      // Of places, which are loaded once for all rows of a list.
      for (int part = 0; part < table_parts; ++part) {
        wavefronts->Begin();
        for (int lane = part * part_lanes; lane < (part + 1) * part_lanes; ++lane) {
          if (items.row[lane] == kNone) continue;
          const int place = element_of(lane) * kPlaceBytes;
          if (pairs) wavefronts->Add(place & -2 * kWordBytes);
          wavefronts->Add(pairs ? (place & -2 * kWordBytes) + kWordBytes : place);
        }
        of_load += wavefronts->most() * table_loads / rows_of_list;
      }
      cost += of_load / kLoads;
      if (cost * per_lane + issue >= enough) return cost * per_lane + issue;
    }
  }
  return cost * per_lane + issue;
}

}  // namespace

double LaneCost(int64_t element_bytes, const PermutePlan& plan) {
  Wavefronts wavefronts;
  return CostOf(plan, element_bytes, PlacesOf(plan), std::numeric_limits<double>::infinity(),
                &wavefronts);
}

void ChooseLanes(int64_t element_bytes, PermutePlan* plan) {
  const Places places = PlacesOf(*plan);
  PermutePlan tried = *plan;
  Wavefronts wavefronts;
  double least =
      CostOf(*plan, element_bytes, places, std::numeric_limits<double>::infinity(), &wavefronts);
  for (int log2_neighbours = 2; log2_neighbours <= 5; ++log2_neighbours) {
    tried.log2_neighbours = log2_neighbours;
    tried.out_groups = (plan->out_vectors + (1 << log2_neighbours) - 1) >> log2_neighbours;
    // Threads with neighbouring vectors have different words first, those of different lists, both.
    const struct {
      int mask;
      int shift;
    } rotations[] = {{3, kNoRotation}, {0, log2_neighbours}, {3, log2_neighbours}};
    for (const auto& rotation : rotations) {
      tried.rotation_mask = rotation.mask;
      tried.rotation_shift = rotation.shift;
      const double cost = CostOf(tried, element_bytes, places, least, &wavefronts);
      if (cost >= least) continue;
      least = cost;
      *plan = tried;
    }
  }
}

}  // namespace stridewise
