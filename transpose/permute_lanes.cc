#include "transpose/permute_lanes.h"

#include <algorithm>
#include <iterator>

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

// Counts the wavefronts of one load of a warp.
class Wavefronts {
 public:
  void Add(int place) {
    const int word = place / kWordBytes;
    int& count = count_[word % kBanks];
    int* const words = words_[word % kBanks];
    if (std::find(words, words + count, word) != words + count) return;
    words[count++] = word;
    most_ = std::max(most_, count);
  }
  int most() const { return most_; }

 private:
  int count_[kBanks] = {};
  int words_[kBanks][kLanesOfWarp];
  int most_ = 0;
};

// Returns the cost of 512 bytes of the warps of these items.
double CostOf(const PermutePlan& plan, int64_t element_bytes, const Places& places) {
  const int size = static_cast<int>(element_bytes);
  const int elements = kVector / size;
  const int in_word = kWordBytes / size;
  const int classes = 1 << (kLog2SectorBytes - plan.log2_class_bytes);
  // Loads of a vector whose wavefronts are counted.
  constexpr int kLoads = 4;
  constexpr int kWarps = 3;
  const int vectors = std::min(plan.out_groups << plan.log2_neighbours,
                               std::max(places.elements / elements, 1 << plan.log2_neighbours));
  const int warps = std::max(1, (vectors << plan.log2_lists) / kLanesOfWarp);
  // Of a run of one dimension, places are computed.
  const double rows_of_list = plan.out_packed
                                  ? std::max(1.0, static_cast<double>(plan.out_rows_held) /
                                                      static_cast<double>(1 << plan.log2_lists))
                                  : kLanesOfWarp;
  double cost = 0;
  int active = 0;
  for (int w = 0; w < std::min(warps, kWarps); ++w) {
    const int warp = warps * (w + 1) / (kWarps + 1);
    int row[kLanesOfWarp];  // Where the lane's row is, or kNone.
    int first[kLanesOfWarp];
    int rotation[kLanesOfWarp];
    int lines = 0;
    OutItem last = {kNone, 0};
    for (int lane = 0; lane < kLanesOfWarp; ++lane) {
      const OutItem item = OutItemOf(plan, warp * kLanesOfWarp + lane);
      const int phase = (item.list & (classes - 1)) << plan.log2_class_bytes;
      const int begin = plan.out_shifts ? -phase & ((1 << kLog2SectorBytes) - 1) : 0;
      first[lane] = (((phase + begin) & -kVector) + item.vector * kVector - phase) / size;
      rotation[lane] = RotationOf(plan, lane);
      row[lane] = places.of_list[item.list];
      if (first[lane] < 0 || first[lane] + elements > places.elements) row[lane] = kNone;
      if (row[lane] == kNone) continue;
      ++active;
      constexpr int kLineVectors = 8;
      if (item.list != last.list || item.vector / kLineVectors != last.vector / kLineVectors) {
        ++lines;
      }
      last = item;
    }
    for (int load = 0; load < kLoads; ++load) {
      // In another word of the vector each, and elsewhere in it.
      const int k = load * (elements / kLoads + 1) % elements;
      Wavefronts of_tile;
      // Of places, which are loaded once for all rows of a list, of bytes by half a warp at a time.
      Wavefronts of_table[2];
      for (int lane = 0; lane < kLanesOfWarp; ++lane) {
        if (row[lane] == kNone) continue;
        const int element = first[lane] + ((k + rotation[lane] * in_word) & (elements - 1));
        of_tile.Add(row[lane] + places.of_element[element]);
        const int place = element * kPlaceBytes;
        if (plan.out_words && size == 1) {
          of_table[lane / (kLanesOfWarp / 2)].Add(place & -2 * kWordBytes);
          of_table[lane / (kLanesOfWarp / 2)].Add((place & -2 * kWordBytes) + kWordBytes);
        } else {
          of_table[0].Add(place);
        }
      }
      const int table_loads = plan.out_words ? kVector / kWordBytes : elements;
      cost += (static_cast<double>(of_tile.most()) * elements +
               (of_table[0].most() + of_table[1].most()) * table_loads / rows_of_list) /
              kLoads;
    }
    cost += kLineCost * lines;
  }
  return active == 0 ? 0 : cost * kLanesOfWarp / active;
}

}  // namespace

double LaneCost(int64_t element_bytes, const PermutePlan& plan) {
  return CostOf(plan, element_bytes, PlacesOf(plan));
}

void ChooseLanes(int64_t element_bytes, PermutePlan* plan) {
  const Places places = PlacesOf(*plan);
  PermutePlan tried = *plan;
  double least = CostOf(*plan, element_bytes, places);
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
      const double cost = CostOf(tried, element_bytes, places);
      if (cost >= least) continue;
      least = cost;
      *plan = tried;
    }
  }
}

}  // namespace stridewise
