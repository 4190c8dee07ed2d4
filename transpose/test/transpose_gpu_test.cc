// Every device copy and transpose on a GPU: the cases of all tests, and those that only a GPU is
// fast enough for.

#include <string>
#include <utility>
#include <vector>

#include "common/base/status_macros.h"
#include "common/gpu/buffer.h"
#include "common/gpu/cublas_handle.h"
#include "common/gpu/device.h"
#include "common/gpu/gpu_runtime.h"
#include "gtest/gtest.h"
#include "transpose/registry.h"
#include "transpose/test/transpose_test_problem.h"

namespace stridewise {
namespace {

class TransposeGpuTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto device = OpenDevice(0);
    if (!device.ok()) GTEST_SKIP() << device.status();
    auto cublas = CublasHandle::Create();
    ASSERT_TRUE(cublas.ok()) << cublas.status();
    cublas_ = *std::move(cublas);
    implementation_ = FindTransposeImplementation(GetParam());
  }

  static absl::StatusOr<DeviceBuffer> Upload(const std::vector<uint8_t>& host) {
    ASSIGN_OR_RETURN(DeviceBuffer buffer, DeviceBuffer::Allocate(host.size()));
    RETURN_IF_ERROR(gpu::Copy(buffer.data(), host.data(), host.size()));
    return buffer;
  }

  // Runs `problem` on the device and copies `out`, with its guards, back.
  absl::Status RunOnDevice(TransposeTestProblem* problem, const Block& block = {0, 0, 0}) {
    std::vector<uint8_t>& out = problem->out_with_guards();
    ASSIGN_OR_RETURN(const DeviceBuffer device_in, Upload(problem->in()));
    ASSIGN_OR_RETURN(const DeviceBuffer device_out, Upload(out));
    TransposeArgs args = problem->ArgsAt(device_in.data(), device_out.data());
    const int64_t workspace_bytes = TransposeWorkspaceBytes(*implementation_, args);
    ASSIGN_OR_RETURN(const DeviceBuffer workspace,
                     DeviceBuffer::Allocate(static_cast<size_t>(workspace_bytes)));
    args.workspace = workspace.data();
    args.cublas = cublas_.get();
    args.block = block;
    RETURN_IF_ERROR(RunTranspose(*implementation_, args));
    RETURN_IF_ERROR(gpu::Synchronize(nullptr));
    return gpu::Copy(out.data(), device_out.data(), out.size());
  }

  void RunCase(const TransposeCase& c, int64_t element_bytes, const Block& block = {0, 0, 0}) {
    TransposeTestProblem problem(c, element_bytes, implementation_->operation);
    const absl::Status status = RunOnDevice(&problem, block);
    // The vectorised copy is for aligned rows without gaps, and says so.
    const bool refuses = GetParam() == "copy_vector" &&
                         ((c.pad > 0 && c.rows > 1) || c.offset_in * element_bytes % 16 != 0 ||
                          c.offset_out * element_bytes % 16 != 0);
    if (refuses) {
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c;
      return;
    }
    ASSERT_TRUE(status.ok()) << c << ": " << status;
    ASSERT_TRUE(problem.Check().ok())
        << c << ", " << element_bytes << " bytes: " << problem.Check();
  }

  const TransposeImplementation* implementation_ = nullptr;
  CublasHandle cublas_;
};

TEST_P(TransposeGpuTest, IsExactInEverySizeAndShape) {
  for (const int64_t element_bytes : {1, 2, 4, 8, 16}) {
    if ((implementation_->element_sizes & element_bytes) == 0) {
      TransposeTestProblem problem({5, 7, 0}, element_bytes, implementation_->operation);
      EXPECT_EQ(RunOnDevice(&problem).code(), absl::StatusCode::kInvalidArgument);
      continue;
    }
    for (const TransposeCase& c : TransposeCasesFor(*implementation_)) RunCase(c, element_bytes);
  }
}

// More tiles one above the other than grid.y holds, on either side of the transpose.
TEST_P(TransposeGpuTest, TallAndWideGrids) {
  if (implementation_->square_only) {
    RunCase({4097, 4097, 0}, 1);  // A square of this height would be too large.
    return;
  }
  RunCase({65535 * 32 + 33, 3, 0}, 4);
  RunCase({3, 65535 * 32 + 33, 0}, 4);
  RunCase({1, 4194305, 0}, 4);
  RunCase({4194305, 1, 0}, 4);
}

TEST_P(TransposeGpuTest, EveryBlockShape) {
  if (implementation_->blocks == Blocks::kFixed) {
    TransposeTestProblem problem({5, 5, 0}, 4, implementation_->operation);
    EXPECT_EQ(RunOnDevice(&problem, {3, 7}).code(), absl::StatusCode::kInvalidArgument);
    return;
  }
  for (const Block& block :
       {Block{1, 1}, Block{8, 8}, Block{8, 32}, Block{16, 16}, Block{32, 8}, Block{32, 32},
        Block{256, 1}, Block{1, 256}, Block{3, 7}, Block{1024, 1}, Block{96, 4}}) {
    for (const int64_t element_bytes : {1, 4, 16}) RunCase({135, 277, 3}, element_bytes, block);
  }
  for (const Block& block : {Block{64, 32}, Block{2048, 1}}) {
    TransposeTestProblem problem({5, 5, 0}, 4, implementation_->operation);
    EXPECT_EQ(RunOnDevice(&problem, block).code(), absl::StatusCode::kInvalidArgument);
  }
  RunCase({5, 5, 0}, 4);  // The refused launches left the device usable.
}

INSTANTIATE_TEST_SUITE_P(All, TransposeGpuTest, testing::ValuesIn(TransposeNames(Where::kDevice)),
                         [](const auto& info) { return info.param; });

// 46341 x 46349 bytes are more than 2^31 elements, whose offsets need 64 bits. Needs memory for
// three such matrices of 2.1 GB.
TEST(TransposeLargeTest, MoreThanTwoToTheThirtyOneElements) {
  const auto device = OpenDevice(0);
  if (!device.ok()) GTEST_SKIP() << device.status();
  constexpr int64_t kRows = 46341;
  constexpr int64_t kCols = 46349;
  if (device->memory_bytes < 3 * kRows * kCols) GTEST_SKIP() << "too little device memory";
  auto in = DeviceBuffer::Allocate(kRows * kCols);
  auto out = DeviceBuffer::Allocate(kRows * kCols);
  auto back = DeviceBuffer::Allocate(kRows * kCols);
  ASSERT_TRUE(in.ok() && out.ok() && back.ok());
  std::vector<uint8_t> host(kRows * kCols);
  for (size_t i = 0; i < host.size(); i += 8) {
    const uint64_t bits = Mix64(i);
    std::memcpy(&host[i], &bits, host.size() - i < 8 ? host.size() - i : 8);
  }
  ASSERT_TRUE(gpu::Copy(in->data(), host.data(), host.size()).ok());
  std::vector<uint8_t> got(host.size());
  for (const char* name :
       {"naive_row", "tile_unrolled", "tile_swizzled", "tile_persistent", "auto"}) {
    const TransposeImplementation& implementation = *FindTransposeImplementation(name);
    ASSERT_TRUE(out->Poison().ok());
    ASSERT_TRUE(back->Poison().ok());
    TransposeArgs args;
    args.rows = kRows;
    args.cols = kCols;
    args.element_bytes = 1;
    args.in = in->data();
    args.ld_in = kCols;
    args.out = out->data();
    args.ld_out = kRows;
    ASSERT_TRUE(RunTranspose(implementation, args).ok());
    ASSERT_TRUE(gpu::Synchronize(nullptr).ok());
    // A few elements, for a transpose that is its own inverse in the wrong way; then there and
    // back.
    for (const auto& [r, c] : std::vector<std::pair<int64_t, int64_t>>{{0, kCols - 1},
                                                                       {kRows - 1, 0},
                                                                       {kRows - 1, kCols - 1},
                                                                       {46340, 46000},
                                                                       {123, 45678}}) {
      uint8_t element = 0;
      ASSERT_TRUE(gpu::Copy(&element, out->As<uint8_t>() + c * kRows + r, 1).ok());
      EXPECT_EQ(element, host[r * kCols + c]) << name << " " << r << "," << c;
    }
    std::swap(args.rows, args.cols);
    std::swap(args.ld_in, args.ld_out);
    args.in = out->data();
    args.out = back->data();
    ASSERT_TRUE(RunTranspose(implementation, args).ok());
    ASSERT_TRUE(gpu::Synchronize(nullptr).ok());
    ASSERT_TRUE(gpu::Copy(got.data(), back->data(), got.size()).ok());
    EXPECT_TRUE(got == host) << name;
  }
}

}  // namespace
}  // namespace stridewise
