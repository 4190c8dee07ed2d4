// What `auto` chooses.

#include "matmul/dispatch.h"

#include <cstdint>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "matmul/registry.h"

namespace stridewise {
namespace {

void* At(uintptr_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

// Without gaps, at multiples of 256.
MatMulArgs Gapless(int64_t m, int64_t n, int64_t k) {
  MatMulArgs args;
  args.m = m;
  args.n = n;
  args.k = k;
  args.a = At(0x10000000);
  args.lda = k;
  args.b = At(0x20000000);
  args.ldb = n;
  args.c = At(0x30000000);
  args.ldc = n;
  return args;
}

TEST(ChooseMatMul, ByShapeFormAlignmentAndDevice) {
  const struct {
    const char* want;
    int compute_capability;
    MatMulArgs args;
  } cases[] = {
      {"tiny", 0, Gapless(7, 5, 3)},
      {"tiny", 90, Gapless(128, 128, 128)},
      {"thin", 90, Gapless(16, 16384, 16384)},
      {"thin", 90, Gapless(4096, 1, 4096)},
      {"stream_k_32x32", 90, Gapless(256, 256, 256)},
      {"stream_k_32x64", 90, Gapless(512, 512, 512)},
      {"stream_k_64x64", 90, Gapless(1024, 1024, 1024)},
      {"stream_k_64x64", 90, Gapless(128, 128, 100000)},
      {"stream_k_128x128", 90, Gapless(100000, 128, 129)},
      {"ragged", 90, Gapless(4096, 4096, 4096)},
      {"general_tile", 90, Gapless(1024, 1024, (int64_t{1} << 23) + 1)},
      {"general_tile", 0, Gapless(1024, 1024, 1024)},
  };
  MatMulArgs batch = Gapless(64, 64, 64);
  batch.batch = 1000;
  EXPECT_STREQ(ChooseMatMul(batch, 90).implementation, "batch_64x64");
  std::set<std::string> reached = {"batch_64x64"};
  for (const auto& c : cases) {
    const MatMulDispatch& chosen = ChooseMatMul(c.args, c.compute_capability);
    EXPECT_STREQ(chosen.implementation, c.want)
        << c.args.m << "x" << c.args.n << "x" << c.args.k << " on " << c.compute_capability;
    reached.insert(chosen.implementation);
  }
  EXPECT_EQ(reached.size(), MatMulDispatchTable().size());
}

TEST(MatMulDispatchTable, NamesKernelsThatTakeAnything) {
  for (const MatMulDispatch& row : MatMulDispatchTable()) {
    SCOPED_TRACE(row.implementation);
    const MatMulImplementation* implementation = FindMatMulImplementation(row.implementation);
    ASSERT_NE(implementation, nullptr);
    EXPECT_NE(implementation->name, "auto");
    EXPECT_EQ(implementation->where, Where::kDevice);
    EXPECT_TRUE(implementation->general);
    EXPECT_FALSE(implementation->needs_cublas);
    // What only some devices run is not chosen for the host executor.
    EXPECT_TRUE(implementation->executor == Executor::kHostExecutable ||
                implementation->min_compute_capability > 0);
    EXPECT_STRNE(row.when, "");
    EXPECT_STRNE(row.measured, "");
  }
  const MatMulDispatch& last = MatMulDispatchTable().back();
  EXPECT_EQ(FindMatMulImplementation(last.implementation)->min_compute_capability, 0);
  EXPECT_TRUE(last.applies({}));
}

// The name of what was handed over is written to where the stream points.
absl::Status Record(const MatMulImplementation& implementation, const MatMulArgs& args) {
  *reinterpret_cast<std::string*>(args.stream) += implementation.name;
  return absl::OkStatus();
}

TEST(RunChosenMatMul, IsOneCallAndNoneWithoutElements) {
  std::string calls;
  for (int64_t MatMulArgs::*extent : {&MatMulArgs::m, &MatMulArgs::n, &MatMulArgs::batch}) {
    MatMulArgs args = Gapless(7, 5, 3);
    args.stream = reinterpret_cast<cudaStream_t>(&calls);
    args.*extent = 0;
    ASSERT_TRUE(RunChosenMatMul(args, 90, Record).ok());
  }
  EXPECT_EQ(calls, "");
  MatMulArgs args = Gapless(7, 5, 0);  // C = beta * C: there is something to do.
  args.batch = 1000;
  args.stream = reinterpret_cast<cudaStream_t>(&calls);
  ASSERT_TRUE(RunChosenMatMul(args, 90, Record).ok());
  EXPECT_EQ(calls, ChooseMatMul(args, 90).implementation);
}

TEST(RunChosenMatMul, PassesErrorsOn) {
  const auto fail = [](const MatMulImplementation&, const MatMulArgs&) -> absl::Status {
    return absl::InternalError("no");
  };
  EXPECT_EQ(RunChosenMatMul(Gapless(7, 5, 3), 90, fail).code(), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace stridewise
