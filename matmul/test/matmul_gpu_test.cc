// Every device implementation on a GPU: the cases that all share, and those that only a GPU is fast
// enough for.

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "common/gpu/cublas_handle.h"
#include "common/gpu/device.h"
#include "gtest/gtest.h"
#include "matmul/reference.h"
#include "matmul/registry.h"
#include "matmul/test/device_implementation_test.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_test_problem.h"
#include "matmul/test/random_cases.h"
#include "matmul/test/spoilt_problem.h"

namespace stridewise {
namespace {

// Those on the device to which it applies: a test that does not apply is not there, and one that is
// skipped says that there was no device for it.
template <typename Applies>
auto DeviceImplementations(Applies applies) {
  std::vector<std::string> names;
  for (const MatMulImplementation& implementation : MatMulImplementations()) {
    if (implementation.target.where == Where::kDevice && applies(implementation)) {
      names.push_back(implementation.name);
    }
  }
  return testing::ValuesIn(names);
}

bool TakesFp32(const MatMulImplementation& implementation) {
  return TakesType(implementation, ElementType::kFloat) &&
         TakesPrecision(implementation, MatMulPrecision::kFp32);
}

std::string Name(const testing::TestParamInfo<std::string>& info) { return info.param; }

class MatMulGpuTest : public DeviceImplementationTest {
 protected:
  // cuBLAS rounds a product to a C of 16 bits before it adds beta * C or a bias, and its GELU is
  // less exact than FP32: neither keeps our bounds. It has no GELU by erf.
  template <typename Out>
  bool VendorRoundsTwice(const MatMulCase& c) const {
    return implementation_->needs_cublas &&
           (c.activation == Activation::kGelu || c.activation == Activation::kGeluErf ||
            (sizeof(Out) < sizeof(float) && (c.beta != 0 || c.bias)));
  }

  template <typename T, typename Out = T>
  void RunCase(const MatMulCase& c, const Block& block = kNoBlock) {
    if (VendorRoundsTwice<Out>(c)) return;
    MatMulTestProblem<T, Out> problem(c);
    const absl::Status status = RunOnDevice(&problem, /*with_workspace=*/false, block);
    ASSERT_TRUE(status.ok()) << c << ": " << status;
    // A large reference takes seconds on the host.
    constexpr int64_t kMostOnHost = int64_t{1} << 26;
    const absl::Status check =
        problem.Check(c.m * c.n * c.k * c.batch > kMostOnHost ? cublas() : nullptr);
    ASSERT_TRUE(check.ok()) << c << ": " << check;
  }
};

TEST_P(MatMulGpuTest, Float) {
  for (const MatMulCase& c : MatMulCasesFor(*implementation_, /*all=*/true)) RunCase<float>(c);
}

// Precisions of float other than FP32, with the general form where the entry takes it.
class MatMulPrecisionGpuTest : public MatMulGpuTest {};

TEST_P(MatMulPrecisionGpuTest, Float) {
  for (const MatMulPrecision precision : implementation_->precisions) {
    if (precision == MatMulPrecision::kFp32) continue;
    if (!IsPrecisionOf(precision, ElementType::kFloat)) continue;
    std::vector<MatMulCase> cases = MatMulCasesFor(*implementation_, /*all=*/true);
    cases.push_back({300, 520, 1200, 0});
    cases.push_back({300, 521, 1201, 0});
    // So many matrices of short strips that none is divided among blocks (split_strip.h).
    for (const int ops : {0, 1, 2, 3}) {
      if (!implementation_->general) break;
      for (const int64_t k : {4, 37, 84, 131, 300}) {
        const MatMulCase many = {45, 71, k, 1, (ops & 1) != 0, (ops & 2) != 0, 1, 0, 280, 1};
        cases.push_back(many);
      }
    }
    for (const MatMulCase& c : InPrecision(cases, precision)) RunCase<float>(c);
  }
}

// Bias and activation, in the types that the entry takes.
class MatMulEpilogueGpuTest : public MatMulGpuTest {};

TEST_P(MatMulEpilogueGpuTest, EveryEpilogue) {
  for (const MatMulCase& c : EpilogueMatMulCases()) {
    if (TakesType(*implementation_, ElementType::kFloat)) {
      RunCase<float>(InPrecision({c}, implementation_->precisions[0])[0]);
    }
    if (TakesType(*implementation_, ElementType::kBf16)) RunCase<Bf16>(c);
    if (TakesType(*implementation_, ElementType::kFp16)) RunCase<Fp16>(c);
  }
}

class MatMulDoubleGpuTest : public MatMulGpuTest {};

TEST_P(MatMulDoubleGpuTest, Double) {
  for (const MatMulCase& c : MatMulCasesFor(*implementation_, /*all=*/true)) RunCase<double>(c);
}

// 16-bit operands with sums in FP32, and C of either type.
class MatMul16BitGpuTest : public MatMulGpuTest {
 protected:
  template <typename T>
  void RunCases() {
    std::vector<MatMulCase> cases = MatMulCasesFor(*implementation_, /*all=*/true);
    // More than one tile of 128x256 for each of an H200's 132 multiprocessors, and tiles cut on all
    // sides, with rows that the TMA can address.
    cases.push_back({2056, 2312, 136, 0});
    for (const int ops : {0, 1, 2, 3}) {
      if (!implementation_->general) break;
      MatMulCase large = {2056, 2312, 136, 0};
      large.transpose_a = (ops & 1) != 0;
      large.transpose_b = (ops & 2) != 0;
      cases.push_back(large);
      large.m = large.n = 136;
      large.k = 1032;
      large.batch = 3;
      large.alpha = -0.5;
      large.beta = ops % 2 == 0 ? 0 : 2;
      cases.push_back(large);
    }
    constexpr ElementType kType = kElementTypeOf<T>;
    const bool takes_own = TakesTypes(kType, kType);
    const bool takes_float = TakesTypes(kType, ElementType::kFloat);
    if (!takes_own && !takes_float) GTEST_SKIP() << "does not take the type";
    for (const MatMulCase& c : cases) {
      if (takes_own) RunCase<T>(c);
      if (takes_float) RunCase<T, float>(c);
    }
  }
};

TEST_P(MatMul16BitGpuTest, Bf16) { RunCases<Bf16>(); }
TEST_P(MatMul16BitGpuTest, Fp16) { RunCases<Fp16>(); }

// More rows of blocks than grid.y holds, with any block up to 32 rows.
TEST_P(MatMulGpuTest, MoreRowsThanAGridHolds) { RunCase<float>({65535 * 32 + 33, 2, 3, 1}); }

TEST_P(MatMulGpuTest, EveryBlockShape) {
  if (implementation_->blocks == Blocks::kFixed) {
    MatMulTestProblem<float> problem({5, 5, 5, 0});
    EXPECT_EQ(RunOnDevice(&problem, false, {3, 7}).code(), absl::StatusCode::kInvalidArgument);
    return;
  }
  for (const Block& block : {Block{1, 1}, Block{32, 1}, Block{1, 32}, Block{256, 1}, Block{8, 8},
                             Block{3, 7}, Block{32, 32}, Block{1, 1024}, Block{1024, 1}}) {
    RunCase<float>({67, 71, 19, 2}, block);
  }
  MatMulTestProblem<float> problem({5, 5, 5, 0});
  EXPECT_EQ(RunOnDevice(&problem, false, {64, 32}).code(), absl::StatusCode::kInvalidArgument);
  RunCase<float>({5, 5, 5, 0});  // And the device is none the worse for it.
}

// Large enough that packing operands pays (operand_packing.h), cut tiles and steps that end within
// a tile: for those that the host executor cannot test at leisure.
class MatMulPackingGpuTest : public MatMulGpuTest {};

TEST_P(MatMulPackingGpuTest, OperandsWorthPacking) {
  for (MatMulCase c : {MatMulCase{1901, 1900, 40, 0}, MatMulCase{1901, 1903, 71, 1},
                       MatMulCase{1200, 1000, 520, 0}}) {
    for (const int ops : {0, 1, 2, 3}) {
      c.transpose_a = (ops & 1) != 0;
      c.transpose_b = (ops & 2) != 0;
      RunCase<float>(c);
      MatMulCase general = c;
      general.alpha = -0.5;
      general.beta = 2;
      general.offset_a = general.offset_b = general.offset_c = 1;
      RunCase<float>(general);
    }
  }
}

// Random calls of what the host executor cannot run, without a workspace.
TEST_P(MatMulPackingGpuTest, RandomCalls) {
  constexpr uint64_t kSeed = 20261124;
  for (int64_t number = 0; number < 400; ++number) {
    RunCase<float>(RandomMatMulCase(kSeed, number, {}));
    if (HasFatalFailure()) return;
  }
}

// Without a workspace, tiles are split among clusters (cluster_split.h): tiles for a cluster each,
// tiles that are begun by one and ended by another, and rounds of whole tiles beside them.
class MatMulSplitGpuTest : public MatMulGpuTest {};

TEST_P(MatMulSplitGpuTest, NoWorkspace) {
  for (MatMulCase c :
       {MatMulCase{33, 65, 9000, 0}, MatMulCase{500, 300, 2111, 1}, MatMulCase{900, 1000, 1500, 0},
        MatMulCase{2304, 2304, 300, 0}, MatMulCase{260, 700, 1300, 1, false, false, 1, 0, 3}}) {
    for (const int ops : {0, 1, 2, 3}) {
      c.transpose_a = (ops & 1) != 0;
      c.transpose_b = (ops & 2) != 0;
      MatMulCase general = c;
      general.alpha = -0.5;
      general.beta = 2;
      general.offset_a = general.offset_b = general.offset_c = 1;
      for (const MatMulCase& one : {c, general}) {
        MatMulTestProblem<float> first(one);
        MatMulTestProblem<float> second(one);
        ASSERT_TRUE(RunOnDevice(&first).ok()) << one;
        ASSERT_TRUE(RunOnDevice(&second).ok()) << one;
        const absl::Status status = first.Check(cublas());
        ASSERT_TRUE(status.ok()) << one << ": " << status;
        ASSERT_EQ(std::memcmp(first.c_with_guards().data(), second.c_with_guards().data(),
                              first.c_with_guards().size() * sizeof(float)),
                  0)
            << one;
      }
    }
  }
}

// A NaN, or an infinity, in A spoils its row of C, in B its column, and nothing else: zero padding
// must not meet it.
TEST_P(MatMulGpuTest, NanAndInfinityStayInTheirRowAndColumn) {
  for (const MatMulCase& c : SpoiltMatMulCases(*implementation_)) {
    for (const float value : {NAN, INFINITY}) {
      for (const bool in_a : {true, false}) {
        MatMulTestProblem<float> problem(c);
        Spoil(value, in_a, &problem);
        ASSERT_TRUE(RunOnDevice(&problem).ok()) << c;
        ASSERT_TRUE(CheckSpoilt(in_a, problem).ok())
            << c << ", " << value << " in " << (in_a ? "A: " : "B: ") << CheckSpoilt(in_a, problem);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MatMulGpuTest,
                         DeviceImplementations([](const auto& i) { return TakesFp32(i); }), Name);
INSTANTIATE_TEST_SUITE_P(All, MatMulPrecisionGpuTest, DeviceImplementations([](const auto& i) {
                           return TakesType(i, ElementType::kFloat) &&
                                  (i.precisions.size() > 1 ||
                                   !TakesPrecision(i, MatMulPrecision::kFp32));
                         }),
                         Name);
INSTANTIATE_TEST_SUITE_P(All, MatMulEpilogueGpuTest,
                         DeviceImplementations([](const auto& i) { return i.takes_epilogue; }),
                         Name);
INSTANTIATE_TEST_SUITE_P(All, MatMul16BitGpuTest, DeviceImplementations([](const auto& i) {
                           return TakesType(i, ElementType::kBf16);
                         }),
                         Name);
INSTANTIATE_TEST_SUITE_P(All, MatMulDoubleGpuTest, DeviceImplementations([](const auto& i) {
                           return TakesType(i, ElementType::kDouble);
                         }),
                         Name);
INSTANTIATE_TEST_SUITE_P(All, MatMulPackingGpuTest, DeviceImplementations([](const auto& i) {
                           return i.general && i.executor != Executor::kHostExecutable &&
                                  TakesFp32(i);
                         }),
                         Name);

INSTANTIATE_TEST_SUITE_P(All, MatMulSplitGpuTest, DeviceImplementations([](const auto& i) {
                           return i.general && i.workspace_bytes != nullptr && TakesFp32(i);
                         }),
                         Name);

TEST(ReferenceProductsGpuTest, HostAndDeviceAgree) {
  const auto device = OpenDevice(0);
  if (!device.ok()) GTEST_SKIP() << device.status();
  auto cublas = CublasHandle::Create();
  ASSERT_TRUE(cublas.ok()) << cublas.status();
  for (const MatMulCase& c :
       {MatMulCase{129, 65, 200, 3}, MatMulCase{129, 65, 200, 3, true, false, -0.5, 2},
        MatMulCase{65, 129, 200, 3, true, true, 0.1, -1, 3, 5},
        MatMulCase{65, 129, 200, 3, false, true, 0, 0.1},
        MatMulCase{65, 129, 0, 3, false, true, 1, 1}}) {
    MatMulTestProblem<float> problem(c);
    std::vector<double> r[2], s[2];
    for (const int on_device : {0, 1}) {
      r[on_device].resize(c.m * c.n);
      s[on_device].resize(c.m * c.n);
      MatMulArgs args = problem.args();
      if (on_device == 1) args.cublas = cublas->get();
      const absl::Status status = ReferenceProducts(args, {r[on_device].data(), c.m, c.n, c.n},
                                                    {s[on_device].data(), c.m, c.n, c.n});
      ASSERT_TRUE(status.ok()) << c << ": " << status;
    }
    for (int64_t i = 0; i < c.m * c.n; ++i) {
      ASSERT_NEAR(r[0][i], r[1][i], 1e-12) << c;
      ASSERT_NEAR(s[0][i], s[1][i], 1e-12) << c;
    }
  }
}

}  // namespace
}  // namespace stridewise
