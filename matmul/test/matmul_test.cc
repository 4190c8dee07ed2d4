// The library call where no GPU is needed: what it refuses, and what it makes of column-major
// matrices.

#include "matmul/matmul.h"

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/gpu/gpu_runtime.h"
#include "gtest/gtest.h"
#include "matmul/registry.h"
#include "matmul/row_major.h"

namespace stridewise {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

template <typename T>
T* At(uintptr_t address) {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

// A call that is right, of op(A) 7 x 3 and op(B) 3 x 5, three of them. It looks at addresses alone,
// and these are nobody's.
MatMulProblem Right(MatrixLayout layout) {
  const bool by_rows = layout == MatrixLayout::kRowMajor;
  MatMulProblem problem;
  problem.m = 7;
  problem.n = 5;
  problem.k = 3;
  problem.a = {At<float>(0x100000), by_rows ? 3 : 7};
  problem.b = {At<float>(0x200000), by_rows ? 5 : 3};
  problem.c = {At<float>(0x300000), by_rows ? 5 : 7};
  problem.layout = layout;
  problem.batch = 3;
  problem.a.stride = 21;
  problem.b.stride = 15;
  problem.c.stride = 35;
  return problem;
}

struct Refusal {
  std::string says;
  void (*spoil)(MatMulProblem& problem);
};

void ExpectRefusals(MatrixLayout layout, const std::vector<Refusal>& refusals) {
  for (const Refusal& refusal : refusals) {
    MatMulProblem problem = Right(layout);
    refusal.spoil(problem);
    const absl::Status status = MatMul(problem, nullptr);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << refusal.says << ": " << status;
    EXPECT_EQ(std::string(status.message()).rfind(refusal.says, 0), 0u)
        << refusal.says << ": " << status;
  }
}

// In both layouts the message names what the caller passed.
TEST(MatMul, RefusesByName) {
  for (const MatrixLayout layout : {MatrixLayout::kRowMajor, MatrixLayout::kColumnMajor}) {
    SCOPED_TRACE(layout == MatrixLayout::kRowMajor ? "row-major" : "column-major");
    ExpectRefusals(
        layout,
        {
            {"m is -1; allowed is 0", [](MatMulProblem& p) { p.m = -1; }},
            {"n is -1; allowed is 0", [](MatMulProblem& p) { p.n = -1; }},
            {"k is -1; allowed is 0", [](MatMulProblem& p) { p.k = -1; }},
            {"batch is -1; allowed is 0", [](MatMulProblem& p) { p.batch = -1; }},
            {"k is 2147483648; allowed is at most 2147483647",
             [](MatMulProblem& p) { p.k = p.a.ld = p.b.ld = int64_t{1} << 31; }},
            {"lda is 2; allowed is ", [](MatMulProblem& p) { p.a.ld = 2; }},
            {"ldb is 2; allowed is ", [](MatMulProblem& p) { p.b.ld = 2; }},
            {"ldc is 4; allowed is ", [](MatMulProblem& p) { p.c.ld = 4; }},
            {"stride_a is -1; allowed is 0", [](MatMulProblem& p) { p.a.stride = -1; }},
            {"stride_b is -1; allowed is 0", [](MatMulProblem& p) { p.b.stride = -1; }},
            {"stride_c is 34; allowed is 35", [](MatMulProblem& p) { p.c.stride = 34; }},
            {"a has lda ", [](MatMulProblem& p) { p.a.stride = kMax; }},
            {"b has ldb ", [](MatMulProblem& p) { p.b.stride = kMax; }},
            {"c has ldc ", [](MatMulProblem& p) { p.c.stride = kMax; }},
            {"a is null; allowed only when it has no elements, and it has 21",
             [](MatMulProblem& p) { p.a.data = nullptr; }},
            {"b is null; allowed only when it has no elements, and it has 15",
             [](MatMulProblem& p) { p.b.data = nullptr; }},
            {"c is null; allowed only when it has no elements, and it has 35",
             [](MatMulProblem& p) { p.c.data = nullptr; }},
            {"a is not a multiple of 4", [](MatMulProblem& p) { p.a.data = At<float>(0x100002); }},
            {"b is not a multiple of 4", [](MatMulProblem& p) { p.b.data = At<float>(0x100002); }},
            {"c is not a multiple of 4", [](MatMulProblem& p) { p.c.data = At<float>(0x100002); }},
            {"a has elements of type double; allowed is float",
             [](MatMulProblem& p) { p.a.type = ElementType::kDouble; }},
            {"b has elements of type double; allowed is float",
             [](MatMulProblem& p) { p.b.type = ElementType::kDouble; }},
            {"c has elements of type fp16; allowed is float",
             [](MatMulProblem& p) { p.c.type = ElementType::kFp16; }},
            {"precision is fp16_sums; allowed is fp32 or fp32_split or tf32 or fp32_split_int8 or "
             "fp32_medium or bf16 or fp16 beside elements of type float",
             [](MatMulProblem& p) { p.precision = MatMulPrecision::kFp16Sums; }},
            {"precision is fast_sums; allowed is fp32 or fp16_sums beside elements of type fp16",
             [](MatMulProblem& p) {
               p.a.type = p.b.type = p.c.type = ElementType::kFp16;
               p.precision = MatMulPrecision::kFastSums;
             }},
            {"precision is tf32; allowed is fp32 or fast_sums beside elements of type e4m3",
             [](MatMulProblem& p) {
               p.a.type = p.b.type = ElementType::kE4m3;
               p.precision = MatMulPrecision::kTf32;
             }},
            {"precision is fp16_sums; allowed is fp32 beside elements of type bf16",
             [](MatMulProblem& p) {
               p.a.type = p.b.type = p.c.type = ElementType::kBf16;
               p.precision = MatMulPrecision::kFp16Sums;
             }},
            {"workspace_bytes is -1", [](MatMulProblem& p) { p.workspace_bytes = -1; }},
            {"workspace is null", [](MatMulProblem& p) { p.workspace_bytes = 64; }},
            {"workspace is not a multiple of 16",
             [](MatMulProblem& p) { p.workspace = At<void>(0x400008); }},
        });
  }
}

// The shortest leading dimensions: rows by rows, columns by columns.
TEST(MatMul, LeadingDimensionsStepOverRowsOrColumns) {
  ExpectRefusals(MatrixLayout::kRowMajor,
                 {
                     {"lda is 2; allowed is 3", [](MatMulProblem& p) { p.a.ld = 2; }},
                     {"ldb is 4; allowed is 5", [](MatMulProblem& p) { p.b.ld = 4; }},
                     {"ldc is 4; allowed is 5", [](MatMulProblem& p) { p.c.ld = 4; }},
                     {"lda is 3; allowed is 7", [](MatMulProblem& p) { p.a.transposed = true; }},
                 });
  ExpectRefusals(MatrixLayout::kColumnMajor,
                 {
                     {"lda is 6; allowed is 7", [](MatMulProblem& p) { p.a.ld = 6; }},
                     {"ldb is 2; allowed is 3", [](MatMulProblem& p) { p.b.ld = 2; }},
                     {"ldc is 6; allowed is 7", [](MatMulProblem& p) { p.c.ld = 6; }},
                     {"ldb is 3; allowed is 5", [](MatMulProblem& p) { p.b.transposed = true; }},
                 });
}

bool IsBuiltIn() { return FindMatMulImplementation("auto")->is_built_in; }

// No elements: nothing to point to, and nothing launched.
TEST(MatMul, NoElementsNeedNoMemory) {
  const struct { int64_t m, n, batch; } cases[] = {{0, 5, 1}, {7, 0, 1}, {0, 0, 3}, {7, 5, 0}};
  for (const auto& c : cases) {
    MatMulProblem problem;
    problem.m = c.m;
    problem.n = c.n;
    problem.batch = c.batch;
    problem.a.ld = 0;
    problem.b.ld = problem.c.ld = c.n;
    EXPECT_EQ(MatMulWorkspaceBytes(problem), 0);
    const absl::Status status = MatMul(problem, nullptr);
    EXPECT_EQ(status.code(), IsBuiltIn() ? absl::StatusCode::kOk : absl::StatusCode::kUnavailable)
        << c.m << "x" << c.n << ", batch of " << c.batch << ": " << status;
  }
}

TEST(MatMul, SaysWhereThereIsNoDeviceCode) {
  if (IsBuiltIn()) GTEST_SKIP() << "built with device code";
  EXPECT_EQ(MatMul(Right(MatrixLayout::kRowMajor), nullptr).code(), absl::StatusCode::kUnavailable);
}

// A device that is not there is refused by its number, the current one is always there.
TEST(MatMul, RunsOnTheDeviceThatIsAskedFor) {
  const auto count = gpu::DeviceCount();
  if (!count.ok()) GTEST_SKIP() << count.status();
  MatMulProblem problem = Right(MatrixLayout::kRowMajor);
  for (const int device : {*count, -2}) {
    problem.device = device;
    const absl::Status status = MatMul(problem, nullptr);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_EQ(std::string(status.message()).rfind(absl::StrCat("device is ", device), 0), 0u)
        << status;
    EXPECT_EQ(MatMulWorkspaceBytes(problem), 0);
  }
  problem.m = 0;  // Nothing to do.
  for (const int device : {kCurrentDevice, 0, *count - 1}) {
    problem.device = device;
    EXPECT_TRUE(MatMul(problem, nullptr).ok()) << device;
    EXPECT_EQ(*gpu::CurrentDevice(), 0) << device;
  }
}

// Returns the offset of an element in a matrix as its caller stored it.
int64_t Offset(MatrixLayout layout, int64_t ld, int64_t row, int64_t col) {
  return layout == MatrixLayout::kRowMajor ? row * ld + col : col * ld + row;
}

// The definition in both layouts, on small whole numbers, which are exact in any order of
// operations. Leading dimensions and strides are all different, so that none can stand in for
// another.
TEST(RowMajorArgs, IsTheSameProduct) {
  constexpr int64_t kM = 4, kN = 3, kK = 5, kBatch = 2;
  for (const MatrixLayout layout : {MatrixLayout::kRowMajor, MatrixLayout::kColumnMajor}) {
    for (const int ops : {0, 1, 2, 3}) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(layout) << ", operands " << ops);
      std::vector<float> a(200), b(200), c(200), want(200);
      for (int i = 0; i < 200; ++i) {
        a[i] = static_cast<float>(i % 7 - 3);
        b[i] = static_cast<float>(i % 11 - 5);
        c[i] = want[i] = static_cast<float>(i % 5);
      }
      MatMulProblem problem;
      problem.m = kM;
      problem.n = kN;
      problem.k = kK;
      problem.a = {a.data(), 6};
      problem.b = {b.data(), 7};
      problem.c = {c.data(), 8};
      problem.a.transposed = (ops & 1) != 0;
      problem.b.transposed = (ops & 2) != 0;
      problem.alpha = 2;
      problem.beta = -3;
      problem.layout = layout;
      problem.batch = kBatch;
      problem.a.stride = 70;
      problem.b.stride = 80;
      problem.c.stride = 90;
      for (int64_t i = 0; i < kBatch; ++i) {
        for (int64_t row = 0; row < kM; ++row) {
          for (int64_t col = 0; col < kN; ++col) {
            float sum = 0;
            for (int64_t i_k = 0; i_k < kK; ++i_k) {
              const int64_t in_a =
                  problem.a.transposed ? Offset(layout, 6, i_k, row) : Offset(layout, 6, row, i_k);
              const int64_t in_b =
                  problem.b.transposed ? Offset(layout, 7, col, i_k) : Offset(layout, 7, i_k, col);
              sum += a[i * 70 + in_a] * b[i * 80 + in_b];
            }
            float& result = want[i * 90 + Offset(layout, 8, row, col)];
            result = 2 * sum - 3 * result;
          }
        }
      }
      const absl::Status status =
          RunMatMul(*FindMatMulImplementation("cpu_naive"), RowMajorArgs(problem));
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_EQ(c, want);
    }
  }
}

TEST(RowMajorArgs, PassesTheWorkspaceOn) {
  MatMulProblem problem = Right(MatrixLayout::kColumnMajor);
  problem.workspace = At<void>(0x400000);
  problem.workspace_bytes = 64;
  EXPECT_EQ(RowMajorArgs(problem).workspace, problem.workspace);
  EXPECT_EQ(RowMajorArgs(problem).workspace_bytes, 64);
}

// The vendor has no algorithms for others; what it would say names no argument.
TEST(CublasLtTest, RefusesEightBitOperandsThatAreNotAlongK) {
  const MatMulImplementation& cublas_lt = *FindMatMulImplementation("cublaslt");
  if (cublas_lt.run == nullptr) GTEST_SKIP() << "built without a CUDA toolkit";
  MatMulArgs args;
  args.m = args.n = args.k = 16;
  args.a = {At<void>(0x100000), 16, ElementType::kE4m3};
  args.b = {At<void>(0x200000), 16, ElementType::kE4m3};
  args.c.data = At<void>(0x300000);
  args.c.ld = 16;
  args.cublas = At<std::remove_pointer_t<cublasHandle_t>>(0x400000);
  EXPECT_EQ(RunMatMul(cublas_lt, args).message(),
            "cublaslt: transpose_b is false; allowed is true beside elements of type e4m3");
  args.a.transposed = args.b.transposed = true;
  EXPECT_EQ(RunMatMul(cublas_lt, args).message(),
            "cublaslt: transpose_a is true; allowed is false beside elements of type e4m3");
}

}  // namespace
}  // namespace stridewise
