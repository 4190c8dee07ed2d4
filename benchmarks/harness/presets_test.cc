// What the presets of the operations measure.

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "benchmarks/harness/test/fake_operation.h"
#include "benchmarks/harness/test/plans.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

double Volume(const Config& config) {
  double volume = 1;
  for (const int64_t extent : config.point.extents) volume *= static_cast<double>(extent);
  return volume;
}

// Those that draw their shapes measure them as drawn.
TEST(PresetsTest, EveryPresetHasEachConfigurationOnceAndGoesFromSmallToLarge) {
  for (const Operation* operation : kOperations) {
    for (const Preset& preset : AllPresets(*operation)) {
      SCOPED_TRACE(absl::StrCat(operation->name(), " ", preset.name));
      const Plan plan = PlanOf(*operation, preset.name.c_str());
      ASSERT_FALSE(plan.empty());
      std::set<std::string> seen;
      std::set<std::string> points_left;
      std::string point;
      for (size_t i = 0; i < plan.size(); ++i) {
        const Config& config = plan[i];
        const std::string text =
            absl::StrCat(config.implementation->name, " ", Describe(config), " ", Axes(config));
        EXPECT_TRUE(seen.insert(text).second) << text << " twice";
        const std::string its_point = absl::StrCat(ShapeText(config), " ", config.point.type, " x ",
                                                   config.point.batch, " ", Axes(config));
        if (its_point != point) {
          EXPECT_TRUE(points_left.insert(its_point).second)
              << its_point << " is left and met again";
          point = its_point;
        } else {
          EXPECT_LE(plan[i - 1].implementation, config.implementation) << "not in registry order";
        }
        EXPECT_TRUE(!config.family.empty() || Volume(plan[i == 0 ? 0 : i - 1]) <= Volume(config))
            << text;
      }
    }
  }
}

TEST(PresetsTest, FirstStudyOfProductsHasTheAssignmentsSizes) {
  const Plan plan = Products("cublas_vs_eigen");
  const std::set<int64_t> eigen = SizesOf(plan, "eigen");
  EXPECT_EQ(eigen.size(), 501u + 6u);
  EXPECT_EQ(*eigen.begin(), 1);
  EXPECT_EQ(*eigen.rbegin(), 10000);
  EXPECT_TRUE(eigen.count(4991) == 1 && eigen.count(5000) == 1 && eigen.count(9000) == 1);
  const std::set<int64_t> cublas = SizesOf(plan, "cublas");
  EXPECT_EQ(cublas.size(), 501u + 6u + 16u);
  EXPECT_EQ(*cublas.rbegin(), 26000);
}

TEST(PresetsTest, SecondStudyStopsEachImplementationWhereTheAssignmentDid) {
  const Plan plan = Products("own_kernels");
  EXPECT_EQ(*SizesOf(plan, "cpu_naive").rbegin(), 1024);
  EXPECT_EQ(*SizesOf(plan, "naive").rbegin(), 2048);
  const std::set<int64_t> tiled = SizesOf(plan, "tiled");
  EXPECT_EQ(*tiled.rbegin(), 4096);
  EXPECT_EQ(tiled.size(), 100u + 31u + 8u);
  EXPECT_TRUE(SizesOf(plan, "cublas").empty());
}

// One core is the best CPU only where products are small.
TEST(PresetsTest, CrossoverHasGpuAndCpuAtTheSameSizes) {
  const Plan plan = Products("crossover");
  const std::set<int64_t> sizes = SizesOf(plan, "auto");
  EXPECT_EQ(*sizes.begin(), 8);
  EXPECT_EQ(*sizes.rbegin(), 4096);
  EXPECT_EQ(sizes.count(41), 1u);
  for (const char* name : {"naive", "cublas", "cpu_threads", "eigen", "openblas", "blis", "onednn"})
    EXPECT_EQ(SizesOf(plan, name), sizes) << name;
  const std::set<int64_t> small(sizes.begin(), sizes.upper_bound(256));
  for (const char* name : {"cpu_packed", "openblas_1core", "blis_1core", "onednn_1core"})
    EXPECT_EQ(SizesOf(plan, name), small) << name;
}

TEST(PresetsTest, ProofTakesEveryImplementationOverTheSameRandomShapes) {
  PlanFlags flags;
  flags.seed = 7;
  const Plan plan = Products("proof", flags);
  const Point fp32 = MatMulOperation().UsualPoint({8, 8, 8});
  size_t takers = 0;
  for (const Implementation* i : MatMulOperation().implementations()) {
    if (MatMulOperation().Takes(*i, fp32)) ++takers;
  }
  EXPECT_EQ(plan.size(), 10 * takers);
  for (const Config& config : plan) {
    for (const int64_t extent : config.point.extents) {
      EXPECT_GE(extent, 1);
      EXPECT_LE(extent, 1024);
    }
  }
  flags.seed = 8;
  EXPECT_NE(Products("proof", flags)[0].point.extents, plan[0].point.extents);
}

TEST(PresetsTest, LadderOfProductsHasEveryImplementationOfTheGpuAndNoOther) {
  const Plan plan = Products("ladder");
  for (const Implementation* i : MatMulOperation().implementations()) {
    const bool fp32 = MatMulOperation().Takes(*i, MatMulOperation().UsualPoint({8, 8, 8}));
    EXPECT_EQ(SizesOf(plan, i->name).count(4096), i->on_device() && fp32 ? 1u : 0u) << i->name;
  }
  EXPECT_EQ(SizesOf(plan, "naive"), (std::set<int64_t>{256, 1024, 4096, 8192}));
  EXPECT_EQ(SizesOf(plan, "naive_uncoalesced"), (std::set<int64_t>{256, 1024, 4096}));
}

TEST(PresetsTest, TileWidthHasEveryWidthBesideNaive) {
  const Plan plan = Products("tile_width");
  EXPECT_EQ(
      WorkOf(plan, "tile_width_1"),
      (Texts{"256x256x256 float 1x1", "1024x1024x1024 float 1x1", "2048x2048x2048 float 1x1"}));
  EXPECT_EQ(NamesOf(plan),
            (std::set<std::string>{"global_accumulation", "naive", "naive_one_thread_blocks",
                                   "tile_width_1", "tile_width_16", "tile_width_8", "tiled"}));
}

TEST(PresetsTest, FrontOfProductsHasEverySchemeBesideTheVendor) {
  const Plan plan = Products("front");
  for (const Implementation* i : MatMulOperation().implementations()) {
    if (absl::StartsWith(i->name, "split_")) {
      EXPECT_EQ(SizesOf(plan, i->name).count(4096), 1u) << i->name;
    }
  }
  const Texts cublas = WorkOf(plan, "cublas");
  for (const char* type : {"double", "float", "bf16_float", "fp16_float"}) {
    EXPECT_EQ(
        std::count(cublas.begin(), cublas.end(), absl::StrCat("4096x4096x4096 ", type, " 0x0")),
        absl::string_view(type) == "float" ? 4 : 1)  // Of floats in TF32, BF16 and FP16, too.
        << type;
  }
}

TEST(PresetsTest, LadderOfTransposesHasEveryImplementationAndSparesTheCpu) {
  const Plan plan = Transposes("ladder");
  EXPECT_EQ(WorkOf(plan, "eigen"), Texts{"2048x2048 float 0x0"});
  EXPECT_EQ(WorkOf(plan, "cublas_geam"), (Texts{"2048x2048 float 0x0", "8192x8192 float 0x0"}));
  EXPECT_EQ(NamesOf(plan).size(), TransposeOperations().implementations().size());
}

TEST(PresetsTest, StudiesOfTransposesHaveTheirShapesAndBlocks) {
  EXPECT_EQ(WorkOf(Transposes("study_000"), "tile_unroll2_padded_dynamic"),
            (Texts{"4096x4096 float 16x16", "4096x4096 float 256x1", "8192x8192 float 16x16",
                   "8192x8192 float 256x1"}));
  EXPECT_EQ(WorkOf(Transposes("study_001"), "tile_rectangular"), Texts{"4096x4096 float 32x16"});
  EXPECT_EQ(WorkOf(Transposes("study_002"), "diagonal_col"),
            (Texts{"2048x2048 float 16x16", "2048x2048 float 8x32"}));
  EXPECT_EQ(WorkOf(Transposes("study_001"), "copy_shared_square"), Texts{"4096x4096 float 32x32"});
  EXPECT_EQ(WorkOf(Transposes("study_003"), "naive_row"), Texts{"2048x2048 int 32x32"});
  EXPECT_EQ(WorkOf(Transposes("study_003"), "tile_store_conflicts"), Texts{"2048x2048 int 32x32"});
  EXPECT_EQ(WorkOf(Transposes("thin_blocks"), "naive_col").size(), 2u * 9u);
  EXPECT_EQ(WorkOf(Transposes("types"), "cublas_geam").size(), 6u);
  EXPECT_EQ(WorkOf(Transposes("bounds"), "memcpy").size(), 6u);
}

// Rows of float are paired with Eigen, and those of BF16 with what stands in for it: neither is
// measured for itself.
TEST(LimitsPresetTest, OfTheHostHasBf16BesideOneDnn) {
  EXPECT_EQ(FindPreset(MatMulOperation(), "cpu_limits")->pair_with, "eigen");
  std::set<std::string> of_float, of_bf16;
  for (const Config& config : Products("cpu_limits")) {
    (config.point.type == "float" ? of_float : of_bf16).insert(config.implementation->name);
  }
  EXPECT_EQ(of_float,
            (std::set<std::string>{"cpu_packed", "cpu_threads", "openblas_1core", "openblas",
                                   "blis_1core", "blis", "onednn_1core", "onednn"}));
  EXPECT_EQ(of_bf16,
            (std::set<std::string>{"cpu_packed", "cpu_threads", "onednn_1core", "onednn"}));
}

// Both sides of each floor, unless the rows are paired with the peer.
TEST(LimitsPresetTest, MeasuresThePeersAndHasTheAxes) {
  const Plan products = Products(kLimitsPreset);
  EXPECT_EQ(FindPreset(MatMulOperation(), kLimitsPreset)->pair_with, "cublas");
  EXPECT_EQ(products.size(), 35u);
  EXPECT_EQ(NamesOf(products), std::set<std::string>{"auto"});
  std::multiset<std::string> forms;
  for (const Config& config : products) {
    if (config.point.batch == 1000) {
      EXPECT_EQ(ShapeText(config), "64x64x64");
    }
    forms.insert(absl::StrCat(Axes(config), " x ", config.point.batch));
  }
  for (const char* once : {"nt 1 0 asked fp32 none x 1", "tn 1 0 asked fp32 none x 1",
                           "tt 1 0 asked fp32 none x 1", "nn_col 1 0 asked fp32 none x 1",
                           "nn 1 0.5 asked fp32 none x 1", "nn 1 0 asked fp32 none x 1000"}) {
    EXPECT_EQ(forms.count(once), 1u) << once;
  }
  EXPECT_EQ(forms.count("nn 1 0 asked fp32 none x 1"), 35u - 6u);

  const Plan transposes = Transposes(kLimitsPreset);
  EXPECT_EQ(FindPreset(TransposeOperations(), kLimitsPreset)->pair_with, "copy_vector");
  EXPECT_EQ(NamesOf(transposes),
            (std::set<std::string>{"auto", "memcpy", "cublas_geam", "in_place_square",
                                   "in_place_rectangular"}));
  EXPECT_EQ(WorkOf(transposes, "cublas_geam").size(), 3u + 1 + 10 + 10 + 6 + 5);
}

TEST(FindPresetTest, ListsThePresetsThatThereAre) {
  for (const Operation* operation : kOperations) {
    const absl::Status status = FindPreset(*operation, "nonsense").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    for (const char* words : {"--preset: 'nonsense'", "default", "limits"}) {
      EXPECT_TRUE(absl::StrContains(status.message(), words)) << status;
    }
  }
  EXPECT_FALSE(FindPreset(FakeOperation(), kLimitsPreset).ok()) << "it has no limits";
}

}  // namespace
}  // namespace stridewise
