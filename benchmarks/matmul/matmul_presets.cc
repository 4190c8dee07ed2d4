#include "benchmarks/matmul/matmul_presets.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "matmul/registry.h"

namespace stridewise {
namespace {

constexpr int64_t kNoLimit = kMaxSize;

// Steps of the GPU, and no others: they are listed by name so that new ones come by themselves.
std::string DeviceSteps(const std::set<std::string>& without) {
  std::vector<std::string> names;
  for (const MatMulImplementation& implementation : MatMulImplementations()) {
    if (implementation.target.where == Where::kDevice && without.count(implementation.name) == 0) {
      names.push_back(implementation.name);
    }
  }
  return absl::StrJoin(names, ",");
}

std::vector<MatMulPresetStep> LadderSteps() {
  // 256 is what the host executor counts within a second a kernel.
  return {{DeviceSteps({}), "256,1024,4096"},
          {DeviceSteps({"naive_one_thread_blocks", "naive_uncoalesced"}), "8192"}};
}

std::vector<MatMulPresetStep> LimitSteps() {
  std::vector<MatMulPresetStep> steps;
  for (const MatMulLimit& limit : MatMulLimits()) steps.push_back(StepOf(limit));
  return steps;
}

}  // namespace

absl::Span<const MatMulPreset> MatMulPresets() {
  static const auto& presets = *new std::vector<MatMulPreset>{
      {"default",
       "every implementation over the powers of two, in a minute or two",
       {{"cpu_naive", "32:512:*2", kNoLimit},
        {"eigen*,naive*", "32:2048:*2,1000", kNoLimit},
        {"tiled*,cublas*", "32:4096:*2,1000", kNoLimit}}},
      {"cublas_vs_eigen",
       "the assignment's first study: cuBLAS against Eigen to 10000, cuBLAS alone to 26000",
       {{"eigen,cublas", "1:5001:10,5000:10000:1000", kNoLimit},
        {"cublas", "10000:26000:1000", kNoLimit}}},
      {"own_kernels",
       "the assignment's second study: CPU to 1024, naive to 2048, tiled to 4096",
       {{"cpu_naive", "1:991:10,1000:4000:100,32:4096:*2", 1024},
        {"naive*", "1:991:10,1000:4000:100,32:4096:*2", 2048},
        {"tiled*", "1:991:10,1000:4000:100,32:4096:*2", kNoLimit}}},
      {"proof",
       "random shapes up to 1024: all implementations against the FP64 reference and each other",
       {{"*", "", kNoLimit, "", "nn", 1, 0, 1, /*random_shapes=*/10}},
       /*cross_check=*/true},
      {"ladder",
       "every step on the GPU at 256 (with its memory behaviour), 1024, 4096, and at 8192 without "
       "the slowest two",
       LadderSteps()},
      {"limits", "what auto is held to beside cuBLAS; ends with a table of pass and FAIL",
       LimitSteps(),
       /*cross_check=*/false,
       /*pair_with_cublas=*/true},
  };
  return presets;
}

absl::StatusOr<const MatMulPreset*> FindMatMulPreset(absl::string_view name) {
  std::vector<std::string> names;
  for (const MatMulPreset& preset : MatMulPresets()) {
    if (preset.name == name) return &preset;
    names.emplace_back(preset.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--preset: '", name, "' is not known; allowed is ", absl::StrJoin(names, ", ")));
}

MatMulPresetStep StepOf(const MatMulLimit& limit) {
  return {limit.implementation, limit.sizes, kNoLimit,   limit.shapes, limit.layouts,
          /*alpha=*/1,          limit.beta,  limit.batch};
}

}  // namespace stridewise
