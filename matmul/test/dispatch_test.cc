// What `auto` chooses.

#include "matmul/dispatch.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <string>

#include "common/base/case_random.h"
#include "common/gpu/device_model.h"
#include "gtest/gtest.h"
#include "matmul/registry.h"
#include "matmul/tuning.h"

namespace stridewise {
namespace {

constexpr DeviceModel kOldDevice = {/*compute_capability=*/70, /*multiprocessors=*/80};

float* At(uintptr_t address) {
  return reinterpret_cast<float*>(address);  // NOLINT(performance-no-int-to-ptr)
}

// Without gaps, at multiples of 256, with all the workspace that there may be.
MatMulArgs Gapless(int64_t m, int64_t n, int64_t k, int64_t batch = 1) {
  MatMulArgs args;
  args.m = m;
  args.n = n;
  args.k = k;
  args.a = {At(0x10000000), k};
  args.b = {At(0x20000000), n};
  args.c = {At(0x30000000), n};
  args.a.stride = m * k;
  args.b.stride = k * n;
  args.c.stride = m * n;
  args.batch = batch;
  return WithAnyWorkspace(args);
}

// Of the tuning that ships for an H200: shapes at which no other kernel is anywhere near.
TEST(ChooseMatMul, ByShapeFormAlignmentAndDevice) {
  const struct {
    const char* want;
    DeviceModel device;
    MatMulArgs args;
  } cases[] = {
      {"direct", H200Model(), Gapless(656, 2, 3, 605)},
      {"brief_matvec", H200Model(), Gapless(1, 3, 466, 293)},
      {"tiny", H200Model(), Gapless(64, 64, 64)},
      {"brief", H200Model(), Gapless(256, 256, 256)},
      {"stream_k_32x64", H200Model(), Gapless(512, 512, 512)},
      {"batch_64x64", H200Model(), Gapless(64, 64, 64, 1000)},
      {"batch_64x64", H200Model(), Gapless(868, 305, 117, 672)},
      {"dots", H200Model(), Gapless(8, 8, 1000, 500)},
      {"stream_k_64x128", H200Model(), Gapless(57, 1113, 375, 887)},
      {"ragged", H200Model(), Gapless(4096, 4096, 4096)},
      {"ragged", H200Model(), Gapless(8192, 8192, 8192)},
      {"general_tile", kOldDevice, Gapless(1024, 1024, 1024)},
  };
  for (const auto& c : cases) {
    EXPECT_STREQ(ChooseMatMul(c.args, c.device).implementation, c.want)
        << c.args.m << "x" << c.args.n << "x" << c.args.k << " on " << c.device.compute_capability;
  }
}

// Sums that may be less exact are those of a kernel of their own where the caller asks for them,
// and what that kernel does not take is as exact as without.
TEST(ChooseMatMul, SumsThatAreAskedFor) {
  const DeviceModel device = H200Model();
  MatMulArgs args = Gapless(4096, 4096, 4096);
  const auto chosen = [&](ElementType operands, ElementType output, MatMulPrecision precision,
                          const DeviceModel& on) -> std::string {
    args.a.type = args.b.type = operands;
    args.c.type = output;
    args.precision = precision;
    args.device_model = &on;
    return ChooseMatMul(args, on).implementation;
  };
  const auto fp16 = ElementType::kFp16;
  const auto e4m3 = ElementType::kE4m3;
  const auto of_float = ElementType::kFloat;
  EXPECT_EQ(chosen(fp16, fp16, MatMulPrecision::kFp32, device), "tensor");
  EXPECT_EQ(chosen(fp16, fp16, MatMulPrecision::kFp16Sums, device), "tensor_fp16_sums");
  EXPECT_EQ(chosen(fp16, of_float, MatMulPrecision::kFp16Sums, device), "tensor");
  args.m = 768;  // 48 tiles of 256 x 256 for 66 clusters.
  EXPECT_EQ(chosen(fp16, fp16, MatMulPrecision::kFp16Sums, device), "tensor");
  args.m = 4096;
  EXPECT_EQ(chosen(e4m3, of_float, MatMulPrecision::kFp32, device), "tensor_fp8");
  EXPECT_EQ(chosen(e4m3, of_float, MatMulPrecision::kFastSums, device), "tensor_fp8_fast");
  DeviceModel ada = device;
  ada.compute_capability = 89;
  EXPECT_EQ(chosen(fp16, fp16, MatMulPrecision::kFp16Sums, ada), "tensor");
  EXPECT_EQ(chosen(e4m3, of_float, MatMulPrecision::kFastSums, ada), "tensor_mma_8bit");
  args.scales.per_128 = true;
  EXPECT_EQ(chosen(e4m3, of_float, MatMulPrecision::kFastSums, device), "tensor_fp8");
  args.scales.per_128 = false;
  args.epilogue.activation = Activation::kGeluErf;
  EXPECT_EQ(chosen(e4m3, of_float, MatMulPrecision::kFastSums, device), "tensor_fp8");
}

TEST(MatMulDispatchTable, NamesKernelsThatTakeTheGeneralForm) {
  for (const MatMulDispatch& row : MatMulDispatchTable()) {
    SCOPED_TRACE(row.implementation);
    const MatMulImplementation* implementation = FindMatMulImplementation(row.implementation);
    ASSERT_NE(implementation, nullptr);
    EXPECT_EQ(row.entry, implementation);
    EXPECT_NE(implementation->name, "auto");
    EXPECT_EQ(implementation->target.where, Where::kDevice);
    EXPECT_TRUE(implementation->general);
    EXPECT_FALSE(implementation->needs_cublas);
    EXPECT_STRNE(row.takes.text, "");
    EXPECT_STRNE(row.measured, "");
  }
  const MatMulDispatch& last = MatMulDispatchTable().back();
  EXPECT_EQ(last.entry->target.min_compute_capability, 0);
  EXPECT_EQ(last.entry->executor, Executor::kHostExecutable);
}

// A row that nothing else can replace must take everything.
TEST(MatMulDispatchTable, EndsWithWhatTakesAnything) {
  const MatMulDispatch& last = MatMulDispatchTable().back();
  MatMulArgs args = Gapless(1, 1, 1);
  for (const int64_t ld : {int64_t{1}, int64_t{1} << 24, int64_t{1} << 40}) {
    args.a.ld = args.b.ld = ld;
    EXPECT_TRUE(TakesCall(last, args, kOldDevice, RunsOn::kHostExecutor));
  }
}

// Every shape, form, alignment and device: a choice is a kernel that takes the call and runs there.
TEST(ChooseMatMul, IsNeverAKernelThatCannotTakeTheCall) {
  const DeviceModel devices[] = {H200Model(), SmallModel(), kOldDevice, {80, 108}, {89, 24}};
  std::set<std::string> chosen;
  for (int64_t number = 0; number < 20000; ++number) {
    CaseRandom random(/*seed=*/17, number);
    const auto extent = [&](int64_t most) {
      return std::max<int64_t>(0, random.Between(0, 1) == 0
                                      ? random.Between(0, 40)
                                      : random.Between(1, random.Between(1, most)));
    };
    MatMulArgs args = Gapless(extent(20000), extent(20000), extent(20000),
                              random.Between(0, 2) == 0 ? extent(3000) : 1);
    args.a.transposed = random.Between(0, 1) == 1;
    args.b.transposed = random.Between(0, 1) == 1;
    args.a.ld = (args.a.transposed ? args.m : args.k) + random.Between(0, 3);
    args.b.ld = (args.b.transposed ? args.k : args.n) + random.Between(0, 3);
    if (random.Between(0, 9) == 0) args.a.ld += int64_t{1} << 23;
    if (random.Between(0, 9) == 0) args.b.ld += int64_t{1} << 23;
    if (random.Between(0, 3) == 0) args.a.data = At(0x10000004);
    if (random.Between(0, 3) == 0) args.b.stride = 0;
    if (random.Between(0, 9) == 0) args.alpha = 0;
    args.workspace_bytes = random.Between(0, 2) == 0   ? 0
                           : random.Between(0, 1) == 0 ? random.Between(0, 1 << 24)
                                                       : kAnyWorkspace;
    const DeviceModel& device = devices[random.Between(0, 4)];
    const RunsOn runs_on = random.Between(0, 1) == 0 ? RunsOn::kDevice : RunsOn::kHostExecutor;
    const MatMulDispatch& row = ChooseMatMul(args, device, runs_on);
    ASSERT_TRUE(TakesCall(row, args, device, runs_on)) << number << ": " << row.implementation;
    chosen.insert(row.implementation);
  }
  EXPECT_GE(chosen.size(), 5u);
}

TEST(TakesCall, KnowsDevicesAndLeadingDimensions) {
  for (const MatMulDispatch& row : MatMulDispatchTable()) {
    SCOPED_TRACE(row.implementation);
    const int needs = row.entry->target.min_compute_capability;
    const MatMulArgs args = Gapless(64, 64, 64);
    EXPECT_EQ(TakesCall(row, args, {needs, 4}, RunsOn::kDevice), row.takes.takes(args));
    EXPECT_FALSE(TakesCall(row, args, {needs - 1, 4}, RunsOn::kDevice));
    if (row.takes.text == std::string("leading dimensions of A and B of at most 2^23")) {
      MatMulArgs wide = args;
      wide.b.ld = int64_t{1} << 23;
      EXPECT_TRUE(row.takes.takes(wide));
      ++wide.b.ld;
      EXPECT_FALSE(row.takes.takes(wide));
    }
  }
}

// A tuning with constants of these kernels alone.
MatMulTuning TuningOf(const std::string& kernels) {
  const auto tuning =
      ParseTuning("stridewise_tuning 1\ncompute_capability 90\nmultiprocessors 132\n" + kernels);
  EXPECT_TRUE(tuning.ok()) << tuning.status();
  return *tuning;
}

// A device without clusters, among which tiles could be divided without a workspace.
constexpr DeviceModel kA100 = {/*compute_capability=*/80, /*multiprocessors=*/108};

std::string Chosen(const MatMulTuning& tuning, const MatMulArgs& args) {
  return MatMulChooser(tuning).Choose(args, kA100, RunsOn::kDevice).row->implementation;
}

TEST(MatMulChooser, TakesTheLeastPrediction) {
  // 1 us, and 1 us a step: stream_k_64x64 has steps of 32, of which it splits none where there is
  // no workspace.
  const std::string two = "kernel tiny\n us fixed 10\nkernel stream_k_64x64\n us fixed 1 steps 1\n";
  MatMulArgs args = Gapless(64, 64, 8 * 32);
  args.workspace_bytes = 0;
  EXPECT_EQ(Chosen(TuningOf(two), args), "stream_k_64x64");  // 9 us.
  const MatMulPrediction nine = MatMulChooser(TuningOf(two)).Choose(args, kA100, RunsOn::kDevice);
  EXPECT_DOUBLE_EQ(nine.us, 9);
  args.k = 10 * 32;
  EXPECT_EQ(Chosen(TuningOf(two), args), "tiny");
  // With a workspace the steps are divided.
  EXPECT_EQ(Chosen(TuningOf(two), WithAnyWorkspace(args)), "stream_k_64x64");
  // A correction of three quarters from k = 320 on.
  const std::string corrected =
      two +
      " within 0.5 2\n times k>=320 m>=0 n>=0 batch>=0 ? 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 0.75\n";
  EXPECT_EQ(Chosen(TuningOf(corrected), args), "stream_k_64x64");
  args.k = 319;
  EXPECT_EQ(Chosen(TuningOf(corrected), args), "tiny");
  // Corrections stay within their range.
  const std::string limited =
      two +
      " within 0.95 1\n times k>=320 m>=0 n>=0 batch>=0 ? 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 0.75\n";
  args.k = 320;
  EXPECT_EQ(Chosen(TuningOf(limited), args), "tiny");
}

TEST(MatMulChooser, PassesOverKernelsThatTheTuningDoesNotKnow) {
  const MatMulArgs args = Gapless(64, 64, 64);
  EXPECT_EQ(Chosen(TuningOf("kernel thin\n us fixed 1\n"), args), "thin");
  EXPECT_EQ(Chosen(TuningOf("kernel of_another_program\n us fixed 1\n"), args),
            MatMulDispatchTable().back().implementation);
}

TEST(MatMulChooser, PredictsForAllThatTakeTheCall) {
  const MatMulArgs args = Gapless(100, 100, 100);
  const auto all = ChooserFor(H200Model()).PredictAll(args, H200Model(), RunsOn::kDevice);
  double least = std::numeric_limits<double>::infinity();
  std::string best;
  for (const MatMulPrediction& prediction : all) {
    EXPECT_GT(prediction.us, 0);
    if (prediction.us < least) {
      least = prediction.us;
      best = prediction.row->implementation;
    }
  }
  size_t takes = 0;
  for (const MatMulDispatch& row : MatMulDispatchTable()) {
    takes += TakesCall(row, args, H200Model(), RunsOn::kDevice) ? 1 : 0;
  }
  EXPECT_EQ(all.size(), takes);
  EXPECT_STREQ(ChooseMatMul(args, H200Model()).implementation, best.c_str());
}

TEST(ChooserFor, KnowsTheRateOfTheDevicesMemory) {
  // A column of 4 GB, read once.
  MatMulArgs args = Gapless(1 << 20, 1, 1 << 10);
  const auto us = [&](int memory_gbps) {
    const DeviceModel device = WithMemoryRate(H200Model(), memory_gbps);
    return PredictMatMul(args, device).us;
  };
  const int rate = H200Model().memory_gbps;
  EXPECT_GT(us(rate / 2), 1.7 * us(rate));
  EXPECT_LT(us(rate / 2), 2.4 * us(rate));
  EXPECT_EQ(&ChooserFor(H200Model()), &ChooserFor(H200Model()));
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
  MatMulArgs args = Gapless(7, 5, 0, 1000);  // C = beta * C: there is something to do.
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
