#include "benchmarks/harness/draw_points.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/harness/test/plans.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

std::vector<DrawnPoint> Draw(const Operation& operation, const char* count, const char* family,
                             uint64_t seed = 1) {
  const absl::StatusOr<std::vector<DrawnPoint>> drawn =
      DrawPoints(operation, operation.random_shapes(), count, family, seed);
  EXPECT_TRUE(drawn.ok()) << drawn.status();
  return drawn.ok() ? *drawn : std::vector<DrawnPoint>();
}

// A function of seed and number: nothing else may change a committed list of shapes.
TEST(DrawPointsTest, AreTheSameForTheSameSeedAndOthersForAnother) {
  for (const Operation* operation : kOperations) {
    const std::vector<DrawnPoint> some = Draw(*operation, "40", "all", 5);
    const std::vector<DrawnPoint> more = Draw(*operation, "60", "", 5);
    const std::vector<DrawnPoint> others = Draw(*operation, "40", "all", 6);
    ASSERT_EQ(some.size(), 40u);
    ASSERT_EQ(more.size(), 60u);
    int same = 0;
    for (size_t i = 0; i < some.size(); ++i) {
      EXPECT_TRUE(some[i].point == more[i].point) << i;
      EXPECT_EQ(some[i].family, more[i].family);
      same += some[i].point == others[i].point ? 1 : 0;
    }
    EXPECT_LT(same, 10);
    EXPECT_EQ(Draw(*operation, "", "").size(), 100u);
  }
}

TEST(DrawPointsTest, AllFamiliesTakeTurns) {
  for (const Operation* operation : kOperations) {
    std::map<std::string, int> count;
    for (const DrawnPoint& drawn : Draw(*operation, "40", "all")) ++count[drawn.family];
    EXPECT_EQ(count,
              (std::map<std::string, int>{{"log_uniform", 20}, {"batched", 10}, {"model", 10}}));
    for (const char* family : {"log_uniform", "batched", "model"}) {
      for (const DrawnPoint& drawn : Draw(*operation, "5", family)) {
        EXPECT_EQ(drawn.family, family);
      }
    }
  }
}

// What makes a row affordable, and what the families promise. No point is drawn twice.
TEST(DrawPointsTest, StayWithinBounds) {
  for (const Operation* operation : kOperations) {
    const bool products = operation == &MatMulOperation();
    for (const ShapeFamily& family : operation->random_shapes().families) {
      SCOPED_TRACE(absl::StrCat(operation->name(), " ", family.name));
      const bool model = absl::string_view(family.name) == "model";
      const bool batched = absl::string_view(family.name) == "batched";
      const int64_t limit = products ? (batched ? 1500 : 12000) : (batched ? 2000 : 1000000);
      std::set<std::string> seen;
      for (const DrawnPoint& drawn : Draw(*operation, "300", family.name)) {
        const Point& point = drawn.point;
        const Work work = operation->MakeProblem(point)->work();
        const std::string text =
            absl::StrCat(absl::StrJoin(point.extents, "x"), " ", point.type, " x ", point.batch,
                         " ", absl::StrJoin(point.axes, " "));
        EXPECT_TRUE(seen.insert(text).second) << text;
        if (products) {
          EXPECT_LE(work.flops, 6e11) << text;
          EXPECT_LE(work.bytes, 3e9) << text;
          EXPECT_EQ(point.type, "float");
        } else {
          EXPECT_GE(work.bytes, 2 * 0.3e6) << text;
          EXPECT_LE(work.bytes, 2 * 1.5e9) << text;
        }
        EXPECT_GE(*std::min_element(point.extents.begin(), point.extents.end()), 1) << text;
        if (model) continue;
        EXPECT_LE(*std::max_element(point.extents.begin(), point.extents.end()), limit) << text;
        EXPECT_EQ(point.batch > 1, batched) << text;
        EXPECT_LE(point.batch, products ? 1000 : 20000) << text;
      }
    }
  }
}

TEST(DrawPointsTest, HaveEveryLayoutAndEveryElementSize) {
  std::set<std::string> layouts;
  for (const DrawnPoint& drawn : Draw(MatMulOperation(), "100", "all")) {
    ASSERT_EQ(drawn.point.axes.size(), 6u);
    layouts.insert(drawn.point.axes[0]);
    EXPECT_EQ(absl::StrJoin(drawn.point.axes.begin() + 1, drawn.point.axes.end(), " "),
              "1 0 asked fp32 none");
  }
  EXPECT_EQ(layouts, (std::set<std::string>{"nn", "nt", "tn", "tt"}));
  std::set<std::string> types;
  for (const DrawnPoint& drawn : Draw(TransposeOperations(), "100", "all")) {
    types.insert(drawn.point.type);
  }
  EXPECT_EQ(types, (std::set<std::string>{"double", "float", "float4", "u16", "u8"}));
}

// Each is one that some network has: the values are in the lists of the family.
TEST(DrawPointsTest, ModelsHaveTheShapesOfNetworks) {
  std::set<int64_t> extents;
  for (const DrawnPoint& drawn : Draw(MatMulOperation(), "400", "model")) {
    extents.insert(drawn.point.extents.begin(), drawn.point.extents.end());
  }
  for (const int64_t extent : {1, 197, 257, 768, 3072, 4096, 50257, 64, 128}) {
    EXPECT_EQ(extents.count(extent), 1u) << extent;
  }
  std::set<std::string> transposes;
  for (const DrawnPoint& drawn : Draw(TransposeOperations(), "400", "model")) {
    transposes.insert(absl::StrJoin(drawn.point.extents, "x"));
  }
  for (const char* shape : {"3136x64", "64x3136", "197x64", "1080x1920"}) {
    EXPECT_EQ(transposes.count(shape), 1u) << shape;
  }
}

TEST(DrawPointsTest, BadInputNamesTheFlag) {
  const struct {
    const char* count;
    const char* family;
    const char* words;
  } kCases[] = {
      {"0", "", "--count: '0' is not allowed; allowed is 1 to 100000"},
      {"-1", "", "--count: '-1'"},
      {"100001", "", "--count: '100001'"},
      {"many", "", "--count: 'many'"},
      {"1.5", "", "--count: '1.5'"},
      {"", "nonsense",
       "--shape_family: 'nonsense' is not allowed; allowed is log_uniform, "
       "batched, model and all"},
      {"", "model,batched", "--shape_family: 'model,batched'"},
      {"20000", "model", "--count: '20000' is not allowed; allowed is at most"},
  };
  for (const Operation* operation : kOperations) {
    for (const auto& c : kCases) {
      const absl::Status status =
          DrawPoints(*operation, operation->random_shapes(), c.count, c.family, 1).status();
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.words;
      EXPECT_TRUE(absl::StrContains(status.message(), c.words)) << status;
    }
  }
}

TEST(DrawPointsTest, LeastFlopsAreKept) {
  const Operation& operation = MatMulOperation();
  const auto drawn = DrawPoints(operation, operation.random_shapes(), "40", "", 1, "2e9");
  ASSERT_TRUE(drawn.ok()) << drawn.status();
  ASSERT_EQ(drawn->size(), 40u);
  for (const DrawnPoint& one : *drawn) {
    EXPECT_GE(operation.MakeProblem(one.point)->work().flops, 2e9) << one.family;
  }
  for (const char* text : {"many", "-1", "1e30"}) {
    const absl::Status status =
        DrawPoints(operation, operation.random_shapes(), "", "", 1, text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_TRUE(absl::StrContains(status.message(), absl::StrCat("--least_flops: '", text, "'")))
        << status;
  }
  const Operation& moves = TransposeOperations();
  const absl::Status none = DrawPoints(moves, moves.random_shapes(), "", "", 1, "2e9").status();
  EXPECT_EQ(none.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(none.message(), "--least_flops: '2e9'")) << none;
}

PlanFlags Count(const char* count) {
  PlanFlags flags;
  flags.count = count;
  return flags;
}

TEST(RandomPresetTest, MeasuresAutoUnlessImplementationsAreNamed) {
  EXPECT_EQ(NamesOf(Products("random", Count("8"))), std::set<std::string>{"auto"});
  EXPECT_EQ(NamesOf(Transposes("random", Count("8"))), std::set<std::string>{"auto"});
  PlanFlags flags = Count("8");
  flags.implementations = "*";
  const std::set<std::string> products = NamesOf(Products("random", flags));
  EXPECT_EQ(products.count("auto") + products.count("tiny") + products.count("ragged"), 3u);
  EXPECT_EQ(products.count("cublas") + products.count("naive"), 0u);
  const std::set<std::string> transposes = NamesOf(Transposes("random", flags));
  EXPECT_EQ(transposes.count("auto") + transposes.count("tile_ragged"), 2u);
  EXPECT_EQ(transposes.count("memcpy") + transposes.count("naive_row"), 0u);
  EXPECT_EQ(FindPreset(MatMulOperation(), "random")->pair_with, "cublas");
  EXPECT_EQ(FindPreset(TransposeOperations(), "random")->pair_with, "memcpy");
}

// As drawn: what a sweep that was stopped has measured is a fair part.
TEST(RandomPresetTest, KeepsTheOrderAndTheFamilies) {
  const Plan plan = Products("random", Count("30"));
  const std::vector<DrawnPoint> drawn = Draw(MatMulOperation(), "30", "all");
  ASSERT_EQ(plan.size(), 30u);
  for (size_t i = 0; i < plan.size(); ++i) {
    EXPECT_TRUE(plan[i].point == drawn[i].point) << ShapeText(plan[i]);
    EXPECT_EQ(plan[i].family, drawn[i].family);
  }
}

TEST(RandomPresetTest, TakesAxesThatAreNotDrawn) {
  PlanFlags flags = Count("5");
  flags.axes["workspace"] = "asked,no";
  flags.types = "double";
  const Plan plan = Products("random", flags);
  ASSERT_EQ(plan.size(), 10u);
  EXPECT_EQ(plan[0].point.axes[3], "asked");
  EXPECT_EQ(plan[1].point.axes[3], "no");
  EXPECT_EQ(plan[0].point.axes[0], plan[1].point.axes[0]);
  EXPECT_EQ(plan[0].point.type, "double");
}

TEST(RandomPresetTest, RefusesFlagsOfWhatIsDrawnAndOfDrawingElsewhere) {
  const auto refused = [](const Operation& operation, const char* preset, const PlanFlags& flags,
                          const char* words) {
    const absl::Status status = MakePlan(operation, *FindPreset(operation, preset), flags).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << words;
    EXPECT_TRUE(absl::StrContains(status.message(), words)) << status;
  };
  PlanFlags flags;
  flags.batch = "2";
  refused(MatMulOperation(), "random", flags, "--batch: '2' is not allowed with --preset=random");
  flags = {};
  flags.axes["layouts"] = "nn";
  refused(MatMulOperation(), "random", flags,
          "--layouts: 'nn' is not allowed with --preset=random");
  flags = {};
  flags.types = "u8";
  refused(TransposeOperations(), "random", flags,
          "--types: 'u8' is not allowed with --preset=random");
  refused(MatMulOperation(), "default", Count("5"),
          "--count: '5' is not allowed without --preset=random");
  flags = Count("5");
  flags.sizes = "64";  // Instead of the preset's.
  refused(MatMulOperation(), "random", flags,
          "--count: '5' is not allowed without --preset=random");
  flags = {};
  flags.shape_family = "model";
  refused(TransposeOperations(), "default", flags,
          "--shape_family: 'model' is not allowed without");
  flags = {};
  flags.least_flops = "2e9";
  refused(MatMulOperation(), "default", flags, "--least_flops: '2e9' is not allowed without");
}

}  // namespace
}  // namespace stridewise
