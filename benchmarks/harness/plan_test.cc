#include "benchmarks/harness/plan.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "benchmarks/harness/test/fake_operation.h"
#include "benchmarks/matmul/operation.h"
#include "benchmarks/transpose/operation.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

using Plan = std::vector<Config>;
using Texts = std::vector<std::string>;

const Operation* const kOperations[] = {&MatMulOperation(), &TransposeOperations()};

Plan PlanOf(const Operation& operation, const char* preset, const PlanFlags& flags = {}) {
  const absl::StatusOr<Preset> found = FindPreset(operation, preset);
  EXPECT_TRUE(found.ok()) << found.status();
  absl::StatusOr<Plan> plan = MakePlan(operation, *found, flags);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *std::move(plan) : Plan();
}

Plan Products(const char* preset, const PlanFlags& flags = {}) {
  return PlanOf(MatMulOperation(), preset, flags);
}

Plan Transposes(const char* preset, const PlanFlags& flags = {}) {
  return PlanOf(TransposeOperations(), preset, flags);
}

// Fails unless the default preset with these flags is refused in words that hold `words`.
void ExpectRefused(const Operation& operation, const PlanFlags& flags, const std::string& words) {
  const absl::Status status = MakePlan(operation, operation.presets()[0], flags).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << words;
  EXPECT_TRUE(absl::StrContains(status.message(), words)) << words << ": " << status;
}

std::string Axes(const Config& config) { return absl::StrJoin(config.point.axes, " "); }

// "2048x2048 float 16x16", "64x64 float 16x16 x 4096" for a batch.
std::string Describe(const Config& config) {
  return absl::StrCat(ShapeText(config), " ", config.point.type, " ", config.block.x, "x",
                      config.block.y,
                      config.point.batch > 1 ? absl::StrCat(" x ", config.point.batch) : "");
}

// What an implementation is measured with.
Texts WorkOf(const Plan& plan, const std::string& implementation) {
  Texts work;
  for (const Config& config : plan) {
    if (config.implementation->name == implementation) work.push_back(Describe(config));
  }
  return work;
}

std::set<std::string> NamesOf(const Plan& plan) {
  std::set<std::string> names;
  for (const Config& config : plan) names.insert(config.implementation->name);
  return names;
}

// The first extents with which an implementation is measured.
std::set<int64_t> SizesOf(const Plan& plan, const std::string& implementation) {
  std::set<int64_t> sizes;
  for (const Config& config : plan) {
    if (config.implementation->name == implementation) sizes.insert(config.point.extents[0]);
  }
  return sizes;
}

double Volume(const Config& config) {
  double volume = 1;
  for (const int64_t extent : config.point.extents) volume *= static_cast<double>(extent);
  return volume;
}

TEST(MakePlanTest, EveryPresetHasEachConfigurationOnceAndGoesFromSmallToLarge) {
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
        EXPECT_LE(Volume(plan[i == 0 ? 0 : i - 1]), Volume(config)) << text;
      }
    }
  }
}

TEST(MakePlanTest, FirstStudyOfProductsHasTheAssignmentsSizes) {
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

TEST(MakePlanTest, SecondStudyStopsEachImplementationWhereTheAssignmentDid) {
  const Plan plan = Products("own_kernels");
  EXPECT_EQ(*SizesOf(plan, "cpu_naive").rbegin(), 1024);
  EXPECT_EQ(*SizesOf(plan, "naive").rbegin(), 2048);
  const std::set<int64_t> tiled = SizesOf(plan, "tiled");
  EXPECT_EQ(*tiled.rbegin(), 4096);
  EXPECT_EQ(tiled.size(), 100u + 31u + 8u);
  EXPECT_TRUE(SizesOf(plan, "cublas").empty());
}

TEST(MakePlanTest, ProofTakesEveryImplementationOverTheSameRandomShapes) {
  PlanFlags flags;
  flags.seed = 7;
  const Plan plan = Products("proof", flags);
  EXPECT_EQ(plan.size(), 10 * MatMulOperation().implementations().size());
  for (const Config& config : plan) {
    for (const int64_t extent : config.point.extents) {
      EXPECT_GE(extent, 1);
      EXPECT_LE(extent, 1024);
    }
  }
  flags.seed = 8;
  EXPECT_NE(Products("proof", flags)[0].point.extents, plan[0].point.extents);
}

TEST(MakePlanTest, LadderOfProductsHasEveryImplementationOfTheGpuAndNoOther) {
  const Plan plan = Products("ladder");
  for (const Implementation* i : MatMulOperation().implementations()) {
    EXPECT_EQ(SizesOf(plan, i->name).count(4096), i->on_device() ? 1u : 0u) << i->name;
  }
  EXPECT_EQ(SizesOf(plan, "naive"), (std::set<int64_t>{256, 1024, 4096, 8192}));
  EXPECT_EQ(SizesOf(plan, "naive_uncoalesced"), (std::set<int64_t>{256, 1024, 4096}));
}

TEST(MakePlanTest, LadderOfTransposesHasEveryImplementationAndSparesTheCpu) {
  const Plan plan = Transposes("ladder");
  EXPECT_EQ(WorkOf(plan, "eigen"), Texts{"2048x2048 float 0x0"});
  EXPECT_EQ(WorkOf(plan, "cublas_geam"), (Texts{"2048x2048 float 0x0", "8192x8192 float 0x0"}));
  EXPECT_EQ(NamesOf(plan).size(), TransposeOperations().implementations().size());
}

TEST(MakePlanTest, StudiesOfTransposesHaveTheirShapesAndBlocks) {
  EXPECT_EQ(WorkOf(Transposes("study_000"), "tile_unroll2_padded_dynamic"),
            (Texts{"4096x4096 float 16x16", "4096x4096 float 256x1", "8192x8192 float 16x16",
                   "8192x8192 float 256x1"}));
  EXPECT_EQ(WorkOf(Transposes("study_001"), "tile_rectangular"), Texts{"4096x4096 float 32x16"});
  EXPECT_EQ(WorkOf(Transposes("study_002"), "diagonal_col"),
            (Texts{"2048x2048 float 16x16", "2048x2048 float 8x32"}));
  EXPECT_EQ(WorkOf(Transposes("study_003"), "naive_row"), Texts{"2048x2048 int 32x32"});
  EXPECT_EQ(WorkOf(Transposes("thin_blocks"), "naive_col").size(), 2u * 9u);
  EXPECT_EQ(WorkOf(Transposes("types"), "cublas_geam").size(), 6u);
  EXPECT_EQ(WorkOf(Transposes("bounds"), "memcpy").size(), 6u);
}

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
  EXPECT_EQ(Axes(plan[3]), "tn 1 0");
  EXPECT_EQ(Axes(plan[4]), "nn_col 1 0");
  EXPECT_EQ(plan[6].point.extents[0], 5);
  EXPECT_EQ(plan[7].point.extents[0], 6);

  flags.axes = {{"layouts", ""}, {"alpha", "2.0"}, {"beta", "-5e-1"}};
  flags.batch = "3";
  const Plan general = Products("default", flags);
  EXPECT_EQ(NamesOf(general), std::set<std::string>{"cublas"});
  EXPECT_EQ(general[0].point.batch, 3);
  EXPECT_EQ(Axes(general[0]), "nn 2 -0.5");
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
  ExpectRefused(TransposeOperations(), flags, "takes these axes and batches");
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
  for (const char* once : {"nt 1 0 x 1", "tn 1 0 x 1", "tt 1 0 x 1", "nn_col 1 0 x 1",
                           "nn 1 0.5 x 1", "nn 1 0 x 1000"}) {
    EXPECT_EQ(forms.count(once), 1u) << once;
  }
  EXPECT_EQ(forms.count("nn 1 0 x 1"), 35u - 6u);

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
      {"layouts", "nx"}, {"alpha", "inf"}, {"beta", "nan"}};
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
  ExpectRefused(TransposeOperations(), flags, "--kernels: \"nope\"");
}

// What ncu_run relies on: the flags of a configuration make it again, and nothing else.
TEST(FlagsForTest, MakeTheSameConfiguration) {
  Plan configs;
  for (const Operation* operation : kOperations) {
    const bool products = operation == &MatMulOperation();
    PlanFlags flags;
    flags.shapes = products ? "3x5x7" : "3x5";
    flags.types = "double";
    flags.blocks = "8x4,64x2";
    for (const Config& config : PlanOf(*operation, "default", flags)) configs.push_back(config);
    flags.batch = "3";
    if (products) flags.axes = {{"layouts", "nt,nn_col"}, {"alpha", "-2"}, {"beta", "0.5"}};
    for (const Config& config : PlanOf(*operation, "default", flags)) configs.push_back(config);
  }
  ASSERT_GT(configs.size(), 40u);
  for (const Config& config : configs) {
    SCOPED_TRACE(Title(config));
    PlanFlags flags;
    const std::map<std::string, std::string*> members = {
        {"--implementations", &flags.implementations},
        {"--shapes", &flags.shapes},
        {"--types", &flags.types},
        {"--blocks", &flags.blocks},
        {"--batch", &flags.batch}};
    for (const std::string& flag : FlagsFor(config)) {
      const std::pair<std::string, std::string> parts = absl::StrSplit(flag, '=');
      if (parts.first == "--operation") {
        EXPECT_EQ(parts.second, config.operation->name());
      } else if (const auto member = members.find(parts.first); member != members.end()) {
        *member->second = parts.second;
      } else {
        flags.axes[parts.first.substr(2)] = parts.second;
      }
    }
    const Plan again = PlanOf(*config.operation, "default", flags);
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(again[0].implementation, config.implementation);
    EXPECT_EQ(Title(again[0]), Title(config));
    EXPECT_TRUE(again[0].point == config.point);
  }
}

TEST(OperationTest, SaysWhatCanBeAskedOfAnImplementation) {
  const struct {
    const Operation* operation;
    const char* name;
    bool has_kernel;
    bool runs_on_executor;
  } kCases[] = {
      {&TransposeOperations(), "tile_square", true, true},
      {&TransposeOperations(), "cublas_geam", true, false},
      {&TransposeOperations(), "memcpy", false, false},
      {&TransposeOperations(), "eigen", false, false},
      {&TransposeOperations(), "auto", true, true},
      {&TransposeOperations(), "in_place_square", true, true},
      {&MatMulOperation(), "tiled", true, true},
      {&MatMulOperation(), "cublas", true, false},
      {&MatMulOperation(), "cpu_naive", false, false},
  };
  for (const auto& c : kCases) {
    const Implementation* implementation = c.operation->Find(c.name);
    ASSERT_NE(implementation, nullptr) << c.name;
    EXPECT_EQ(implementation->name, c.name);
    EXPECT_EQ(c.operation->HasKernel(*implementation), c.has_kernel) << c.name;
    const auto on_executor = c.operation->OnExecutor(*implementation);
    EXPECT_EQ(on_executor.ok(), c.runs_on_executor) << c.name;
    EXPECT_EQ(absl::IsUnimplemented(on_executor.status()), !c.runs_on_executor) << c.name;
  }
  EXPECT_EQ(MatMulOperation().Find("nonsense"), nullptr);
  EXPECT_EQ(MatMulOperation().FindPeer("eigen"), nullptr);
}

// What makes the runner share operands between rows.
TEST(PointTest, DiffersInEachPart) {
  const Point point = MatMulOperation().UsualPoint({2, 3, 4});
  EXPECT_TRUE(point == MatMulOperation().UsualPoint({2, 3, 4}));
  EXPECT_FALSE(point == MatMulOperation().UsualPoint({2, 3, 5}));
  EXPECT_FALSE(point == (Point{point.extents, "double", 1, point.axes}));
  EXPECT_FALSE(point == (Point{point.extents, "float", 2, point.axes}));
  EXPECT_FALSE(point == (Point{point.extents, "float", 1, {"nn_col", "1", "0"}}));
}

TEST(OperationTest, AResultWithoutElementsIsEmpty) {
  for (const std::vector<int64_t>& extents : std::vector<std::vector<int64_t>>{
           {0, 3}, {3, 0}, {0, 3, 3}, {3, 0, 3}, {3, 3}, {3, 3, 3}, {3, 3, 0}}) {
    const Operation& operation = *kOperations[extents.size() == 3 ? 0 : 1];
    const Point point = operation.UsualPoint(extents);
    // Products along an empty k are zeros.
    EXPECT_EQ(operation.MakeProblem(point)->empty(), extents[0] * extents[1] == 0)
        << absl::StrJoin(extents, "x");
  }
}

}  // namespace
}  // namespace stridewise
