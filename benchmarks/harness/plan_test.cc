#include "benchmarks/harness/plan.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmarks/harness/test/fake_operation.h"
#include "benchmarks/harness/test/plans.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

TEST(MakePlanTest, FlagsReplaceShapesTypesAndBlocksAndNarrowImplementations) {
  PlanFlags flags;
  flags.sizes = "0,5";
  flags.shapes = "2x3x4";
  flags.implementations = "eigen*";
  flags.types = "float,double";
  const Plan products = Products("default", flags);
  ASSERT_EQ(products.size(), 3u * 2u * 2u);
  EXPECT_EQ(ShapeText(products[0]), "0x0x0");
  EXPECT_EQ(ShapeText(products.back()), "2x3x4");  // As named, not by size.
  EXPECT_EQ(products.back().point.type, "double");

  flags.shapes = "2x3";
  flags.implementations = "naive_row,tile_square,eigen";
  flags.types = "u8,float4";
  flags.blocks = "8x8,32x4";
  const Plan transposes = Transposes("default", flags);
  EXPECT_EQ(transposes.size(), 3u * 2u * (2u + 1u + 1u));
  EXPECT_EQ(WorkOf(transposes, "naive_row")[0], "0x0 u8 8x8");
  EXPECT_EQ(WorkOf(transposes, "naive_row")[1], "0x0 u8 32x4");
  EXPECT_EQ(WorkOf(transposes, "tile_square").back(), "2x3 float4 32x32");
  EXPECT_EQ(WorkOf(transposes, "eigen")[0], "0x0 u8 0x0");
}

TEST(MakePlanTest, WhatGoesBeyondTheCardIsPlannedByItsNameAlone) {
  PlanFlags flags;
  flags.sizes = "5";
  for (const Operation* operation : {&MatMulOperation(), &TransposeOperations()}) {
    const Preset preset = FindPreset(*operation, "default").value();
    for (const auto& [names, expected] : std::vector<std::pair<std::string, size_t>>{
             {"auto, streamed", 1}, {"streamed", 1}, {"auto", 0}, {"*", 0}, {"", 0}}) {
      flags.implementations = names;
      const auto plan = MakePlan(*operation, preset, flags);
      ASSERT_TRUE(plan.ok()) << plan.status();
      size_t found = 0;
      for (const Config& config : *plan) found += config.implementation->name == "streamed";
      EXPECT_EQ(found, expected) << names;
    }
  }
}

TEST(MakePlanTest, ShardsTogetherAreTheWholePlanAndKeepPointsTogether) {
  PlanFlags flags;
  flags.sizes = "1:20:1";
  flags.implementations = "eigen,naive,tiled";
  flags.types = "float,double";
  const Plan whole = Products("default", flags);
  for (const int count : {1, 2, 7, 64}) {
    std::map<std::string, int> shard_of;
    size_t configs = 0;
    for (int index = 1; index <= count; ++index) {
      flags.shard = absl::StrCat(index, "/", count);
      const Plan shard = Products("default", flags);
      configs += shard.size();
      for (const Config& config : shard) {
        const std::string point = absl::StrCat(ShapeText(config), config.point.type);
        EXPECT_EQ(shard_of.emplace(point, index).first->second, index) << point;
      }
      // 40 points of three configurations, in turn.
      EXPECT_NEAR(static_cast<double>(shard.size()), 3 * 40.0 / count, 3) << flags.shard;
    }
    EXPECT_EQ(configs, whole.size()) << count;
  }
}

TEST(MakePlanTest, BlocksApplyToTheKernelsThatTakeAny) {
  PlanFlags flags;
  flags.sizes = "64";
  flags.blocks = "8x8,32x4";
  flags.implementations = "naive,tiled,eigen";
  const Plan plan = Products("default", flags);
  ASSERT_EQ(plan.size(), 4u);
  EXPECT_EQ(plan[0].implementation->name, "eigen");
  EXPECT_EQ(plan[0].block.x, 0);
  EXPECT_EQ(WorkOf(plan, "naive"), (Texts{"64x64x64 float 8x8", "64x64x64 float 32x4"}));
  EXPECT_EQ(plan[3].block.x, 32);
}

TEST(MakePlanTest, HostImplementationsTakeAnyShapeUnlessAPresetSaysOtherwise) {
  PlanFlags flags;
  flags.shapes = "1x67108864,4194304x3";
  EXPECT_EQ(Transposes("ladder", flags).size(), 2 * TransposeOperations().implementations().size());
}

TEST(MakePlanTest, AxesStandTogetherByShapeAndLeaveOutWhatDoesNotTakeThem) {
  PlanFlags flags;
  flags.sizes = "5,6";
  flags.axes["layouts"] = "nn,tn,nn_col";
  flags.implementations = "naive,tiled,cublas";
  const Plan plan = Products("default", flags);
  // Of each size naive, tiled and cublas for A * B in rows and in columns, cublas for the other.
  ASSERT_EQ(plan.size(), 2u * (3 + 1 + 3));
  EXPECT_EQ(plan[3].implementation->name, "cublas");
  EXPECT_EQ(Axes(plan[3]), "tn 1 0 asked fp32 none");
  EXPECT_EQ(Axes(plan[4]), "nn_col 1 0 asked fp32 none");
  EXPECT_EQ(plan[6].point.extents[0], 5);
  EXPECT_EQ(plan[7].point.extents[0], 6);

  flags.axes = {{"layouts", ""}, {"alpha", "2.0"}, {"beta", "-5e-1"}};
  flags.batch = "3";
  const Plan general = Products("default", flags);
  EXPECT_EQ(NamesOf(general), std::set<std::string>{"cublas"});
  EXPECT_EQ(general[0].point.batch, 3);
  EXPECT_EQ(Axes(general[0]), "nn 2 -0.5 asked fp32 none");
  flags.implementations = "tiled";
  ExpectRefused(MatMulOperation(), flags, "--implementations");
}

// A preset's batches and those of the flag; what takes one matrix only is left out.
TEST(MakePlanTest, BatchesLeaveOutWhatTakesNone) {
  EXPECT_EQ(
      WorkOf(Transposes("batched"), "memcpy"),
      (Texts{"3x3 float 0x0 x 100000", "7x5 float 0x0 x 100000", "16x16 float 0x0 x 100000",
             "64x64 float 0x0 x 4096", "128x128 float 0x0 x 1000", "1024x1024 float 0x0 x 20"}));
  PlanFlags flags;
  flags.batch = "3";
  flags.shapes = "2x5";
  const Plan plan = Transposes("default", flags);
  EXPECT_EQ(WorkOf(plan, "memcpy"), Texts{"2x5 float 0x0 x 3"});
  EXPECT_EQ(WorkOf(plan, "copy_row"), Texts{"2x5 float 16x16 x 3"});
  for (const Config& config : plan) {
    EXPECT_TRUE(TransposeOperations().Takes(*config.implementation, config.point));
    EXPECT_EQ(config.point.batch, 3);
    EXPECT_EQ(TransposeOperations().MakeProblem(config.point)->work().bytes, 2.0 * 2 * 5 * 4 * 3);
  }
  const std::vector<const Implementation*> all = TransposeOperations().implementations();
  size_t takers = 0;
  for (const Implementation* i : all) {
    takers += TransposeOperations().Takes(*i, plan[0].point) ? 1 : 0;
  }
  EXPECT_EQ(plan.size(), takers);
  flags.batch = "1";
  EXPECT_EQ(Transposes("batched", flags).size(), all.size());
  flags.batch = "3";
  flags.implementations = "naive_row,cublas_geam,eigen";
  ExpectRefused(TransposeOperations(), flags, ", with --batch;");
}

// One point whatever the selection that names it first, and another than that of one problem.
TEST(MakePlanTest, SelectionsOfOnePointStandTogether) {
  Preset preset;
  preset.selections = {Selection("memcpy").Sizes("64").Batch(5), Selection("memcpy").Sizes("64"),
                       Selection("copy,memcpy").Sizes("64").Batch(5),
                       Selection("copy").Shapes("3x5").Axis("layouts", "tn,nn")};
  const auto plan = MakePlan(FakeOperation(), preset, {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  Texts work;
  for (const Config& config : *plan) work.push_back(absl::StrCat(Describe(config), Axes(config)));
  EXPECT_EQ(work, (Texts{"3x5 float 256x1nn", "3x5 float 256x1tn", "64x64 float 256x1 x 5nn",
                         "64x64 float 0x0 x 5nn", "64x64 float 0x0nn"}));
}

TEST(MakePlanTest, ImplementationsNarrowAPreset) {
  PlanFlags flags;
  flags.implementations = "copy_vector";
  EXPECT_EQ(Transposes("bounds", flags).size(), 6u);
  flags.implementations = "naive_row";  // A bound it is not.
  const auto plan =
      MakePlan(TransposeOperations(), *FindPreset(TransposeOperations(), "bounds"), flags);
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(MakePlanTest, TypesHaveTheirSizes) {
  const std::map<std::string, int64_t> want = {{"float", 4}, {"int", 4},    {"u8", 1},
                                               {"u16", 2},   {"double", 8}, {"float4", 16}};
  PlanFlags flags;
  flags.implementations = "memcpy";
  flags.sizes = "1";
  flags.types = "float, int,u8,u16,double,float4";
  std::map<std::string, int64_t> bytes;
  for (const Config& config : Transposes("default", flags)) {
    bytes[config.point.type] =
        TransposeOperations().MakeProblem(config.point)->output().element_bytes;
  }
  EXPECT_EQ(bytes, want);
}

TEST(MakePlanTest, BadInputNamesTheFlag) {
  const struct {
    std::string PlanFlags::*member;
    const char* flag;
    std::vector<const char*> of_products;
    std::vector<const char*> of_transposes;
  } kCases[] = {
      {&PlanFlags::sizes, "--sizes", {"5:1:2", "random:3"}, {"5:1:2"}},
      {&PlanFlags::shapes, "--shapes", {"3x4"}, {"3x4x5", "3x", "2147483648x1024"}},
      {&PlanFlags::implementations, "--implementations", {"nope"}, {"nope"}},
      {&PlanFlags::types, "--types", {"half", "u8"}, {"half", "float,"}},
      {&PlanFlags::blocks, "--blocks", {"64x64"}, {"64x32", "0x32", "32"}},
      // The last is too many of the preset's sizes.
      {&PlanFlags::batch, "--batch", {"0", "2147483648"}, {"0", "-1", "two", "2147483649"}},
  };
  for (const auto& c : kCases) {
    PlanFlags flags;
    for (const char* value : c.of_products) {
      flags.*c.member = value;
      ExpectRefused(MatMulOperation(), flags, c.flag);
    }
    for (const char* value : c.of_transposes) {
      flags.*c.member = value;
      ExpectRefused(TransposeOperations(), flags, c.flag);
    }
  }
  const std::pair<const char*, const char*> axes[] = {
      {"layouts", "nx"}, {"alpha", "inf"}, {"beta", "nan"}, {"workspace", "some"}};
  for (const auto& [axis, value] : axes) {
    PlanFlags flags;
    flags.axes[axis] = value;
    ExpectRefused(MatMulOperation(), flags, absl::StrCat("--", axis));
  }
  PlanFlags flags;
  flags.shapes = "1048576x1048576";
  flags.batch = "2";
  ExpectRefused(TransposeOperations(), flags, "--batch");
  flags = {};
  flags.implementations = "nope";
  flags.implementations_flag = "--kernels";  // The name under which it was given.
  ExpectRefused(TransposeOperations(), flags, "--kernels: 'nope'");
}

}  // namespace
}  // namespace stridewise
