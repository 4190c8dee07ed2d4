#include "benchmarks/profile/ncu_output.h"

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "benchmarks/profile/ncu_output_samples.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

TEST(NcuOutputTest, ThousandsSeparatorsAndNamesWithCommas) {
  const absl::StatusOr<std::vector<NcuLaunch>> launches = ParseNcuOutput(
      absl::StrCat(kNcuBefore, kNcuHeader,
                   NcuRows(0, "Copy(Matrix<int, 1>, long)", {{"some.sum", "33,629,440"}})));
  ASSERT_TRUE(launches.ok()) << launches.status();
  ASSERT_EQ(launches->size(), 1u);
  EXPECT_EQ(launches->front().kernel, "Copy(Matrix<int, 1>, long)");
  EXPECT_EQ(launches->front().metrics.at("some.sum"), 33629440);
}

TEST(NcuOutputTest, LinesAroundTheTableAndCarriageReturns) {
  const std::string text = absl::StrCat(
      kNcuBefore, "\"a quoted line of the program\n", kNcuHeader,
      NcuRows(0, "NaiveRow", {{"some.sum", "32,768"}, {"more.sum", "25.5"}}),
      NcuRows(1, "Tile", {{"some.sum", "7"}}), "==WARNING== Note this.\n", "the program ends\n");
  for (const std::string& output : {text, absl::StrReplaceAll(text, {{"\n", "\r\n"}})}) {
    const absl::StatusOr<std::vector<NcuLaunch>> launches = ParseNcuOutput(output);
    ASSERT_TRUE(launches.ok()) << launches.status();
    ASSERT_EQ(launches->size(), 2u);
    EXPECT_EQ(launches->front().metrics,
              (std::map<std::string, double>{{"some.sum", 32768}, {"more.sum", 25.5}}));
    EXPECT_EQ(launches->back().kernel, "Tile");
  }
}

TEST(NcuOutputTest, ErrorsSayWhatNcuSaid) {
  const struct {
    std::string output;
    absl::StatusCode code;
    std::string words;
  } kCases[] = {
      {"==PROF== Connected to process 1 (/x)\n==ERROR== ERR_NVGPUCTRPERM - The user does not have "
       "permission to access NVIDIA GPU Performance Counters on the target device 0.\n",
       absl::StatusCode::kInvalidArgument, "NVreg_RestrictProfilingToAdminUsers=0"},
      {"==ERROR== Failed to find metric foo.sum\n", absl::StatusCode::kInternal,
       "ncu: Failed to find metric foo.sum"},
      {"==PROF== Connected to process 1 (/x)\n==WARNING== No kernels were profiled.\n",
       absl::StatusCode::kInternal, "ncu: No kernels were profiled."},
      {"", absl::StatusCode::kInternal, "no table"},
      {kNcuHeader, absl::StatusCode::kInternal, "no rows"},
      {"\"ID\",\"Metric Name\"\n\"0\",\"x\"\n", absl::StatusCode::kInternal, "Kernel Name"},
      {absl::StrCat(kNcuHeader, "\"0\",\"cut of"), absl::StatusCode::kInternal, "line 2"},
  };
  for (const auto& c : kCases) {
    const absl::Status status = ParseNcuOutput(c.output).status();
    EXPECT_EQ(status.code(), c.code) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), c.words)) << status;
    EXPECT_FALSE(absl::StrContains(status.message(), "\n")) << status;
  }
}

}  // namespace
}  // namespace stridewise
