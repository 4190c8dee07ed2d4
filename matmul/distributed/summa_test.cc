#include "matmul/distributed/summa.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "common/distributed/local_ranks.h"
#include "common/verify/fill.h"
#include "gtest/gtest.h"
#include "matmul/distributed/filled_part.h"
#include "matmul/distributed/filled_product.h"
#include "matmul/distributed/verify.h"
#include "matmul/on_host.h"

namespace stridewise {
namespace {

constexpr double kSeconds = 20;
constexpr uint64_t kSeed = 7;

enum class Mutation { kNone, kEntry, kSmall, kNaN, kSign };

// Runs the case on all ranks, compares each entry with its definition, and returns what
// VerifyProduct() says after the mutation.
template <typename T>
std::vector<absl::Status> RunCase(const SummaCase& c, Mutation mutation) {
  return RunLocalRanks(c.grid.size(), kSeconds, [&](TcpCommunicator* ranks) -> absl::Status {
    const int rank = ranks->rank();
    FilledProduct<T> filled(c, rank, kSeed);
    const SummaProblem<T>& problem = filled.problem;
    const absl::Status status = Summa(problem, MatMulOnHost, ranks);
    if (!status.ok()) return status;
    for (int64_t i = 0; i < filled.after.view.rows; ++i) {
      const int64_t row = problem.c_layout.GlobalRow(rank, i);
      for (int64_t j = 0; j < filled.after.view.cols; ++j) {
        const int64_t col = problem.c_layout.GlobalCol(rank, j);
        double want = 0;
        for (int64_t k = 0; k < c.k; ++k) {
          want +=
              UniformAt<double>(kSeed, row * c.k + k) * UniformAt<double>(kSeed + 1, k * c.n + col);
        }
        want *= c.alpha;
        if (c.beta != 0) want += c.beta * filled.before.view(i, j);
        const double bound = (c.k + 2) * (c.k + 2) * (sizeof(T) == 4 ? 0x1p-24 : 0x1p-52);
        EXPECT_NEAR(filled.after.view(i, j), want, bound) << row << ", " << col;
      }
    }
    if (rank == c.grid.size() - 1 && filled.after.view.rows > 0 && filled.after.view.cols > 0) {
      T& entry = filled.after.view(filled.after.view.rows - 1, 0);
      if (mutation == Mutation::kEntry) entry += static_cast<T>(0.01);
      if (mutation == Mutation::kSmall) entry += static_cast<T>(4e-4);
      if (mutation == Mutation::kNaN) entry = NAN;
      if (mutation == Mutation::kSign) entry = -entry;
    }
    return VerifyProduct(problem, ConstMatrix<T>(filled.before.view), kSeed + 9, ranks);
  });
}

const SummaCase kCases[] = {
    {0, 0, 0, 1, 1, 1, {2, 2}},
    {0, 5, 3, 2, 2, 2, {2, 2}},
    {5, 0, 3, 2, 2, 2, {1, 4}},
    {5, 7, 0, 2, 2, 2, {2, 2}, 1, 0},
    {5, 7, 0, 2, 2, 2, {2, 2}, 1, 0.5},
    {1, 1, 1, 4, 4, 4, {2, 2}},
    {1, 13, 31, 2, 3, 4, {4, 1}},
    {13, 1, 31, 2, 3, 4, {1, 4}},
    {37, 41, 43, 5, 3, 7, {2, 2}, 1.5, -0.5},
    {37, 41, 43, 5, 3, 7, {1, 4}, 1.5, -0.5},
    {37, 41, 43, 5, 3, 7, {4, 1}, 1.5, -0.5},
    {37, 41, 43, 64, 64, 64, {2, 2}},  // All on rank 0.
    {64, 48, 80, 16, 16, 16, {2, 3}, 2, 1},
};

TEST(SummaTest, IsTheProductAndPassesItsCheck) {
  for (const SummaCase& c : kCases) {
    SCOPED_TRACE(testing::Message() << c);
    for (const absl::Status& s : RunCase<float>(c, Mutation::kNone)) EXPECT_TRUE(s.ok()) << s;
    for (const absl::Status& s : RunCase<double>(c, Mutation::kNone)) EXPECT_TRUE(s.ok()) << s;
  }
}

TEST(SummaTest, TheCheckFindsOneWrongEntryOnAllRanks) {
  const SummaCase kCase = {37, 41, 43, 5, 3, 7, {2, 2}, 1.5, -0.5};
  for (const Mutation mutation : {Mutation::kEntry, Mutation::kNaN, Mutation::kSign}) {
    for (const absl::Status& status : RunCase<float>(kCase, mutation)) {
      EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    }
    for (const absl::Status& status : RunCase<double>(kCase, mutation)) {
      EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    }
  }
}

// Of the row's 300 entries the sums are 22500, of whose rounding an error of this size is a third.
TEST(SummaTest, TheCheckFindsASmallErrorOfACorner) {
  for (const SummaCase& c :
       {SummaCase{8, 300, 300, 2, 300, 40, {4, 1}}, {8, 300, 300, 8, 300, 300, {1, 1}}}) {
    for (const absl::Status& status : RunCase<float>(c, Mutation::kNone)) EXPECT_TRUE(status.ok());
    for (const absl::Status& status : RunCase<float>(c, Mutation::kSmall)) {
      EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
      EXPECT_EQ(status.message().find("C(7, 0) is "), 0u) << status;
    }
  }
}

TEST(SummaTest, RefusesLayoutsThatDoNotFit) {
  RunLocalRanks(1, kSeconds, [](TcpCommunicator* ranks) {
    const BlockCyclicLayout good = *BlockCyclicLayout::Create(4, 4, 2, 2, {1, 1});
    const FilledPart<float> part(good, 0, kSeed);
    const auto refuses = [&](const char* name, auto change) {
      SummaProblem<float> problem = {good, good, good, part.view, part.view, part.view};
      change(&problem);
      const absl::Status status = Summa(problem, MatMulOnHost, ranks);
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name;
      EXPECT_EQ(status.message().find(name), 0u) << status;
    };
    refuses("a: a grid", [](auto* p) { p->a_layout.grid = {2, 2}; });
    refuses("b: a part", [](auto* p) { p->b.rows = 3; });
    refuses("c: a part", [](auto* p) { p->c.ld = 3; });
    refuses("a: its rows", [](auto* p) { p->a_layout.rows.block = 1; });
    refuses("b: its columns", [](auto* p) { p->b_layout.cols.block = 1; });
    refuses("b: its rows", [](auto* p) { p->b_layout.rows.block = 1; });
    return absl::OkStatus();
  });
}

}  // namespace
}  // namespace stridewise
