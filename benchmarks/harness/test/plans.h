// What tests of plans have in common: plans of an operation's presets, and what is in them.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_TEST_PLANS_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_TEST_PLANS_H_

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "benchmarks/harness/plan.h"
#include "benchmarks/matmul/operation.h"
#include "benchmarks/transpose/operation.h"
#include "gtest/gtest.h"

namespace stridewise {

using Plan = std::vector<Config>;
using Texts = std::vector<std::string>;

inline const Operation* const kOperations[] = {&MatMulOperation(), &TransposeOperations()};

inline Plan PlanOf(const Operation& operation, const char* preset, const PlanFlags& flags = {}) {
  const absl::StatusOr<Preset> found = FindPreset(operation, preset);
  EXPECT_TRUE(found.ok()) << found.status();
  absl::StatusOr<Plan> plan = MakePlan(operation, *found, flags);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *std::move(plan) : Plan();
}

inline Plan Products(const char* preset, const PlanFlags& flags = {}) {
  return PlanOf(MatMulOperation(), preset, flags);
}

inline Plan Transposes(const char* preset, const PlanFlags& flags = {}) {
  return PlanOf(TransposeOperations(), preset, flags);
}

// Fails unless the default preset with these flags is refused in words that hold `words`.
inline void ExpectRefused(const Operation& operation, const PlanFlags& flags,
                          const std::string& words) {
  const absl::Status status = MakePlan(operation, operation.presets()[0], flags).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << words;
  EXPECT_TRUE(absl::StrContains(status.message(), words)) << words << ": " << status;
}

inline std::string Axes(const Config& config) { return absl::StrJoin(config.point.axes, " "); }

// "2048x2048 float 16x16", "64x64 float 16x16 x 4096" for a batch.
inline std::string Describe(const Config& config) {
  return absl::StrCat(ShapeText(config), " ", config.point.type, " ", config.block.x, "x",
                      config.block.y,
                      config.point.batch > 1 ? absl::StrCat(" x ", config.point.batch) : "");
}

// What an implementation is measured with.
inline Texts WorkOf(const Plan& plan, const std::string& implementation) {
  Texts work;
  for (const Config& config : plan) {
    if (config.implementation->name == implementation) work.push_back(Describe(config));
  }
  return work;
}

inline std::set<std::string> NamesOf(const Plan& plan) {
  std::set<std::string> names;
  for (const Config& config : plan) names.insert(config.implementation->name);
  return names;
}

// The first extents with which an implementation is measured.
inline std::set<int64_t> SizesOf(const Plan& plan, const std::string& implementation) {
  std::set<int64_t> sizes;
  for (const Config& config : plan) {
    if (config.implementation->name == implementation) sizes.insert(config.point.extents[0]);
  }
  return sizes;
}

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_TEST_PLANS_H_
