#include "benchmarks/harness/operation.h"

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "benchmarks/harness/test/plans.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

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
  EXPECT_EQ(MatMulOperation().FindPeer("naive"), nullptr);
}

// What makes the runner share operands between rows.
TEST(PointTest, DiffersInEachPart) {
  const Point point = MatMulOperation().UsualPoint({2, 3, 4});
  EXPECT_TRUE(point == MatMulOperation().UsualPoint({2, 3, 4}));
  EXPECT_FALSE(point == MatMulOperation().UsualPoint({2, 3, 5}));
  EXPECT_FALSE(point == (Point{point.extents, "double", 1, point.axes}));
  EXPECT_FALSE(point == (Point{point.extents, "float", 2, point.axes}));
  EXPECT_FALSE(point ==
               (Point{point.extents, "float", 1, {"nn_col", "1", "0", "asked", "fp32", "none"}}));
  EXPECT_FALSE(point == (Point{point.extents, "float", 1, {"nn", "1", "0", "no", "fp32", "none"}}));
}

// What makes a kernel run at the shape of a row that a file has.
TEST(PointTest, ComesBackFromItsRow) {
  const Point products[] = {
      MatMulOperation().UsualPoint({2, 3, 4}),
      {{5, 1, 7}, "double", 9, {"tt_col", "2", "-0.5", "no", "tf32", "bias_gelu"}}};
  for (const Point& point : products) {
    ResultRow row;
    SetProblemColumns(MatMulOperation(), point, &row);
    EXPECT_TRUE(PointOf(MatMulOperation(), row) == point);
  }
  const Point transpose = {{2147483648, 3}, "u16", 4, {}};
  ResultRow row;
  SetProblemColumns(TransposeOperations(), transpose, &row);
  EXPECT_TRUE(PointOf(TransposeOperations(), row) == transpose);
}

// What `auto` takes, as a row of it says.
TEST(OperationTest, NamesTheKernelThatAutoChooses) {
  DeviceInfo h200;
  h200.compute_major = 9;
  h200.multiprocessors = 132;
  const struct {
    const Operation* operation;
    const char* implementation;
    Point point;
    const char* want;
  } kCases[] = {
      {&MatMulOperation(), "auto", MatMulOperation().UsualPoint({64, 64, 64}), "tiny"},
      {&MatMulOperation(), "auto", MatMulOperation().UsualPoint({8192, 8192, 8192}), "ragged"},
      {&MatMulOperation(), "auto", MatMulOperation().UsualPoint({0, 64, 64}), ""},
      {&MatMulOperation(), "ragged", MatMulOperation().UsualPoint({64, 64, 64}), ""},
      {&TransposeOperations(), "auto", TransposeOperations().UsualPoint({8192, 8192}),
       "tile_vector"},
      {&TransposeOperations(), "auto", {{7, 5}, "float", 100000, {}}, "batch_small"},
      {&TransposeOperations(), "memcpy", TransposeOperations().UsualPoint({8192, 8192}), ""},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(c.operation->ChosenBy(*c.operation->Find(c.implementation), c.point, h200), c.want)
        << c.implementation << " " << absl::StrJoin(c.point.extents, "x");
  }
}

// There are tunings of two devices that differ in their memory alone.
TEST(OperationTest, WhatAutoChoosesDependsOnTheMemory) {
  DeviceInfo h200;
  h200.compute_major = 9;
  h200.multiprocessors = 132;
  h200.memory_clock_khz = 3201000;
  h200.memory_bus_bits = 6144;
  DeviceInfo h100 = h200;
  h100.memory_clock_khz = 2619000;
  h100.memory_bus_bits = 5120;
  const Operation& product = MatMulOperation();
  const Implementation& chooser = *product.Find("auto");
  int differ = 0;
  for (int64_t n = 16; n <= 2048; n += 16) {
    const Point point = product.UsualPoint({n, n, n});
    differ += product.ChosenBy(chooser, point, h200) != product.ChosenBy(chooser, point, h100);
  }
  EXPECT_GT(differ, 0);
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
