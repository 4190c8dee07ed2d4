// What `auto` chooses.

#include "matmul/dispatch.h"

#include <cstdint>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "matmul/registry.h"
#include "matmul/tuning.h"

namespace stridewise {
namespace {

// Fixed, so that what is measured next does not change what is tested here.
constexpr MatMulTuning kTuning = {90, 16000, 160, 16,  512, 200, 2048, 132,
                                  64, 264,   90,  132, 178, 167, 122,  106};

float* At(uintptr_t address) {
  return reinterpret_cast<float*>(address);  // NOLINT(performance-no-int-to-ptr)
}

// Without gaps, at multiples of 256.
MatMulArgs Gapless(int64_t m, int64_t n, int64_t k) {
  MatMulArgs args;
  args.m = m;
  args.n = n;
  args.k = k;
  args.a = {At(0x10000000), k};
  args.b = {At(0x20000000), n};
  args.c = {At(0x30000000), n};
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
      {"round_64x64", 90, Gapless(704, 704, 704)},
      {"stream_k_64x64", 90, Gapless(1024, 1024, 1024)},
      {"stream_k_64x64", 90, Gapless(128, 128, 100000)},
      {"stream_k_64x64", 90, Gapless(256, 256, 8192)},
      {"stream_k_32x32", 90, Gapless(4096, 32, 4096)},
      {"stream_k_32x64", 90, Gapless(32, 4096, 4096)},
      {"batch_64x64", 90, Gapless(1024, 1024, 64)},
      {"batch_64x64", 90, Gapless(8192, 192, 1024)},
      {"stream_k_128x128", 90, Gapless(100000, 128, 129)},
      {"ragged", 90, Gapless(4096, 4096, 4096)},
      {"general_tile", 90, Gapless(1024, 1024, (int64_t{1} << 23) + 1)},
      {"general_tile", 0, Gapless(1024, 1024, 1024)},
  };
  MatMulArgs batch = Gapless(64, 64, 64);
  batch.batch = 1000;
  EXPECT_STREQ(ChooseMatMul(batch, 90, kTuning).implementation, "batch_64x64");
  std::set<std::string> reached = {"batch_64x64"};
  for (const auto& c : cases) {
    const MatMulDispatch& chosen = ChooseMatMul(c.args, c.compute_capability, kTuning);
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
    EXPECT_EQ(implementation->target.where, Where::kDevice);
    EXPECT_TRUE(implementation->general);
    EXPECT_FALSE(implementation->needs_cublas);
    // What only some devices run is not chosen for the host executor.
    EXPECT_TRUE(implementation->executor == Executor::kHostExecutable ||
                implementation->target.min_compute_capability > 0);
    EXPECT_STRNE(row.when, "");
    EXPECT_STRNE(row.measured, "");
  }
  const MatMulDispatch& last = MatMulDispatchTable().back();
  EXPECT_EQ(FindMatMulImplementation(last.implementation)->target.min_compute_capability, 0);
  EXPECT_TRUE(last.applies({}, kTuning));
}

// Each threshold lets its row have what went to a later one.
TEST(ChooseMatMul, GoesByTheThresholdsGiven) {
  const MatMulTuning none = {90, 0, 0, 0, 1 << 20, 0, 0, 0, 0, 0, 0, 0, 1000, 1000, 1000, 1000};
  const MatMulArgs args = Gapless(256, 256, 256);
  EXPECT_STREQ(ChooseMatMul(args, 90, none).implementation, "ragged");
  MatMulTuning tuning = none;
  tuning.slower_128x128 = 99;
  EXPECT_STREQ(ChooseMatMul(args, 90, tuning).implementation, "stream_k_128x128");
  tuning.slower_64x64 = 98;
  EXPECT_STREQ(ChooseMatMul(args, 90, tuning).implementation, "batch_64x64");
  tuning.tiles_64x64 = 16;
  EXPECT_STREQ(ChooseMatMul(args, 90, tuning).implementation, "stream_k_64x64");
  tuning.round_from = tuning.round_to = 16;
  EXPECT_STREQ(ChooseMatMul(args, 90, tuning).implementation, "stream_k_64x64");
  tuning.few_terms = 256;
  EXPECT_STREQ(ChooseMatMul(args, 90, tuning).implementation, "round_64x64");
  tuning.short_terms = 256;
  EXPECT_STREQ(ChooseMatMul(args, 90, tuning).implementation, "batch_64x64");
  tuning.short_terms = 0;
  tuning.slower_32x64 = 97;
  EXPECT_STREQ(ChooseMatMul(args, 90, tuning).implementation, "stream_k_32x64");
  tuning.slower_32x32 = 96;
  EXPECT_STREQ(ChooseMatMul(args, 90, tuning).implementation, "stream_k_32x32");
  tuning.slower_32x32 = tuning.slower_32x64 = 1000;
  tuning.tiles_32x64 = 32;
  EXPECT_STREQ(ChooseMatMul(args, 90, tuning).implementation, "stream_k_32x64");
  tuning.tiles_32x32 = 64;
  EXPECT_STREQ(ChooseMatMul(args, 90, tuning).implementation, "stream_k_32x32");
  tuning.thin_lines = tuning.thin_terms = 256;
  EXPECT_STREQ(ChooseMatMul(args, 90, tuning).implementation, "thin");
  tuning.tiny_work = 256 * 256;
  tuning.tiny_terms = 256;
  EXPECT_STREQ(ChooseMatMul(args, 90, tuning).implementation, "tiny");
  MatMulArgs batch = Gapless(64, 64, 64);
  batch.batch = 2;
  tuning = none;
  tuning.slower_64x64 = 100;
  EXPECT_STREQ(ChooseMatMul(batch, 90, tuning).implementation, "batch_64x64");
  EXPECT_STREQ(ChooseMatMul(batch, 0, tuning).implementation, "general_tile");
}

TEST(ChooseMatMul, GoesByTheDevicesThresholds) {
  for (const int64_t n : {1, 100, 200, 400, 800, 1600, 3200}) {
    const MatMulArgs args = Gapless(n, n, n);
    EXPECT_EQ(&ChooseMatMul(args, 86), &ChooseMatMul(args, 86, TuningFor(86)));
  }
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
