#include "benchmarks/harness/random_report.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "benchmarks/harness/random_shapes.h"
#include "benchmarks/matmul/operation.h"
#include "benchmarks/transpose/operation.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

using Rows = std::vector<ResultRow>;
using Texts = std::vector<std::string>;

// A correct row of a product of the family batched.
ResultRow Product(const char* implementation, int64_t n, double vs_cublas,
                  const char* workspace = "asked") {
  ResultRow row;
  SetProblemColumns(MatMulOperation(),
                    {{n, n, n}, "float", 3, {"tn", "1", "0", workspace, "fp32", "none"}}, &row);
  row.Set(Column::kImplementation, implementation);
  row.Set(Column::kL2, "cold");
  row.Set(Column::kShapeFamily, "batched");
  row.Set(Column::kKernelMsMedian, 1.0);
  row.Set(Column::kVsCublas, vs_cublas);
  row.Set(Column::kGitCommit, "g1");
  if (row.Get(Column::kImplementation) == "auto") row.Set(Column::kChosen, "tiny");
  row.SetStatus(RowStatus::kOk);
  return row;
}

ResultRow With(ResultRow row, Column column, const std::string& text) {
  row.Set(column, text);
  return row;
}

ResultRow Transpose(const char* implementation, int64_t rows, double vs_memcpy,
                    const char* type = "float") {
  ResultRow row;
  SetProblemColumns(TransposeOperations(), {{rows, 1000}, type, 1, {}}, &row);
  row.Set(Column::kImplementation, implementation);
  row.Set(Column::kShapeFamily, "model");
  row.Set(Column::kL2, "cold");
  row.Set(Column::kKernelMsMedian, 1.0);
  row.Set(Column::kVsMemcpy, vs_memcpy);
  row.SetStatus(RowStatus::kOk);
  return row;
}

// The records behind the header, a text each.
Texts Records(const Operation& operation, const Rows& rows) {
  Texts texts;
  for (const std::vector<std::string>& record :
       DistributionRecords(operation, operation.random_shapes(), rows)) {
    texts.push_back(absl::StrJoin(record, ","));
  }
  EXPECT_EQ(texts[0],
            "operation,family,variant,metric,count,geomean,median,p25,p5,p1,worst,worse_than_1,"
            "git_commit");
  texts.erase(texts.begin());
  return texts;
}

TEST(DistributionRecordsTest, HaveEachFamilyAndAll) {
  const Rows rows = {Product("auto", 64, 0.5), Product("auto", 65, 1.5),
                     With(Product("auto", 66, 2), Column::kShapeFamily, "model")};
  EXPECT_EQ(
      Records(MatMulOperation(), rows),
      (Texts{"matmul,batched,,vs_cublas,2,0.8660,1.0000,0.7500,0.5500,0.5100,0.5000,0.5000,g1",
             "matmul,model,,vs_cublas,1,2.0000,2.0000,2.0000,2.0000,2.0000,2.0000,0.0000,g1",
             "matmul,all,,vs_cublas,3,1.1447,1.5000,1.0000,0.6000,0.5200,0.5000,0.3333,g1"}));
  EXPECT_TRUE(Records(MatMulOperation(), {}).empty());
}

TEST(DistributionRecordsTest, LeaveOutWhatIsNoDrawnShapeOfTheChooser) {
  const Rows rows = {With(Product("auto", 64, 0.5), Column::kShapeFamily, ""),
                     Product("tiny", 64, 0.5),
                     With(Product("auto", 64, 0.5), Column::kVsCublas, ""),
                     With(Product("auto", 64, 0.5), Column::kStatus, "mismatch"),
                     Product("auto", 65, 0.25),
                     Product("auto", 65, 2)};
  EXPECT_EQ(
      Records(MatMulOperation(), rows),
      (Texts{"matmul,batched,,vs_cublas,1,2.0000,2.0000,2.0000,2.0000,2.0000,2.0000,0.0000,g1",
             "matmul,all,,vs_cublas,1,2.0000,2.0000,2.0000,2.0000,2.0000,2.0000,0.0000,g1"}))
      << "the last row of a shape counts";
}

TEST(DistributionRecordsTest, AreOfTheImplementationThatIsJudged) {
  RandomShapes random = MatMulOperation().random_shapes();
  random.chooser = "tiny";
  const Rows rows = {Product("auto", 64, 0.5), Product("tiny", 64, 2)};
  const auto records = DistributionRecords(MatMulOperation(), random, rows);
  ASSERT_EQ(records.size(), 5u);  // The header, then speed and regret of the family and of all.
  EXPECT_TRUE(absl::StartsWith(absl::StrJoin(records[3], ","), "matmul,all,,vs_cublas,1,2.0000,"));
}

// Other work in one file is another distribution.
TEST(DistributionRecordsTest, KeepVariantsApart) {
  const Rows rows = {Product("auto", 64, 1), Product("auto", 64, 0.5, "no"),
                     With(Product("auto", 64, 4), Column::kL2, "hot"),
                     With(Product("auto", 64, 8), Column::kDtype, "double")};
  const Texts records = Records(MatMulOperation(), rows);
  ASSERT_EQ(records.size(), 8u);
  EXPECT_TRUE(absl::StartsWith(records[1], "matmul,all,,vs_cublas,1,1.0000,")) << records[1];
  EXPECT_TRUE(absl::StartsWith(records[3], "matmul,all,workspace=no,vs_cublas,1,0.5000,"));
  EXPECT_TRUE(absl::StartsWith(records[5], "matmul,all,l2=hot,vs_cublas,1,4.0000,"));
  EXPECT_TRUE(absl::StartsWith(records[7], "matmul,all,dtype=double,vs_cublas,1,8.0000,"));
}

// 499 rows of 1000 floats are less than 2 MB, 500 are not. Types are drawn: they are no variants.
TEST(DistributionRecordsTest, JudgeSmallTransposesByTime) {
  const Rows rows = {Transpose("auto", 499, 0.5), Transpose("auto", 500, 0.8),
                     Transpose("auto", 100, 0.4, "float4"), Transpose("auto", 125, 0.9, "float4")};
  EXPECT_EQ(
      Records(TransposeOperations(), rows),
      (Texts{
          "transpose,model,,vs_memcpy,2,0.8485,0.8500,0.8250,0.8050,0.8010,0.8000,1.0000,",
          "transpose,all,,vs_memcpy,2,0.8485,0.8500,0.8250,0.8050,0.8010,0.8000,1.0000,",
          "transpose,model,,time_over_memcpy,2,2.2361,2.2500,2.3750,2.4750,2.4950,2.5000,1.0000,",
          "transpose,all,,time_over_memcpy,2,2.2361,2.2500,2.3750,2.4750,2.4950,2.5000,1.0000,"}));
}

// Regrets of the worst shapes alone are no distribution.
TEST(DistributionRecordsTest, HaveRegretsWhereKernelsWereMeasuredEverywhere) {
  Rows rows = {Product("auto", 64, 0.5), Product("auto", 65, 2),   Product("tiny", 64, 0.5),
               Product("thin", 64, 1),   Product("naive", 64, 99), Product("ragged", 64, 0.75)};
  EXPECT_EQ(Records(MatMulOperation(), rows).size(), 2u);
  rows.push_back(Product("tiny", 65, 2));
  const Texts records = Records(MatMulOperation(), rows);
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[3],
            "matmul,all,,regret_vs_cublas,2,1.4142,1.5000,1.7500,1.9500,1.9900,2.0000,0.5000,g1");
  rows.push_back(Product("thin", 65, 8, "no"));  // Another variant.
  EXPECT_EQ(Records(MatMulOperation(), rows)[3], records[3]);
}

TEST(RandomTextTest, ShowsTheWorstWithTheKernelThatWasChosenAndTheFastest) {
  const Rows rows = {Product("auto", 64, 0.5), Product("auto", 65, 0.4), Product("auto", 66, 0.9),
                     Product("thin", 65, 0.6), Product("tiny", 65, 0.4)};
  const std::string text =
      RandomText(MatMulOperation(), MatMulOperation().random_shapes(), rows, 2);
  for (const char* words :
       {"Random shapes, auto beside cublas:\n", "worse_than_1", "The 2 worst by vs_cublas:\n"}) {
    EXPECT_TRUE(absl::StrContains(text, words)) << words << " is not in\n" << text;
  }
  const size_t worst = text.find("65x65x65 x 3 tn");
  const size_t second = text.find("64x64x64 x 3 tn");
  ASSERT_NE(worst, std::string::npos) << text;
  ASSERT_NE(second, std::string::npos) << text;
  EXPECT_LT(worst, second);
  EXPECT_FALSE(absl::StrContains(text, "66x66x66")) << text;
  for (const char* cell : {"0.400", "tiny", "thin", "0.600", "1.500"}) {
    EXPECT_NE(text.substr(worst, second - worst).find(cell), std::string::npos) << cell << text;
  }
  EXPECT_TRUE(absl::StrContains(text.substr(second), "-")) << "nothing was measured there";
  EXPECT_FALSE(absl::StrContains(
      RandomText(MatMulOperation(), MatMulOperation().random_shapes(), rows, 0), "worst by"));
  EXPECT_EQ(RandomText(MatMulOperation(), MatMulOperation().random_shapes(), {}, 10), "");
}

TEST(RandomTextTest, SaysWhichTransposesAreSmall) {
  const std::string text =
      RandomText(TransposeOperations(), TransposeOperations().random_shapes(),
                 {Transpose("auto", 10, 0.5), Transpose("auto", 1000, 0.5)}, 10);
  for (const char* words : {"auto beside memcpy; time_over_memcpy where less than 4 MB are moved",
                            "The 1 worst by vs_memcpy:", "The 1 worst by time_over_memcpy:"}) {
    EXPECT_TRUE(absl::StrContains(text, words)) << words << " is not in\n" << text;
  }
}

TEST(RandomTextTest, NamesAllPeersOfTheHost) {
  RandomShapes random = MatMulOperation().random_shapes();
  random.rivals = {"blis", "onednn"};
  // The rivals' ratios count; 65 has none.
  const Rows rows = {With(Product("auto", 64, 1), Column::kVsCublas, ""), Product("blis", 64, 2),
                     Product("onednn", 64, 1.5), Product("auto", 65, 1)};
  const std::string text = RandomText(MatMulOperation(), random, rows, 2);
  for (const char* words :
       {"auto beside the fastest of blis, onednn:\n", "The 1 worst by vs_best:", "0.500"}) {
    EXPECT_TRUE(absl::StrContains(text, words)) << words << " is not in\n" << text;
  }
}

// Of 16 bits cuBLASLt's best is a peer, too. The regret is that of the kernels of ours.
TEST(DistributionRecordsTest, JudgeBesideAllPeers) {
  const auto bf16 = [](const char* implementation, int64_t n, double vs_cublas) {
    return With(Product(implementation, n, vs_cublas), Column::kDtype, "bf16");
  };
  const Rows rows = {bf16("auto", 64, 0.9), bf16("auto", 65, 2), bf16("auto", 66, 1.5),
                     bf16("cublaslt", 64, 1.2), bf16("cublaslt", 65, 0.5)};
  const Texts records = Records(MatMulOperation(), rows);
  ASSERT_EQ(records.size(), 4u);
  EXPECT_TRUE(absl::StartsWith(records[1], "matmul,all,dtype=bf16,vs_cublas,3,"));
  EXPECT_TRUE(absl::StartsWith(records[3], "matmul,all,dtype=bf16,vs_best,2,1.2247,"))
      << "0.9 / 1.2 and 2; where it was not measured nothing is said: " << records[3];
}

TEST(OtherPeersTest, AreMeasuredWhereTypesAreOthers) {
  const Rows rows = {Product("auto", 64, 0.5), Product("tiny", 65, 0.5),
                     With(Product("auto", 66, 0.5), Column::kDtype, "bf16")};
  const std::vector<Config> configs =
      OtherPeers(MatMulOperation(), MatMulOperation().random_shapes(), rows);
  ASSERT_EQ(configs.size(), 1u);
  EXPECT_EQ(configs[0].implementation->name, "cublaslt");
  EXPECT_EQ(configs[0].point.extents[0], 66);
  EXPECT_EQ(configs[0].point.type, "bf16");
  EXPECT_EQ(configs[0].family, "batched");
}

TEST(KernelsAtWorstTest, AreThoseThatTakeTheShape) {
  const Rows rows = {Product("auto", 64, 0.5), Product("auto", 65, 0.4, "no"),
                     Product("auto", 66, 0.3, "no")};
  const std::vector<Config> configs =
      KernelsAtWorst(MatMulOperation(), MatMulOperation().random_shapes(), rows, 1);
  std::vector<std::string> of_first;
  for (const Config& config : configs) {
    EXPECT_EQ(config.family, "batched");
    EXPECT_EQ(config.point.batch, 3);
    EXPECT_EQ(config.point.axes[0], "tn");
    const bool asked = config.point.axes[3] == "asked";
    EXPECT_EQ(config.point.extents[0], asked ? 64 : 66);  // Of each variant the worst.
    if (asked) of_first.push_back(config.implementation->name);
  }
  std::vector<std::string> of_float;
  std::vector<std::string> of_16_bits;
  for (const std::string& name : MatMulOperation().random_shapes().kernels) {
    (absl::StartsWith(name, "tensor_") ? of_16_bits : of_float).push_back(name);
  }
  EXPECT_EQ(of_first, of_float);
  EXPECT_EQ(configs.size(), 2 * of_first.size());
  const Rows bf16 = {With(Product("auto", 64, 0.5), Column::kDtype, "bf16")};
  std::vector<std::string> of_bf16;
  for (const Config& config :
       KernelsAtWorst(MatMulOperation(), MatMulOperation().random_shapes(), bf16, 1)) {
    of_bf16.push_back(config.implementation->name);
  }
  EXPECT_FALSE(of_bf16.empty());
  EXPECT_EQ(of_bf16, of_16_bits);
  EXPECT_TRUE(
      KernelsAtWorst(MatMulOperation(), MatMulOperation().random_shapes(), rows, 0).empty());
  EXPECT_TRUE(KernelsAtWorst(MatMulOperation(), MatMulOperation().random_shapes(), {}, 10).empty());

  // Those of one matrix are left out of a batch.
  ResultRow batch = With(Transpose("auto", 1000, 0.5), Column::kBatch, "7");
  for (const Config& config :
       KernelsAtWorst(TransposeOperations(), TransposeOperations().random_shapes(), {batch}, 1)) {
    EXPECT_NE(config.implementation->name, "one_line");
    EXPECT_NE(config.implementation->name, "auto");
  }
}

}  // namespace
}  // namespace stridewise
