// Tuning files, and which tuning a device gets.

#include "matmul/tuning.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "matmul/dispatch.h"

namespace stridewise {
namespace {

constexpr char kHead[] =
    "stridewise_tuning 1\ndevice a GPU\ncompute_capability 86\nmultiprocessors 84\n";
constexpr char kMemory[] = "memory_gbps 768\n";
constexpr char kFactors[] = "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 0.9";

TEST(ParseTuning, ReadsWhatAFileSays) {
  const auto tuning = ParseTuning(
      std::string(kHead) + kMemory +
      "# a comment\n\nkernel tiny\n us fixed 2.5 launches 1e-1\n within 0.5 2\n" +
      " times k>=64 fill>=1.5 ops>=2 m>=3 ? " + kFactors + "\nkernel no_kernel_of_this_program\n");
  ASSERT_TRUE(tuning.ok()) << tuning.status();
  EXPECT_EQ(tuning->device, "a GPU");
  EXPECT_EQ(tuning->compute_capability, 86);
  EXPECT_EQ(tuning->multiprocessors, 84);
  EXPECT_EQ(tuning->memory_gbps, 768);
  ASSERT_EQ(tuning->kernels.size(), 2u);
  const MatMulCostModel& tiny = *tuning->Find("tiny");
  EXPECT_EQ(tiny.costs.fixed, 2.5);
  EXPECT_EQ(tiny.costs.launches, 0.1);
  EXPECT_EQ(tiny.costs.steps, 0);
  EXPECT_EQ(tiny.least_correction, 0.5);
  EXPECT_EQ(tiny.most_correction, 2);
  ASSERT_EQ(tiny.corrections.size(), 1u);
  EXPECT_EQ(tiny.corrections[0].features[1], MatMulFeature::kFill);
  EXPECT_EQ(tiny.corrections[0].thresholds[1], 1.5f);
  EXPECT_EQ(tiny.corrections[0].factors[15], 0.9f);
  EXPECT_NE(tuning->Find("no_kernel_of_this_program"), nullptr);
  EXPECT_EQ(tuning->Find("thin"), nullptr);
}

TEST(ParseTuning, RefusesBadFilesWithTheLine) {
  const std::string head = kHead;
  const std::string correction = " times k>=64 fill>=1.5 ops>=2 m>=3 ? ";
  const struct {
    std::string text;
    std::string says;
  } cases[] = {
      {"", "no line 'stridewise_tuning 1'"},
      {"stridewise_tuning 2\n", "line 1: "},
      {"MATMUL_TUNING(90)\n", "line 1: "},
      {"stridewise_tuning 1\ncompute_capability 90\nkernel a\n", "no line 'multiprocessors N'"},
      {"stridewise_tuning 1\nmultiprocessors 90\nkernel a\n", "no line 'compute_capability N'"},
      {head, "no line 'kernel NAME'"},
      {"stridewise_tuning 1\ncompute_capability 9.0\n", "line 2: compute_capability"},
      {"stridewise_tuning 1\ncompute_capability 0\n", "line 2: compute_capability"},
      {head + "memory_gbps 0\nkernel a\n", "line 5: memory_gbps"},
      {head + "colour blue\n", "line 5: it begins with 'colour'"},
      {head + "kernel\n", "line 5: kernel"},
      {head + "kernel a b\n", "line 5: kernel"},
      {head + "kernel a\nkernel a\n", "line 6: kernel a stands twice"},
      {head + "us fixed 1\n", "line 5: us stands before"},
      {head + "within 1 1\n", "line 5: within stands before"},
      {head + "kernel a\nus fixed\n", "line 6: us"},
      {head + "kernel a\nus time 1\n", "line 6: there is no work called 'time'"},
      {head + "kernel a\nus fixed -1\n", "line 6: fixed: '-1'"},
      {head + "kernel a\nus fixed nan\n", "line 6: fixed: 'nan'"},
      {head + "kernel a\nus fixed inf\n", "line 6: fixed: 'inf'"},
      {head + "kernel a\nus fixed 1x\n", "line 6: fixed: '1x'"},
      {head + "kernel a\nwithin 2 1\n", "line 6: within"},
      {head + "kernel a\nwithin 0 1\n", "line 6: within"},
      {head + "kernel a\nwithin 1 1000\n", "line 6: within"},
      {head + "kernel a\n" + correction + "1 1\n", "line 6: times"},
      {head + "kernel a\n times k>=64 fill>=1.5 ops>=2 depth>=3 ? " + kFactors + "\n",
       "line 6: 'depth>=3'"},
      {head + "kernel a\n times k>=64 fill>=1.5 ops>=2 m ? " + kFactors + "\n", "line 6: 'm'"},
      {head + "kernel a\n" + correction + "0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n", "line 6: '0'"},
      {head + "kernel a\n" + correction + "nan 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n", "line 6: 'nan'"},
  };
  for (const auto& c : cases) {
    const absl::Status status = ParseTuning(c.text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.text;
    EXPECT_EQ(std::string(status.message()).rfind(c.says, 0), 0u)
        << c.says << ", not: " << status.message();
  }
}

TEST(TuningText, ComesBack) {
  for (const MatMulTuning& tuning : MatMulTunings()) {
    const std::string text = TuningText(tuning);
    const auto again = ParseTuning(text);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(TuningText(*again), text);
  }
}

TEST(LoadTuning, ReadsFilesAndNamesThoseThatItCannotRead) {
  const std::string path = testing::TempDir() + "/a.tuning";
  std::ofstream(path) << kHead << "kernel tiny\n us fixed 1\n";
  const auto tuning = LoadTuning(path);
  ASSERT_TRUE(tuning.ok()) << tuning.status();
  EXPECT_EQ(tuning->device, "a GPU");
  std::ofstream(path) << "nothing of the kind";
  EXPECT_EQ(LoadTuning(path).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(LoadTuning(path).status().message()).find(path), std::string::npos);
  EXPECT_EQ(LoadTuning(path + ".none").status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(std::string(LoadTuning(path + ".none").status().message()).find(".none"),
            std::string::npos);
}

// The variable is read once: each of these is for a process of its own, which it ends.
void ExitWithFile(const std::string& path) {
  setenv(kTuningVariable, path.c_str(), 1);
  const DeviceModel near = {/*compute_capability=*/87, /*multiprocessors=*/16};
  const bool used = TuningFromFile() != nullptr && TuningFileStatus().ok() &&
                    &TuningFor(near) == TuningFromFile() &&
                    TuningFor(H200Model()).compute_capability == 90;
  std::exit(used ? 0 : 1);
}

void ExitWithBadFile(const std::string& path) {
  setenv(kTuningVariable, path.c_str(), 1);
  const DeviceModel near = {/*compute_capability=*/86, /*multiprocessors=*/84};
  const bool passed_over = TuningFromFile() == nullptr && !TuningFileStatus().ok() &&
                           TuningFor(near).compute_capability == 90;
  std::fputs(std::string(TuningFileStatus().message()).c_str(), stderr);
  std::exit(passed_over ? 0 : 1);
}

void ExitWithoutFile() {
  unsetenv(kTuningVariable);
  std::exit(TuningFromFile() == nullptr && TuningFileStatus().ok() ? 0 : 1);
}

TEST(TuningFromFile, IsWhatTheVariableNames) {
  const std::string path = testing::TempDir() + "/b.tuning";
  std::ofstream(path) << kHead << "kernel tiny\n us fixed 1\n";
  EXPECT_EXIT(ExitWithFile(path), testing::ExitedWithCode(0), "");
  std::ofstream(path) << "bad";
  EXPECT_EXIT(ExitWithBadFile(path), testing::ExitedWithCode(0),
              "^STRIDEWISE_TUNING: .*b.tuning.*line 1");
  EXPECT_EXIT(ExitWithoutFile(), testing::ExitedWithCode(0), "");
}

MatMulTuning Of(int compute_capability, int multiprocessors) {
  MatMulTuning tuning;
  tuning.compute_capability = compute_capability;
  tuning.multiprocessors = multiprocessors;
  return tuning;
}

TEST(NearestTuning, IsTheNearestOfArchitectureAndThenOfSize) {
  const std::vector<MatMulTuning> all = {Of(80, 108), Of(90, 114), Of(90, 132), Of(100, 148)};
  std::vector<const MatMulTuning*> tunings;
  for (const MatMulTuning& tuning : all) tunings.push_back(&tuning);
  const struct {
    DeviceModel device;
    int compute_capability, multiprocessors;
  } cases[] = {{{0, 4}, 80, 108},     {{80, 108}, 80, 108}, {{85, 200}, 80, 108},
               {{86, 84}, 90, 114},   {{90, 132}, 90, 132}, {{90, 100}, 90, 114},
               {{90, 123}, 90, 114},  {{90, 500}, 90, 132}, {{95, 132}, 90, 132},
               {{120, 170}, 100, 148}};
  for (const auto& c : cases) {
    const MatMulTuning& nearest = NearestTuning(tunings, c.device);
    EXPECT_EQ(nearest.compute_capability, c.compute_capability) << c.device.compute_capability;
    EXPECT_EQ(nearest.multiprocessors, c.multiprocessors) << c.device.compute_capability;
  }
}

// An H100 and an H200 differ in nothing else.
TEST(NearestTuning, IsAtLastTheNearestOfTheMemorysRate) {
  std::vector<MatMulTuning> all = {Of(90, 114), Of(90, 132), Of(90, 132), Of(90, 132)};
  all[1].memory_gbps = 3352;
  all[2].memory_gbps = H200Model().memory_gbps;
  all[3].memory_gbps = 4000;
  std::vector<const MatMulTuning*> tunings;
  for (size_t i = 0; i < 3; ++i) tunings.push_back(&all[i]);
  const auto nearest = [&](int memory_gbps) {
    return NearestTuning(tunings, WithMemoryRate(H200Model(), memory_gbps)).memory_gbps;
  };
  EXPECT_EQ(nearest(3352), 3352);
  EXPECT_EQ(nearest(all[2].memory_gbps), all[2].memory_gbps);
  EXPECT_EQ(nearest(4000), 3352);
  EXPECT_EQ(nearest(4100), all[2].memory_gbps);
  tunings.push_back(&all[3]);
  EXPECT_EQ(nearest(4023), 4000);
  // One of which the rate is not known is taken for the device's: a file of the user's own.
  all[3].memory_gbps = 0;
  EXPECT_EQ(nearest(4000), 0);
}

TEST(ForMemoryRate, ChangesWhatMemoryTakes) {
  MatMulTuning tuning = Of(90, 132);
  tuning.memory_gbps = 4000;
  tuning.kernels.push_back({"thin", {}});
  MatMulCosts& costs = tuning.kernels[0].model.costs;
  costs.steps = 1;
  costs.dram_mb = 0.25;
  costs.packed_mb = 0.5;
  const MatMulTuning slower = ForMemoryRate(tuning, 2000);
  EXPECT_EQ(slower.memory_gbps, 2000);
  EXPECT_EQ(slower.kernels[0].model.costs.steps, 1);
  EXPECT_EQ(slower.kernels[0].model.costs.dram_mb, 0.5);
  EXPECT_EQ(slower.kernels[0].model.costs.packed_mb, 1);
  EXPECT_EQ(ForMemoryRate(tuning, 0).kernels[0].model.costs.dram_mb, 0.25);
  tuning.memory_gbps = 0;
  EXPECT_EQ(ForMemoryRate(tuning, 2000).kernels[0].model.costs.dram_mb, 0.25);
}

TEST(WithMemoryRate, ChangesWhatAPartOfKCosts) {
  EXPECT_EQ(WithMemoryRate(H200Model(), H200Model().memory_gbps).k_part_cost_bytes,
            H200Model().k_part_cost_bytes);
  const DeviceModel half = WithMemoryRate({80, 108, 1, 1000, 3000}, 1500);
  EXPECT_EQ(half.memory_gbps, 1500);
  EXPECT_EQ(half.k_part_cost_bytes, 500);
  EXPECT_EQ(half.multiprocessors, 108);
}

// A kernel without constants would never run.
TEST(MatMulTunings, KnowEveryKernelThatAutoMayChoose) {
  for (const MatMulTuning& tuning : MatMulTunings()) {
    for (const MatMulDispatch& row : MatMulDispatchTable()) {
      if (row.entry->target.min_compute_capability > tuning.compute_capability) continue;
      EXPECT_NE(tuning.Find(row.implementation), nullptr)
          << row.implementation << " on " << tuning.device;
    }
    for (const MatMulKernelTuning& kernel : tuning.kernels) {
      EXPECT_NE(FindMatMulImplementation(kernel.kernel), nullptr) << kernel.kernel;
    }
  }
  EXPECT_EQ(TuningFor(H200Model()).compute_capability, 90);
  EXPECT_EQ(TuningFor(H200Model()).multiprocessors, 132);
}

}  // namespace
}  // namespace stridewise
