#include <string>
#include <tuple>
#include <vector>

#include "benchmarks/matmul/matmul_config.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

MatMulConfig Config(const Shape3& shape, const std::string& layout, double alpha = 1,
                    double beta = 0, int64_t batch = 1) {
  return {nullptr,
          shape,
          ElementType::kFloat,
          kNoBlock,
          {ParseLayouts("--layouts", layout)->front(), alpha, beta, batch}};
}

TEST(MatMulLayoutTest, NamesComeBack) {
  for (const char* name : {"nn", "nt", "tn", "tt", "nn_col", "nt_col", "tn_col", "tt_col"}) {
    const auto layouts = ParseLayouts("--layouts", name);
    ASSERT_TRUE(layouts.ok()) << layouts.status();
    ASSERT_EQ(layouts->size(), 1u);
    EXPECT_EQ(LayoutName(layouts->front()), name);
  }
  EXPECT_EQ(ParseLayouts("--layouts", "nn, tn_col,tt")->size(), 3u);
  for (const char* bad : {"", "n", "nx", "nnn", "col", "_col", "nn_row", "nn,,tt", "NN"}) {
    const auto layouts = ParseLayouts("--layouts", bad);
    EXPECT_EQ(layouts.status().code(), absl::StatusCode::kInvalidArgument) << bad;
    EXPECT_NE(std::string(layouts.status().message()).find("--layouts"), std::string::npos);
  }
}

TEST(ParseFactorTest, TakesNumbersThatFloatHas) {
  EXPECT_EQ(*ParseFactor("--beta", "-0.5"), -0.5);
  EXPECT_EQ(*ParseFactor("--beta", "0"), 0);
  for (const char* bad : {"", "nan", "inf", "-inf", "1e31", "one", "1,2"}) {
    EXPECT_EQ(ParseFactor("--beta", bad).status().code(), absl::StatusCode::kInvalidArgument)
        << bad;
  }
}

// Column-major matrices are row-major ones of the swapped operands.
TEST(GaplessArgsTest, HasLeadingDimensionsAndStridesOfWhatIsStored) {
  const struct {
    const char* layout;
    std::vector<int64_t> want;  // m n k, ta tb, lda ldb ldc, strides of A B C.
  } kCases[] = {
      {"nn", {2, 3, 5, 0, 0, 5, 3, 3, 10, 15, 6}},
      {"tn", {2, 3, 5, 1, 0, 2, 3, 3, 10, 15, 6}},
      {"nt", {2, 3, 5, 0, 1, 5, 5, 3, 10, 15, 6}},
      {"nn_col", {3, 2, 5, 0, 0, 5, 2, 2, 15, 10, 6}},
      {"tn_col", {3, 2, 5, 0, 1, 5, 5, 2, 15, 10, 6}},
  };
  for (const auto& c : kCases) {
    const MatMulArgs a = GaplessArgs(Config({2, 3, 5}, c.layout, 1, 0, 4));
    EXPECT_EQ(std::vector<int64_t>({a.m, a.n, a.k, a.transpose_a, a.transpose_b, a.lda, a.ldb,
                                    a.ldc, a.stride_a, a.stride_b, a.stride_c}),
              c.want)
        << c.layout;
    EXPECT_EQ(ElementsOfA(a), 4 * a.stride_a);
    EXPECT_EQ(ElementsOfB(a), 4 * a.stride_b);
    EXPECT_EQ(ElementsOfC(a), 4 * a.stride_c);
  }
}

TEST(WorkTest, CountsTheBatchAndWhatAlphaAndBetaRead) {
  const Shape3 shape = {2, 3, 5};
  EXPECT_EQ(FlopsToDo(Config(shape, "nn")), 60);
  EXPECT_EQ(FlopsToDo(Config(shape, "tn_col", 2, 3, 10)), 600);
  EXPECT_EQ(FlopsToDo(Config(shape, "nn", 0, 1)), 0);
  EXPECT_EQ(BytesToMove(Config(shape, "nn")), 4 * (10 + 15 + 6));
  EXPECT_EQ(BytesToMove(Config(shape, "nn", 1, 0.5)), 4 * (10 + 15 + 6 + 6));
  EXPECT_EQ(BytesToMove(Config(shape, "nn", 1, 0, 7)), 7 * 4 * (10 + 15 + 6));
  EXPECT_EQ(BytesToMove(Config(shape, "nn", 0, 2)), 4 * (6 + 6));
}

TEST(SetProblemTest, LeavesThePlainFormsCellsEmpty) {
  ResultRow plain;
  SetProblem(Config({2, 3, 5}, "nn"), &plain);
  for (const Column column : {Column::kLayout, Column::kAlpha, Column::kBeta, Column::kBatch}) {
    EXPECT_EQ(plain.Get(column), "");
  }
  ResultRow general;
  SetProblem(Config({2, 3, 5}, "nn_col", -2, 0.5, 7), &general);
  EXPECT_EQ(general.Get(Column::kRows), "2");  // As asked for, not as it is computed.
  EXPECT_EQ(general.Get(Column::kLayout), "nn_col");
  EXPECT_EQ(general.Get(Column::kAlpha), "-2");
  EXPECT_EQ(general.Get(Column::kBeta), "0.5");
  EXPECT_EQ(general.Get(Column::kBatch), "7");
}

}  // namespace
}  // namespace stridewise
