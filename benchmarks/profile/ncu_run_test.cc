#include "benchmarks/profile/ncu_run.h"

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/harness/make_config.h"
#include "benchmarks/matmul/operation.h"
#include "benchmarks/profile/subprocess.h"
#include "benchmarks/transpose/operation.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

// A stand-in for ncu: prints its arguments and then what the test wants it to.
std::string FakeNcu(const std::string& commands) {
  std::string path = absl::StrCat(::testing::TempDir(), "/ncu");
  std::ofstream(path) << "#!/bin/sh\n" << commands << "\n";
  EXPECT_EQ(chmod(path.c_str(), 0755), 0);
  return path;
}

Config NaiveRow() { return MakeConfig(TransposeOperations(), "naive_row", {3, 5}, "", {32, 8}); }

Config Tiled() { return MakeConfig(MatMulOperation(), "tiled", {3, 5, 7}, "double"); }

absl::StatusOr<std::vector<NcuLaunch>> RunWith(const std::string& commands,
                                               const Config& config = NaiveRow()) {
  std::vector<std::string> metrics = {"x.sum", "y.sum"};
  return RunNcu(FakeNcu(commands), config, SweepOptions(), &metrics);
}

constexpr char kTable[] =
    "echo '==PROF== Connected' >&2\n"
    "echo '\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Value\"'\n"
    "echo '\"0\",\"Kernel\",\"x.sum\",\"1,024\"'\n";

TEST(RunProcessTest, OutputErrorsAndExitCodes) {
  const absl::StatusOr<ProcessResult> result =
      RunProcess({"/bin/sh", "-c", "echo to out; echo to err >&2; cat; exit 3"});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->output, "to out\nto err\n");
  EXPECT_EQ(result->exit_code, 3);

  const absl::StatusOr<ProcessResult> killed = RunProcess({"/bin/sh", "-c", "kill -9 $$"});
  ASSERT_TRUE(killed.ok()) << killed.status();
  EXPECT_EQ(killed->exit_code, 128 + 9);

  EXPECT_EQ(RunProcess({"/no/such/program"}).status().code(), absl::StatusCode::kInternal);
}

TEST(RunNcuTest, ReadsTheTable) {
  const absl::StatusOr<std::vector<NcuLaunch>> launches = RunWith(kTable);
  ASSERT_TRUE(launches.ok()) << launches.status();
  ASSERT_EQ(launches->size(), 1u);
  EXPECT_EQ(launches->front().metrics.at("x.sum"), 1024);
}

TEST(RunNcuTest, GoesOnWithoutMetricsThatTheGpuLacks) {
  const std::string fake = FakeNcu(absl::StrCat(
      "case $* in *y.sum*) echo '==ERROR== Failed to find metric y.sum'; exit 1;; esac\n", kTable));
  std::vector<std::string> metrics = {"x.sum", "y.sum"};
  const absl::StatusOr<std::vector<NcuLaunch>> launches =
      RunNcu(fake, NaiveRow(), SweepOptions(), &metrics);
  ASSERT_TRUE(launches.ok()) << launches.status();
  EXPECT_EQ(metrics, std::vector<std::string>{"x.sum"});
  EXPECT_EQ(launches->front().metrics.at("x.sum"), 1024);
}

TEST(RunNcuTest, CallsThisProgramWithTheConfiguration) {
  const std::string print = "echo \"==ERROR== $*\"";
  const absl::Status transpose = RunWith(print).status();
  for (const char* argument :
       {"--csv", "--print-units base", "--clock-control none", "--cache-control all",
        "--profile-from-start off", "ncu_run_test --run_once", "--operation=transpose",
        "--implementations=naive_row", "--shapes=3x5", "--types=float", "--blocks=32x8",
        "--device=0"}) {
    EXPECT_TRUE(absl::StrContains(transpose.message(), argument)) << argument << ": " << transpose;
  }
  const absl::Status matmul = RunWith(print, Tiled()).status();
  for (const char* argument :
       {"--operation=matmul", "--implementations=tiled", "--shapes=3x5x7", "--types=double"}) {
    EXPECT_TRUE(absl::StrContains(matmul.message(), argument)) << argument << ": " << matmul;
  }
}

TEST(RunNcuTest, TheStatusUnderNcuComesBack) {
  const absl::Status status =
      RunWith(
          "echo 'run_once failed, status 8: device memory: 9 bytes asked for' >&2\n"
          "echo '==ERROR== The application returned an error code (1).'; exit 1")
          .status();
  EXPECT_EQ(status, absl::ResourceExhaustedError("device memory: 9 bytes asked for"));
}

TEST(RunNcuTest, AFailedExitIsAnError) {
  EXPECT_EQ(RunWith(absl::StrCat(kTable, "exit 7")).status().code(), absl::StatusCode::kInternal);
}

TEST(FindNcuTest, NamedOnThePathOrNowhere) {
  const std::string fake = FakeNcu("");
  EXPECT_EQ(FindNcu(fake).value(), fake);
  EXPECT_TRUE(absl::StrContains(FindNcu("/no/ncu").status().message(), "--ncu: '/no/ncu'"));
  ASSERT_EQ(setenv("PATH", absl::StrCat("/no:", ::testing::TempDir()).c_str(), 1), 0);
  EXPECT_TRUE(absl::EndsWith(FindNcu("").value(), "/ncu"));
}

}  // namespace
}  // namespace stridewise
