#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "benchmarks/permute/operation.h"

namespace stridewise {
namespace {

// Of the tensor; twice as many bytes are moved.
constexpr double kMinBytes = 0.3e6;
constexpr double kSmallBytes = 2e6;
constexpr double kMaxBytes = 0.6e9;

constexpr const char* kTypes[] = {"u8", "u16", "float", "double", "float4"};
constexpr const char* kNetworkTypes[] = {"u8", "u16", "u16", "u16", "float", "float"};
constexpr const char* kAttentionTypes[] = {"u16", "u16", "float"};

constexpr int64_t kBatches[] = {1, 4, 8, 16, 32, 64};
constexpr int64_t kTokens[] = {128, 197, 257, 512, 1000, 2048, 4096};
constexpr int64_t kHeads[] = {8, 12, 16, 20, 32};
constexpr int64_t kHeadExtents[] = {64, 80, 96, 128};
constexpr int64_t kChannels[] = {3, 4, 64, 96, 128, 256, 512, 1024, 2048};
constexpr int64_t kShuffledChannels[] = {1, 3, 16, 32, 64};
constexpr int64_t kWindowChannels[] = {96, 128, 192, 384};
constexpr int64_t kPixels[] = {7, 14, 28, 56, 112, 224};  // H and W.
constexpr int64_t kPatches[] = {8, 14, 16, 32};

// Exchanges dimensions at random.
void Shuffle(ShapeRandom* random, std::vector<int64_t>* order) {
  for (size_t i = order->size(); i-- > 1;) {
    std::swap((*order)[i], (*order)[random->Between(0, static_cast<int64_t>(i))]);
  }
}

// What networks permute.
Point DrawFrameworks(ShapeRandom* random) {
  const int64_t batch = random->OneOf(kBatches);
  const int64_t tokens = random->OneOf(kTokens);
  const int64_t heads = random->OneOf(kHeads);
  const int64_t head = random->OneOf(kHeadExtents);
  const int64_t side = random->OneOf(kPixels);
  const char* const type = random->OneOf(kNetworkTypes);
  const char* const attention_type = random->OneOf(kAttentionTypes);
  switch (random->Between(0, 8)) {
    case 0:  // BSHD to BHSD, or back: the same with other extents.
      return PointOfPermutation({{batch, tokens, heads, head}, {0, 2, 1, 3}}, attention_type);
    case 1:  // BSHD to BHDS: the keys.
      return PointOfPermutation({{batch, tokens, heads, head}, {0, 2, 3, 1}}, attention_type);
    case 2:  // Queries, keys and values of one projection, apart.
      return PointOfPermutation({{batch, tokens, 3, heads, head}, {2, 0, 3, 1, 4}}, attention_type);
    case 3:  // NHWC to NCHW.
      return PointOfPermutation({{batch, side, side, random->OneOf(kChannels)}, {0, 3, 1, 2}},
                                type);
    case 4:  // NCHW to NHWC.
      return PointOfPermutation({{batch, random->OneOf(kChannels), side, side}, {0, 2, 3, 1}},
                                type);
    case 5: {  // Pixel shuffle.
      const int64_t factor = random->Between(2, 4);
      const int64_t channels = random->OneOf(kShuffledChannels);
      return PointOfPermutation({{batch, channels, factor, factor, side, side}, {0, 1, 4, 2, 5, 3}},
                                type);
    }
    case 6: {  // Windows of 7 x 7 pixels.
      const int64_t windows = random->Between(1, 16);
      const int64_t channels = random->OneOf(kWindowChannels);
      return PointOfPermutation({{batch, windows, 7, windows, 7, channels}, {0, 1, 3, 2, 4, 5}},
                                type);
    }
    case 7: {  // Patches of a picture of 224 x 224 pixels.
      const int64_t patch = random->OneOf(kPatches);
      const int64_t patches = 224 / patch;
      return PointOfPermutation({{batch, 3, patches, patch, patches, patch}, {0, 2, 4, 3, 5, 1}},
                                type);
    }
    default: {  // (batch, m, n, k) in any order.
      std::vector<int64_t> order = {0, 1, 2, 3};
      Shuffle(random, &order);
      return PointOfPermutation({{batch, tokens, heads, head}, std::move(order)}, type);
    }
  }
}

// Three to six dimensions in any order: their product is log-uniform, and each has a random part of
// its logarithm.
Point DrawLogUniform(ShapeRandom* random) {
  const char* const type = random->OneOf(kTypes);
  const int64_t rank = random->Between(3, 6);
  const auto elements = static_cast<double>(random->LogUniform(20000, 600000000));
  std::vector<double> weights;
  double sum = 0;
  Permutation permutation;
  for (int64_t i = 0; i < rank; ++i) {
    weights.push_back(static_cast<double>(random->Between(15, 115)));
    sum += weights.back();
    permutation.order.push_back(i);
  }
  for (const double weight : weights) {
    const double extent = std::pow(elements, weight / sum);
    permutation.extents.push_back(std::max<int64_t>(1, std::llround(extent)));
  }
  Shuffle(random, &permutation.order);
  return PointOfPermutation(permutation, type);
}

RandomShapes* MakeRandomShapes() {
  auto* random = new RandomShapes;
  random->families = {
      {"frameworks", "attention, images, windows, patches, (batch, m, n, k) in any order", 1,
       DrawFrameworks},
      {"log_uniform", "three to six dimensions in any order, of log-uniform product", 1,
       DrawLogUniform},
  };
  random->drawn = {Column::kDtype, Column::kPermutation};
  random->least = {0, 2 * kMinBytes};
  random->most = {0, 2 * kMaxBytes};
  random->chooser = "auto";
  random->kernels = {"transpose",      "permute_rows",   "permute_row_bytes", "permute_interleave",
                     "permute_direct", "permute_vector", "permute_flat",      "permute_joined",
                     "permute_blocks", "permute_tile"};
  random->peer = "memcpy";
  random->onlookers = {"cutensor"};
  random->small_bytes = 2 * kSmallBytes;
  return random;
}

}  // namespace

const RandomShapes& PermuteRandomShapes() {
  static const RandomShapes& random = *MakeRandomShapes();
  return random;
}

}  // namespace stridewise
