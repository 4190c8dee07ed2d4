#include "benchmarks/profile/prediction_quality.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/measure/csv.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

TEST(RankCorrelation, FollowsFromTheOrderAlone) {
  const std::vector<double> up = {1, 2, 3, 4};
  EXPECT_DOUBLE_EQ(RankCorrelation(up, {10, 200, 201, 5000}), 1);
  EXPECT_DOUBLE_EQ(RankCorrelation(up, {4, 3, 2, -1}), -1);
  // One pair of neighbours exchanged: 1 - 6 * 2 / (4 * 15).
  EXPECT_DOUBLE_EQ(RankCorrelation(up, {2, 1, 3, 4}), 0.8);
  // Equal values have the mean of their ranks: 0, 1.5, 1.5, 3.
  EXPECT_DOUBLE_EQ(RankCorrelation({0, 5, 5, 9}, {1, 2, 2, 3}), 1);
  EXPECT_NEAR(RankCorrelation(up, {0, 5, 5, 9}), 4.5 / std::sqrt(5 * 4.5), 1e-12);
}

TEST(PredictionQuality, HasErrorsByHalfAndSteps) {
  std::vector<PredictedRow> rows;
  const auto add = [&](const std::string& half, const std::string& machine, double measured,
                       double predicted) {
    PredictedRow row;
    row.half = half, row.machine = machine, row.operation = "transpose";
    row.kernel = absl::StrCat("kernel ", rows.size());
    row.measured_ms = measured;
    row.predicted.ms = predicted;
    rows.push_back(row);
  };
  for (const double ms : {1, 2, 3, 4, 5}) add("judged", "h200", ms, ms * (1 + ms / 10));
  add("document", "gtx770m", 1, 2);
  add("document", "gtx770m", 2, 4);  // Both twice: the step is predicted as it is.
  const std::string path = absl::StrCat(testing::TempDir(), "/quality.csv");
  ASSERT_TRUE(WritePredictionQuality(path, rows).ok());
  const auto table = ReadCsv(path);
  ASSERT_TRUE(table.ok()) << table.status();
  std::vector<std::string> lines;
  for (const std::vector<std::string>& row : table->rows) {
    lines.push_back(absl::StrCat(row[0], ",", row[1], ",", row[2], ",", row[3], ",", row[4], ",",
                                 row[7], ",", row[8]));
  }
  EXPECT_EQ(lines, std::vector<std::string>({
                       "judged,all,error %,5,30,50,60",
                       "judged,transpose,error %,5,30,50,60",
                       "document,all,error %,2,100,100,0",
                       "document,transpose,error %,2,100,100,0",
                       "all,transpose,rank correlation,1,1,1,100",
                       "judged,transpose,rank correlation,1,1,1,100",
                       "documents,transpose,error of a step %,1,0,0,100",
                       "gtx770m,transpose,error of a step %,1,0,0,100",
                   }));
}

}  // namespace
}  // namespace stridewise
