#include "benchmarks/transpose/random_shapes.h"

#include <cstdint>

#include "transpose/registry.h"

namespace stridewise {
namespace {

// Of the matrix; twice as many bytes are moved.
constexpr double kMinBytes = 0.3e6;
constexpr double kSmallBytes = 2e6;
constexpr double kMaxBytes = 1.5e9;
constexpr double kMaxHostBytes = 3e8;

constexpr int64_t kMaxExtent = 1000000;
constexpr int64_t kMaxBatchedExtent = 2000;
constexpr int64_t kMaxBatch = 20000;

constexpr const char* kTypes[] = {"u8", "u16", "float", "double", "float4"};
constexpr const char* kNetworkTypes[] = {"u8", "u16", "u16", "float"};

constexpr int64_t kImages[] = {1, 8, 16, 32, 64, 128, 256};                              // N
constexpr int64_t kPixels[] = {7 * 7, 14 * 14, 28 * 28, 56 * 56, 112 * 112, 224 * 224};  // H * W
constexpr int64_t kChannels[] = {3, 64, 96, 128, 256, 512, 1024, 2048};                  // C
constexpr int64_t kTokens[] = {128, 197, 257, 512, 1000, 2048, 4096};
constexpr int64_t kHeadExtents[] = {64, 128};
constexpr int64_t kHeads[] = {12, 16, 32, 96, 192, 512, 768};  // Those of all sequences together.
constexpr int64_t kWidths[] = {768,   1024,  3072,  4096,  5120,  8192,
                               11008, 14336, 32000, 50257, 128256};
constexpr int64_t kHeights[] = {720, 1080, 2160};
constexpr int64_t kLengths[] = {1280, 1920, 3840};

Point TransposeOf(int64_t rows, int64_t cols, const char* type, int64_t batch = 1) {
  return {{rows, cols}, type, batch, {}};
}

// Returns rows x cols or cols x rows.
Point EitherWay(ShapeRandom* random, int64_t rows, int64_t cols, const char* type,
                int64_t batch = 1) {
  const bool exchanged = random->Between(0, 1) == 1;
  return TransposeOf(exchanged ? cols : rows, exchanged ? rows : cols, type, batch);
}

Point DrawLogUniform(ShapeRandom* random) {
  const int64_t rows = random->LogUniform(1, kMaxExtent);
  const int64_t cols = random->LogUniform(1, kMaxExtent);
  return TransposeOf(rows, cols, random->OneOf(kTypes));
}

Point DrawBatched(ShapeRandom* random) {
  const int64_t rows = random->LogUniform(1, kMaxBatchedExtent);
  const int64_t cols = random->LogUniform(1, kMaxBatchedExtent);
  const char* type = random->OneOf(kTypes);
  return TransposeOf(rows, cols, type, random->LogUniform(2, kMaxBatch));
}

// What networks and cameras have that is a transpose of two dimensions, perhaps in a batch. BSHD to
// BHSD is none: it moves whole rows of a head.
Point DrawModel(ShapeRandom* random) {
  switch (random->Between(0, 4)) {
    case 0:
    case 1: {  // NHWC to NCHW, or back: N times pixels by channels.
      const int64_t pixels = random->OneOf(kPixels);
      const int64_t channels = random->OneOf(kChannels);
      const char* type = random->OneOf(kNetworkTypes);
      return EitherWay(random, pixels, channels, type, random->OneOf(kImages));
    }
    case 2: {  // The keys of attention, BHSD to BHDS, or back.
      const int64_t tokens = random->OneOf(kTokens);
      const int64_t head = random->OneOf(kHeadExtents);
      const char* type = random->OneOf(kNetworkTypes);
      return EitherWay(random, tokens, head, type, random->OneOf(kHeads));
    }
    case 3: {  // Weights and embeddings.
      const int64_t rows = random->OneOf(kWidths);
      const int64_t cols = random->OneOf(kWidths);
      return TransposeOf(rows, cols, random->OneOf(kNetworkTypes));
    }
    default: {  // A picture on its side, or its colours from pixels to planes or back.
      const int64_t height = random->OneOf(kHeights);
      const int64_t length = random->OneOf(kLengths);
      const char* type = random->OneOf(kNetworkTypes);
      if (random->Between(0, 1) == 0) return EitherWay(random, height, length, type);
      return EitherWay(random, height * length, random->Between(3, 4), type);
    }
  }
}

// Returns what the shapes for a GPU and those for the host have in common.
RandomShapes* MakeFamilies() {
  auto* random = new RandomShapes;
  random->families = {
      {"log_uniform", "rows and columns of 1 to 1000000", 2, DrawLogUniform},
      {"batched", "2 to 20000 matrices with rows and columns of 1 to 2000", 1, DrawBatched},
      {"model", "NHWC and NCHW, keys of attention, weights, pictures", 1, DrawModel},
  };
  random->drawn = {Column::kDtype};
  random->least = {0, 2 * kMinBytes};
  return random;
}

RandomShapes* MakeRandomShapes() {
  RandomShapes* const random = MakeFamilies();
  random->most = {0, 2 * kMaxBytes};
  random->chooser = "auto";
  random->peer = "memcpy";
  random->small_bytes = 2 * kSmallBytes;
  for (const TransposeImplementation& i : TransposeLibrary()) {
    if (i.dispatch.applies != nullptr) random->kernels.push_back(i.name);
  }
  return random;
}

RandomShapes* MakeHostRandomShapes() {
  RandomShapes* const random = MakeFamilies();
  random->most = {0, 2 * kMaxHostBytes};
  random->chooser = "cpu_threads";
  random->peer = "cpu_copy";
  return random;
}

}  // namespace

const RandomShapes& TransposeHostRandomShapes() {
  static const RandomShapes& random = *MakeHostRandomShapes();
  return random;
}

const RandomShapes& TransposeRandomShapes() {
  static const RandomShapes& random = *MakeRandomShapes();
  return random;
}

}  // namespace stridewise
