// What is said where a library or a device is missing.

#include <cstddef>
#include <cstdlib>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "benchmarks/distributed/grid_devices.h"
#include "benchmarks/distributed/grid_measurement.h"
#include "common/distributed/cublasmp_library.h"
#include "common/distributed/nccl_library.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

bool Says(const absl::Status& status, const std::string& text) {
  return absl::IsUnavailable(status) && absl::StrContains(status.message(), text);
}

TEST(GridLibrariesTest, WhatIsMissingIsNamedBeforeAnythingIsOpened) {
  setenv("STRIDEWISE_NCCL", "no_such_folder/libnccl.so.2", 1);
  setenv("STRIDEWISE_CUBLASMP", "no_such_folder/libcublasmp.so.0", 1);
  EXPECT_TRUE(Says(LoadCublasMp().status(), "cuBLASMp"));
  EXPECT_TRUE(Says(LoadCublasMp().status(), "no_such_folder"));

  GridSubject subject;
  subject.grid = {2, 3};
  GridDevices devices;
  devices.open = [](int) -> absl::StatusOr<GridDevice> { return absl::InternalError("opened"); };
  devices.check = [](int first, int count) -> absl::Status {
    return first + count <= 4 ? absl::OkStatus() : absl::UnavailableError("too few");
  };
  EXPECT_TRUE(Says(MeasureOnGrid(subject, devices).status(), "too few"));
  subject.grid = {2, 2};
  EXPECT_TRUE(Says(MeasureOnGrid(subject, devices).status(), "NCCL"));
  subject.grid = {1, 1};  // Sends nothing.
  EXPECT_EQ(MeasureOnGrid(subject, devices).status().message(), "rank 0: opened");
  subject.by_cublasmp = true;
  EXPECT_TRUE(Says(MeasureOnGrid(subject, devices).status(), "NCCL"));
  subject.by_cublasmp = false;
  subject.grid = {2, 2};
  subject.is_direct = true;  // Needs none.
  EXPECT_EQ(MeasureOnGrid(subject, devices).status().message(), "rank 0: opened");
  subject.first_device = 1;
  EXPECT_TRUE(Says(MeasureOnGrid(subject, devices).status(), "too few"));
}

template <int kVersion>
NcclResult NcclOf(int* version) {
  *version = kVersion;
  return kNcclSuccess;
}

TEST(GridLibrariesTest, OlderCublasMpServesOneGpuOfAProcess) {
  NcclLibrary nccl = {};
  nccl.GetVersion = NcclOf<22907>;
  CublasMpLibrary library = {};
  library.version = 700;
  EXPECT_TRUE(ForRanks(&library, 1, nccl).ok());
  EXPECT_TRUE(Says(ForRanks(&library, 2, nccl).status(), "700"));
  library.version = kCublasMpOfSeveralGpus;
  EXPECT_TRUE(ForRanks(&library, 8, nccl).ok());
  library.CublasGetCudartVersion = [] { return size_t{12090}; };
  EXPECT_TRUE(ForRanks(&library, 1, nccl).ok());
  EXPECT_TRUE(Says(ForRanks(&library, 2, nccl).status(), "12090"));
  library.CublasGetCudartVersion = [] { return size_t{13000}; };
  EXPECT_TRUE(ForRanks(&library, 2, nccl).ok());
}

TEST(GridLibrariesTest, CublasMpOfAnotherNcclIsNotUsed) {
  NcclLibrary nccl = {};
  nccl.GetVersion = NcclOf<22907>;
  CublasMpLibrary library = {};
  library.version = kCublasMpOfSeveralGpus;
  library.NcclGetVersion = nccl.GetVersion;
  EXPECT_TRUE(ForRanks(&library, 2, nccl).ok());
  library.NcclGetVersion = NcclOf<21805>;
  for (const int ranks : {1, 2}) {
    EXPECT_TRUE(Says(ForRanks(&library, ranks, nccl).status(), "21805"));
    EXPECT_TRUE(Says(ForRanks(&library, ranks, nccl).status(), "22907"));
  }
}

TEST(GridLibrariesTest, GpusThatAreNotThereAreNotOpened) {
  EXPECT_TRUE(absl::IsUnavailable(GpusOfThisMachine().check(0, 1 << 20)));
}

}  // namespace
}  // namespace stridewise
