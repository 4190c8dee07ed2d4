#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/harness/plan.h"
#include "benchmarks/harness/workload.h"
#include "benchmarks/permute/implementations.h"
#include "benchmarks/permute/operation.h"
#include "benchmarks/permute/permuted_tensor.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

TEST(PermutationTest, TextsAreReadAndWritten) {
  for (const char* text : {"7:0", "3x4:10", "64x2048x16x64:0213", "2x3x4x5x6x7:543210"}) {
    const auto permutation = ParsePermutation("--permutations", text);
    ASSERT_TRUE(permutation.ok()) << permutation.status();
    EXPECT_EQ(permutation->Text(), text);
    const Point point = PointOfPermutation(*permutation, "u16");
    EXPECT_EQ(PermutationOf(point).Text(), text);
    EXPECT_EQ(point.extents[0] * point.extents[1], permutation->elements());
  }
  for (const char* text : {"", "3x4", "3x4:", "3x4:0", "3x4:00", "3x4:12", "3x4:1a", "x4:10",
                           "-3x4:10", "1x1x1x1x1x1x1:0123456", "3x4:10:10"}) {
    const absl::Status status = ParsePermutation("--permutations", text).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << text;
    EXPECT_TRUE(absl::StrContains(status.message(), absl::StrCat("--permutations: '", text, "'")))
        << status;
  }
}

TEST(PermutationTest, WithoutOneAPointIsATranspose) {
  const Point point = PermuteOperation().UsualPoint({3, 5});
  EXPECT_EQ(PermutationOf(point).Text(), "3x5:10");
}

TEST(PermutationTest, ElementsThatShapeDoesNotHaveAreNotSupported) {
  Point point = PermuteOperation().UsualPoint({3, 5});
  point.axes = {"3x4:10"};
  const absl::Status status =
      PermuteOperation().CheckSupported(*PermuteOperation().Find("auto"), point);
  EXPECT_EQ(status.message(),
            "--permutations: 3x4:10 has 12 elements; allowed is 15, those of --shapes");
}

// On the command line each permutation has the shape that it needs.
TEST(PermutationTest, ReplacesThePresetsShapes) {
  const Operation& operation = PermuteOperation();
  PlanFlags flags;
  flags.axes["permutations"] = "4x6x5:021,3x7:10";
  const auto plan = MakePlan(operation, FindPreset(operation, "default").value(), flags);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->size(), 2 * operation.implementations().size());
  for (size_t i = 0; i < plan->size(); ++i) {
    const bool first = i < plan->size() / 2;
    const Point& point = (*plan)[i].point;
    EXPECT_EQ(point.axes[0], first ? "4x6x5:021" : "3x7:10");
    EXPECT_EQ(point.extents, (first ? std::vector<int64_t>{24, 5} : std::vector<int64_t>{3, 7}));
  }
  flags.axes["permutations"] = "4x6:00";
  EXPECT_FALSE(MakePlan(operation, FindPreset(operation, "default").value(), flags).ok());
  flags.axes["permutations"] = "3x4:10";
  flags.shapes = "2x6";
  const auto renamed = MakePlan(operation, FindPreset(operation, "default").value(), flags);
  ASSERT_TRUE(renamed.ok()) << renamed.status();
  EXPECT_EQ(renamed->front().point.extents, (std::vector<int64_t>{2, 6}));
}

TEST(PermutationTest, RandomShapesAreWhatTheirFamiliesSay) {
  for (const ShapeFamily& family : PermuteRandomShapes().families) {
    for (uint64_t number = 0; number < 200; ++number) {
      ShapeRandom random(7, number);
      const Point point = family.draw(&random);
      const Permutation permutation = PermutationOf(point);
      EXPECT_EQ(point.extents[0] * point.extents[1], permutation.elements());
      EXPECT_TRUE(PermuteOperation().CheckSupported(*PermuteOperation().Find("auto"), point).ok());
    }
  }
}

TEST(PermutationTest, CutensorIsMeasuredAtRandomShapesWhereItIsNamed) {
  const Operation& operation = PermuteOperation();
  PlanFlags flags;
  flags.count = "5";
  const auto count = [&] {
    const auto plan = MakePlan(operation, FindPreset(operation, "random").value(), flags);
    return plan.ok() ? std::count_if(plan->begin(), plan->end(),
                                     [](const Config& config) {
                                       return config.implementation->name == "cutensor";
                                     })
                     : -1;
  };
  EXPECT_EQ(count(), 0);
  flags.implementations = "auto,cutensor";
  EXPECT_EQ(count(), 5);
}

TEST(PermutedTensorTest, JudgesAndNamesOneWrongElement) {
  const Permutation permutation = {{30, 50, 70}, {2, 0, 1}};
  for (const VerifyMode mode : {VerifyMode::kFull, VerifyMode::kFast}) {
    auto workload = Workload::Create(std::make_unique<PermutedTensor>(permutation, 2), /*seed=*/7,
                                     HostMemory::kPageable);
    ASSERT_TRUE(workload.ok()) << workload.status();
    workload->PoisonOutput();
    const auto& own = *FindByName(PermuteImplementations(), "auto");
    const auto& copy = *FindByName(PermuteImplementations(), "memcpy");
    EXPECT_TRUE(absl::IsDataLoss(workload->Verify(own, mode, nullptr, nullptr)));
    const auto* in = static_cast<const uint16_t*>(workload->inputs()[0]);
    auto* out = static_cast<uint16_t*>(workload->output());
    for (int64_t c = 0; c < 70; ++c) {
      for (int64_t a = 0; a < 30; ++a) {
        for (int64_t b = 0; b < 50; ++b) out[(c * 30 + a) * 50 + b] = in[(a * 50 + b) * 70 + c];
      }
    }
    EXPECT_TRUE(workload->Verify(own, mode, nullptr, nullptr).ok());
    EXPECT_TRUE(absl::IsDataLoss(workload->Verify(copy, mode, nullptr, nullptr)));
    out[12345] ^= 1;
    const absl::Status status = workload->Verify(own, mode, nullptr, nullptr);
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    if (mode == VerifyMode::kFull) {
      EXPECT_TRUE(absl::StrContains(status.message(), "element 12345 of out")) << status;
    }
    std::memcpy(out, in, size_t{30} * 50 * 70 * 2);
    EXPECT_TRUE(workload->Verify(copy, mode, nullptr, nullptr).ok());
  }
}

}  // namespace
}  // namespace stridewise
