#include "benchmarks/matmul/random_shapes.h"

#include <cstdint>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "common/base/element_type.h"
#include "matmul/registry.h"

namespace stridewise {
namespace {

constexpr double kMaxFlops = 6e11;
constexpr double kMaxBytes = 3e9;

// Of the host: from what takes longer than to wake a thread to a tenth of a second.
constexpr double kMinHostFlops = 1e6;
constexpr double kMaxHostFlops = 1e10;
constexpr double kMaxHostBytes = 3e8;

constexpr absl::string_view kOfTensor = "tensor_";

constexpr int64_t kMaxExtent = 12000;
constexpr int64_t kMaxBatchedExtent = 1500;
constexpr int64_t kMaxBatch = 1000;

constexpr const char* kLayouts[] = {"nn", "nt", "tn", "tt"};

// Of a linear layer: forward with weights as they are usually stored, the gradient of the inputs,
// and that of the weights.
constexpr const char* kLayerLayouts[] = {"nt", "nn", "tn"};

// Tokens of a call: one, small batches, a vision transformer's 196 or 256 patches and their class,
// and contexts.
constexpr int64_t kTokens[] = {1, 8, 32, 128, 197, 257, 512, 1000, 2048, 4096};
constexpr int64_t kHidden[] = {768, 1024, 3072, 4096, 5120, 8192};
constexpr int64_t kWidths[] = {768, 1024, 3072, 4096, 5120, 8192, 11008, 14336};
constexpr int64_t kVocabularies[] = {32000, 50257, 128256};
constexpr int64_t kHeads[] = {12, 16, 32, 40, 64, 96};  // Those of all sequences together.
constexpr int64_t kHeadExtents[] = {64, 128};

Point ProductOf(int64_t m, int64_t n, int64_t k, const char* layout, int64_t batch = 1) {
  return {{m, n, k}, "float", batch, {layout, "1", "0", "asked", "fp32", "none"}};
}

Point DrawLogUniform(ShapeRandom* random) {
  const int64_t m = random->LogUniform(1, kMaxExtent);
  const int64_t n = random->LogUniform(1, kMaxExtent);
  const int64_t k = random->LogUniform(1, kMaxExtent);
  return ProductOf(m, n, k, random->OneOf(kLayouts));
}

Point DrawBatched(ShapeRandom* random) {
  const int64_t m = random->LogUniform(1, kMaxBatchedExtent);
  const int64_t n = random->LogUniform(1, kMaxBatchedExtent);
  const int64_t k = random->LogUniform(1, kMaxBatchedExtent);
  const char* layout = random->OneOf(kLayouts);
  return ProductOf(m, n, k, layout, random->LogUniform(2, kMaxBatch));
}

// Scores (queries by keys), their product with the values, or a gradient.
Point DrawAttention(ShapeRandom* random) {
  const int64_t tokens = random->OneOf(kTokens);
  const int64_t head = random->OneOf(kHeadExtents);
  const int64_t heads = random->OneOf(kHeads);
  switch (random->Between(0, 2)) {
    case 0:
      return ProductOf(tokens, tokens, head, "nt", heads);
    case 1:
      return ProductOf(tokens, head, tokens, "nn", heads);
    default:
      return ProductOf(tokens, head, tokens, "tn", heads);
  }
}

// A layer from one width to another: n and k. A third has one width four times the other, and a
// sixth is the layer of a vocabulary.
std::pair<int64_t, int64_t> DrawLayer(ShapeRandom* random) {
  const int64_t hidden = random->OneOf(kHidden);
  const int64_t kind = random->Between(0, 5);
  if (kind == 0) return {random->OneOf(kVocabularies), hidden};
  const int64_t other = kind <= 2 ? 4 * hidden : random->OneOf(kWidths);
  if (random->Between(0, 1) == 0) return {hidden, other};
  return {other, hidden};
}

// A fifth are attention's. Tokens are the rows of C or, as column-major programs call it, its
// columns.
Point DrawModel(ShapeRandom* random) {
  if (random->Between(0, 4) == 0) return DrawAttention(random);
  const int64_t tokens = random->OneOf(kTokens);
  const auto [n, k] = DrawLayer(random);
  const char* layout = random->OneOf(kLayerLayouts);
  const bool tokens_first = random->Between(0, 1) == 0;
  return ProductOf(tokens_first ? tokens : n, tokens_first ? n : tokens, k, layout);
}

// Returns what the shapes for a GPU and those for the host have in common.
RandomShapes* MakeFamilies() {
  auto* random = new RandomShapes;
  random->families = {
      {"log_uniform", "m, n and k of 1 to 12000", 2, DrawLogUniform},
      {"batched", "2 to 1000 products with m, n and k of 1 to 1500", 1, DrawBatched},
      {"model", "linear layers, vocabularies and attention of common networks", 1, DrawModel},
  };
  random->drawn = {Column::kLayout};
  return random;
}

RandomShapes* MakeRandomShapes() {
  RandomShapes* const random = MakeFamilies();
  random->most = {kMaxFlops, kMaxBytes};
  random->chooser = "auto";
  random->peer = "cublas";
  random->other_peers = {"cublaslt"};
  for (const MatMulImplementation& i : MatMulImplementations()) {
    // Of floats `auto` chooses among the first, of 16 bits `tensor` among the others.
    const bool is_of_tensor =
        TakesType(i, ElementType::kBf16) && absl::StartsWith(i.name, kOfTensor);
    if (i.dispatch.work != nullptr || is_of_tensor) random->kernels.push_back(i.name);
  }
  return random;
}

RandomShapes* MakeHostRandomShapes() {
  RandomShapes* const random = MakeFamilies();
  random->least = {kMinHostFlops, 0};
  random->most = {kMaxHostFlops, kMaxHostBytes};
  random->chooser = "cpu_threads";
  random->peer = "cpu_threads";
  random->rivals = {"eigen", "openblas", "blis", "onednn"};
  return random;
}

}  // namespace

const RandomShapes& MatMulHostRandomShapes() {
  static const RandomShapes& random = *MakeHostRandomShapes();
  return random;
}

const RandomShapes& MatMulRandomShapes() {
  static const RandomShapes& random = *MakeRandomShapes();
  return random;
}

}  // namespace stridewise
