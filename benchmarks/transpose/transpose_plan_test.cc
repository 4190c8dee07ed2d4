#include "benchmarks/transpose/transpose_plan.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

std::vector<TransposeConfig> PlanOf(const char* preset, const TransposePlanFlags& flags = {}) {
  const auto found = FindTransposePreset(preset);
  EXPECT_TRUE(found.ok()) << found.status();
  auto plan = MakeTransposePlan(**found, flags);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *std::move(plan);
}

// "2048x2048 float 16x16", "64x64 float 16x16 x 4096" for a batch.
std::string Describe(const TransposeConfig& config) {
  return absl::StrCat(config.shape.rows, "x", config.shape.cols, " ", config.type.name, " ",
                      config.block.x, "x", config.block.y,
                      config.batch > 1 ? absl::StrCat(" x ", config.batch) : "");
}

// What `kernel` is measured with.
std::vector<std::string> WorkOf(const std::vector<TransposeConfig>& plan,
                                const std::string& kernel) {
  std::vector<std::string> work;
  for (const TransposeConfig& config : plan) {
    if (config.implementation->name == kernel) work.push_back(Describe(config));
  }
  return work;
}

using Texts = std::vector<std::string>;

TEST(TransposePlan, EveryPresetHasEachConfigurationOnceAndShapesTogether) {
  for (const TransposePreset& preset : TransposePresets()) {
    const auto plan = PlanOf(preset.name);
    std::set<std::string> seen;
    std::set<std::string> shapes_left;
    std::string shape;
    for (const TransposeConfig& config : plan) {
      const std::string text = absl::StrCat(config.implementation->name, " ", Describe(config));
      EXPECT_TRUE(seen.insert(text).second) << preset.name << ": " << text << " twice";
      const std::string its_shape = absl::StrCat(config.shape.rows, "x", config.shape.cols, " ",
                                                 config.type.name, " x ", config.batch);
      if (its_shape != shape) {
        EXPECT_TRUE(shapes_left.insert(its_shape).second) << preset.name << ": " << its_shape;
        shape = its_shape;
      }
    }
  }
}

TEST(TransposePlan, LadderHasEveryImplementationAndSparesTheCpu) {
  const auto plan = PlanOf("ladder");
  EXPECT_EQ(WorkOf(plan, "eigen"), Texts{"2048x2048 float 0x0"});
  EXPECT_EQ(WorkOf(plan, "cublas_geam"), (Texts{"2048x2048 float 0x0", "8192x8192 float 0x0"}));
  std::set<std::string> names;
  for (const TransposeConfig& config : plan) names.insert(config.implementation->name);
  EXPECT_EQ(names.size(), TransposeImplementations().size());
}

TEST(TransposePlan, StudiesHaveTheirShapesAndBlocks) {
  EXPECT_EQ(WorkOf(PlanOf("study_000"), "tile_unroll2_padded_dynamic"),
            (Texts{"8192x8192 float 16x16", "8192x8192 float 256x1"}));
  EXPECT_EQ(WorkOf(PlanOf("study_001"), "tile_rectangular"), Texts{"4096x4096 float 32x16"});
  EXPECT_EQ(WorkOf(PlanOf("study_002"), "diagonal_col"),
            (Texts{"2048x2048 float 16x16", "2048x2048 float 8x32"}));
  EXPECT_EQ(WorkOf(PlanOf("study_003"), "naive_row"), Texts{"2048x2048 int 32x32"});
  EXPECT_EQ(WorkOf(PlanOf("thin_blocks"), "naive_col").size(), 2u * 9u);
  EXPECT_EQ(WorkOf(PlanOf("types"), "cublas_geam").size(), 6u);
  EXPECT_EQ(WorkOf(PlanOf("bounds"), "memcpy").size(), 6u);
}

TEST(TransposePlan, FlagsReplaceShapesTypesAndBlocks) {
  TransposePlanFlags flags;
  flags.sizes = "0,5";
  flags.shapes = "2x3";
  flags.kernels = "naive_row,tile_square,eigen";
  flags.types = "u8,float4";
  flags.blocks = "8x8,32x4";
  const auto plan = PlanOf("default", flags);
  EXPECT_EQ(plan.size(), 3u * 2u * (2u + 1u + 1u));
  EXPECT_EQ(WorkOf(plan, "naive_row")[0], "0x0 u8 8x8");
  EXPECT_EQ(WorkOf(plan, "naive_row")[1], "0x0 u8 32x4");
  EXPECT_EQ(WorkOf(plan, "tile_square").back(), "2x3 float4 32x32");
  EXPECT_EQ(WorkOf(plan, "eigen")[0], "0x0 u8 0x0");
}

TEST(TransposePlan, HostKernelsTakeAnyShapeUnlessAPresetSaysOtherwise) {
  TransposePlanFlags flags;
  flags.shapes = "1x67108864,4194304x3";
  EXPECT_EQ(PlanOf("ladder", flags).size(), 2 * TransposeImplementations().size());
}

// A preset's batches and those of the flag; what takes one matrix only is left out.
TEST(TransposePlan, BatchesLeaveOutWhatTakesNone) {
  EXPECT_EQ(
      WorkOf(PlanOf("batched"), "memcpy"),
      (Texts{"64x64 float 0x0 x 4096", "16x16 float 0x0 x 100000", "7x5 float 0x0 x 100000",
             "128x128 float 0x0 x 1000", "1024x1024 float 0x0 x 20", "3x3 float 0x0 x 100000"}));
  TransposePlanFlags flags;
  flags.batch = "3";
  flags.shapes = "2x5";
  const auto plan = PlanOf("default", flags);
  EXPECT_EQ(WorkOf(plan, "memcpy"), Texts{"2x5 float 0x0 x 3"});
  EXPECT_EQ(WorkOf(plan, "copy_row"), Texts{"2x5 float 16x16 x 3"});
  for (const TransposeConfig& config : plan) {
    EXPECT_TRUE(TakesBatches(*config.implementation)) << config.implementation->name;
    EXPECT_EQ(config.batch, 3);
    EXPECT_EQ(BytesToMove(config), 2.0 * 2 * 5 * 4 * 3);
  }
  size_t takers = 0;
  for (const TransposeImplementation& implementation : TransposeImplementations()) {
    takers += TakesBatches(implementation) ? 1 : 0;
  }
  EXPECT_EQ(plan.size(), takers);
  flags.batch = "1";
  EXPECT_EQ(PlanOf("batched", flags).size(), TransposeImplementations().size());
  flags.batch = "3";
  flags.kernels = "naive_row,cublas_geam,eigen";
  const auto nothing = MakeTransposePlan(TransposePresets()[0], flags);
  EXPECT_EQ(nothing.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(nothing.status().message()).find("takes batches"), std::string::npos)
      << nothing.status();
}

// One problem whatever the step that names it first, and another than that of one matrix.
TEST(TransposePlan, BatchesOfAShapeStandTogether) {
  const TransposePreset preset = {"test",
                                  "",
                                  {{"memcpy", "64", "", "", "float", kMaxExtent, 5},
                                   {"memcpy", "64"},
                                   {"copy_vector,memcpy", "64", "", "", "float", kMaxExtent, 5}}};
  const auto plan = MakeTransposePlan(preset, {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  Texts work;
  for (const TransposeConfig& config : *plan) work.push_back(Describe(config));
  EXPECT_EQ(work, (Texts{"64x64 float 256x1 x 5", "64x64 float 0x0 x 5", "64x64 float 0x0"}));
}

TEST(TransposePlan, KernelsNarrowAPreset) {
  TransposePlanFlags flags;
  flags.kernels = "copy_vector";
  EXPECT_EQ(PlanOf("bounds", flags).size(), 6u);
  flags.kernels = "naive_row";  // A bound it is not.
  const auto plan = MakeTransposePlan(**FindTransposePreset("bounds"), flags);
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(TransposePlan, TypesHaveTheirSizes) {
  const auto types = ParseDataTypes("--types", "float, int,u8,u16,double,float4");
  ASSERT_TRUE(types.ok()) << types.status();
  std::map<std::string, int64_t> bytes;
  for (const DataType& type : *types) bytes[type.name] = type.element_bytes;
  const std::map<std::string, int64_t> want = {{"float", 4}, {"int", 4},    {"u8", 1},
                                               {"u16", 2},   {"double", 8}, {"float4", 16}};
  EXPECT_EQ(bytes, want);
}

TEST(TransposePlan, BadInputNamesTheFlag) {
  EXPECT_EQ(FindTransposePreset("nonsense").status().code(), absl::StatusCode::kInvalidArgument);
  struct {
    const char* flag;
    TransposePlanFlags flags;
  } cases[] = {
      {"--sizes", {"5:1:2", "", "", "", ""}},
      {"--shapes", {"", "3x4x5", "", "", ""}},
      {"--shapes", {"", "3x", "", "", ""}},
      {"--shapes", {"", "2147483648x1024", "", "", ""}},
      {"--kernels", {"", "", "nope", "", ""}},
      {"--types", {"", "", "", "half", ""}},
      {"--types", {"", "", "", "float,", ""}},
      {"--blocks", {"", "", "", "", "64x32"}},
      {"--blocks", {"", "", "", "", "0x32"}},
      {"--blocks", {"", "", "", "", "32"}},
      {"--batch", {"", "", "", "", "", "0"}},
      {"--batch", {"", "", "", "", "", "-1"}},
      {"--batch", {"", "", "", "", "", "two"}},
      {"--batch", {"", "", "", "", "", "2147483649"}},
      {"--batch", {"", "1048576x1048576", "", "", "", "2"}},
  };
  for (const auto& c : cases) {
    const auto plan = MakeTransposePlan(TransposePresets()[0], c.flags);
    EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument) << c.flag;
    EXPECT_NE(std::string(plan.status().message()).find(c.flag), std::string::npos)
        << plan.status();
  }
}

}  // namespace
}  // namespace stridewise
