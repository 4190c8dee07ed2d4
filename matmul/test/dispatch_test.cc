// What `auto` chooses.

#include "matmul/dispatch.h"

#include <cstdint>
#include <set>
#include <string>

#include "common/gpu/device_model.h"
#include "gtest/gtest.h"
#include "matmul/registry.h"
#include "matmul/tuning.h"

namespace stridewise {
namespace {

constexpr DeviceModel kOldDevice = {};  // Of compute capability 0, without cp.async.

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
    DeviceModel device;
    MatMulArgs args;
  } cases[] = {
      {"tiny", kOldDevice, Gapless(7, 5, 3)},
      {"tiny", H200Model(), Gapless(128, 128, 128)},
      {"thin", H200Model(), Gapless(16, 16384, 16384)},
      {"thin", H200Model(), Gapless(1, 1, 1 << 20)},
      {"matvec", H200Model(), Gapless(4096, 1, 4096)},
      {"matvec", kOldDevice, Gapless(1, 4096, 65)},
      {"skinny", H200Model(), Gapless(753, 13, 773)},
      {"skinny", H200Model(), Gapless(11008, 24, 5120)},
      {"stream_k_32x32", H200Model(), Gapless(256, 256, 256)},
      {"stream_k_32x64", H200Model(), Gapless(512, 512, 512)},
      {"round_64x64", H200Model(), Gapless(704, 704, 704)},
      {"stream_k_64x64", H200Model(), Gapless(1024, 1024, 1024)},
      {"stream_k_64x64", H200Model(), Gapless(128, 128, 100000)},
      {"stream_k_64x64", H200Model(), Gapless(256, 256, 8192)},
      {"stream_k_32x32", H200Model(), Gapless(4096, 32, 4096)},
      {"stream_k_32x64", H200Model(), Gapless(32, 4096, 4096)},
      {"batch_64x64", H200Model(), Gapless(1024, 1024, 64)},
      {"batch_64x64", H200Model(), Gapless(8192, 192, 1024)},
      {"stream_k_128x128", H200Model(), Gapless(100000, 128, 129)},
      {"ragged", H200Model(), Gapless(4096, 4096, 4096)},
      {"general_tile", H200Model(), Gapless(1024, 1024, (int64_t{1} << 23) + 1)},
      {"general_tile", kOldDevice, Gapless(1024, 1024, 1024)},
  };
  MatMulArgs batch = Gapless(64, 64, 64);
  batch.batch = 1000;
  EXPECT_STREQ(ChooseMatMul(batch, H200Model(), RunsOn::kDevice, kTuning).implementation,
               "batch_64x64");
  std::set<std::string> reached = {"batch_64x64"};
  for (const auto& c : cases) {
    const MatMulDispatch& chosen = ChooseMatMul(c.args, c.device, RunsOn::kDevice, kTuning);
    EXPECT_STREQ(chosen.implementation, c.want)
        << c.args.m << "x" << c.args.n << "x" << c.args.k << " on " << c.device.compute_capability;
    reached.insert(chosen.implementation);
  }
  EXPECT_EQ(reached.size(), MatMulDispatchTable().size());
}

TEST(MatMulDispatchTable, NamesKernelsThatTakeAnything) {
  for (const MatMulDispatch& row : MatMulDispatchTable()) {
    SCOPED_TRACE(row.implementation);
    const MatMulImplementation* implementation = FindMatMulImplementation(row.implementation);
    ASSERT_NE(implementation, nullptr);
    EXPECT_EQ(row.entry, implementation);
    EXPECT_NE(implementation->name, "auto");
    EXPECT_EQ(implementation->target.where, Where::kDevice);
    EXPECT_TRUE(implementation->general);
    EXPECT_FALSE(implementation->needs_cublas);
    EXPECT_STRNE(row.when, "");
    EXPECT_STRNE(row.measured, "");
  }
  const MatMulDispatch& last = MatMulDispatchTable().back();
  EXPECT_EQ(last.entry->target.min_compute_capability, 0);
  EXPECT_EQ(last.entry->executor, Executor::kHostExecutable);
  EXPECT_TRUE(last.applies({}, kTuning));
}

// Each threshold lets its row have what went to a later one.
TEST(ChooseMatMul, GoesByTheThresholdsGiven) {
  const MatMulTuning none = {90, 0, 0, 0, 1 << 20, 0, 0, 0, 0, 0, 0, 0, 1000, 1000, 1000, 1000};
  const MatMulArgs args = Gapless(256, 256, 256);
  EXPECT_STREQ(ChooseMatMul(args, H200Model(), RunsOn::kDevice, none).implementation, "ragged");
  MatMulTuning tuning = none;
  tuning.cost_128x128 = 99;
  EXPECT_STREQ(ChooseMatMul(args, H200Model(), RunsOn::kDevice, tuning).implementation,
               "stream_k_128x128");
  tuning.cost_64x64 = 98;
  EXPECT_STREQ(ChooseMatMul(args, H200Model(), RunsOn::kDevice, tuning).implementation,
               "batch_64x64");
  tuning.tiles_64x64 = 16;
  EXPECT_STREQ(ChooseMatMul(args, H200Model(), RunsOn::kDevice, tuning).implementation,
               "stream_k_64x64");
  tuning.round_from = tuning.round_to = 16;
  EXPECT_STREQ(ChooseMatMul(args, H200Model(), RunsOn::kDevice, tuning).implementation,
               "stream_k_64x64");
  tuning.moderate_k = 256;
  EXPECT_STREQ(ChooseMatMul(args, H200Model(), RunsOn::kDevice, tuning).implementation,
               "round_64x64");
  tuning.short_k = 256;
  EXPECT_STREQ(ChooseMatMul(args, H200Model(), RunsOn::kDevice, tuning).implementation,
               "batch_64x64");
  tuning.short_k = 0;
  tuning.cost_32x64 = 97;
  EXPECT_STREQ(ChooseMatMul(args, H200Model(), RunsOn::kDevice, tuning).implementation,
               "stream_k_32x64");
  tuning.cost_32x32 = 96;
  EXPECT_STREQ(ChooseMatMul(args, H200Model(), RunsOn::kDevice, tuning).implementation,
               "stream_k_32x32");
  tuning.cost_32x32 = tuning.cost_32x64 = 1000;
  tuning.tiles_32x64 = 32;
  EXPECT_STREQ(ChooseMatMul(args, H200Model(), RunsOn::kDevice, tuning).implementation,
               "stream_k_32x64");
  tuning.tiles_32x32 = 64;
  EXPECT_STREQ(ChooseMatMul(args, H200Model(), RunsOn::kDevice, tuning).implementation,
               "stream_k_32x32");
  tuning.thin_extent = tuning.thin_k = 256;
  EXPECT_STREQ(ChooseMatMul(args, H200Model(), RunsOn::kDevice, tuning).implementation, "thin");
  tuning.tiny_work = 256 * 256;
  tuning.tiny_k = 256;
  EXPECT_STREQ(ChooseMatMul(args, H200Model(), RunsOn::kDevice, tuning).implementation, "tiny");
  MatMulArgs batch = Gapless(64, 64, 64);
  batch.batch = 2;
  tuning = none;
  tuning.cost_64x64 = 100;
  EXPECT_STREQ(ChooseMatMul(batch, H200Model(), RunsOn::kDevice, tuning).implementation,
               "batch_64x64");
  EXPECT_STREQ(ChooseMatMul(batch, kOldDevice, RunsOn::kDevice, tuning).implementation,
               "general_tile");
}

TEST(ChooseMatMul, GoesByTheDevicesThresholds) {
  DeviceModel device;
  device.compute_capability = 86;
  for (const int64_t n : {1, 100, 200, 400, 800, 1600, 3200}) {
    const MatMulArgs args = Gapless(n, n, n);
    EXPECT_EQ(&ChooseMatMul(args, device),
              &ChooseMatMul(args, device, RunsOn::kDevice, TuningFor(86)));
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
    ASSERT_TRUE(RunChosenMatMul(args, H200Model(), RunsOn::kDevice, Record).ok());
  }
  EXPECT_EQ(calls, "");
  MatMulArgs args = Gapless(7, 5, 0);  // C = beta * C: there is something to do.
  args.batch = 1000;
  args.stream = reinterpret_cast<cudaStream_t>(&calls);
  ASSERT_TRUE(RunChosenMatMul(args, H200Model(), RunsOn::kDevice, Record).ok());
  EXPECT_EQ(calls, ChooseMatMul(args, H200Model()).implementation);
}

TEST(RunChosenMatMul, PassesErrorsOn) {
  const auto fail = [](const MatMulImplementation&, const MatMulArgs&) -> absl::Status {
    return absl::InternalError("no");
  };
  EXPECT_EQ(RunChosenMatMul(Gapless(7, 5, 3), H200Model(), RunsOn::kDevice, fail).code(),
            absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace stridewise
