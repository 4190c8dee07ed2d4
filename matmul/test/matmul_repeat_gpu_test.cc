// The same call gives the same bits, again and again, whatever the workspace holds before it and
// whatever runs beside it: what a kernel reads before it is written, or while it is written, would
// show sooner or later. The first result is compared with cuBLAS's.
//
// STRIDEWISE_REPEATS is the number of repeats, 6 where it is not set; from 100 on large products
// are repeated, too.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/base/status_macros.h"
#include "common/gpu/buffer.h"
#include "common/gpu/cuda_status.h"
#include "common/gpu/device_ops.h"
#include "common/gpu/gpu_runtime.h"
#include "gtest/gtest.h"
#include "matmul/dispatch.h"
#include "matmul/registry.h"
#include "matmul/test/device_implementation_test.h"
#include "matmul/test/differences.h"

namespace stridewise {
namespace {

struct RepeatCase {
  int64_t m, n, k;
  const char* layout;  // "nt": A as it is, B transposed.
  double beta;
  int64_t pad;  // Elements between the rows of A, B and C.
  int64_t batch;
};

// Whole and split tiles, packed operands, rests of a few rows and columns, clusters, batches.
constexpr RepeatCase kCases[] = {{1000, 489, 768, "tt", 1, 0, 1},
                                 {489, 1001, 768, "nn", 0.5, 1, 1},
                                 {2049, 2050, 511, "nt", 0, 0, 1},
                                 {130, 300, 5000, "tn", 1, 0, 1},
                                 {21, 4001, 1665, "tt", 1, 0, 1},
                                 {5000, 33, 700, "nt", 0, 2, 1},
                                 {64, 64, 20000, "nn", 1, 0, 1},
                                 {1, 5000, 3001, "nt", 0, 0, 1},
                                 {3000, 1, 2001, "nn", 1, 0, 1},
                                 {57, 333, 375, "nn", 1, 0, 60},
                                 {60, 56, 323, "tt", 0, 0, 90},
                                 {1536, 1537, 1500, "tn", 0, 0, 1},
                                 {700, 900, 16, "tn", 1, 0, 3},
                                 // That the TMA can address.
                                 {260, 388, 1000, "nt", 1, 0, 1},
                                 {132, 131, 4000, "nt", 0.5, 0, 1},
                                 {1029, 516, 256, "tt", 0, 3, 1},
                                 {516, 260, 300, "nn", 1, 0, 7},
                                 // Chunks of few columns that no stage is used for twice.
                                 {357, 10, 39, "tt", 0, 0, 35},
                                 {12, 500, 50, "nn", 1, 0, 9}};

// From a call of which one in some thousand may once have been wrong.
constexpr RepeatCase kLargeCases[] = {{50257, 489, 768, "tt", 1, 0, 1},
                                      {489, 50257, 768, "tt", 0.7, 0, 1},
                                      {50257, 489, 768, "nn", 1, 0, 1},
                                      {4097, 4096, 2048, "nt", 1, 1, 1},
                                      {8192, 1100, 1024, "tn", 0, 0, 1}};

int Repeats() {
  const char* value = std::getenv("STRIDEWISE_REPEATS");
  return value == nullptr ? 6 : std::max(1, std::atoi(value));
}

// Seconds after which a case is not repeated any more.
double MostSeconds() {
  const char* value = std::getenv("STRIDEWISE_REPEAT_SECONDS");
  return value == nullptr ? 1e9 : std::atof(value);
}

class MatMulRepeatGpuTest : public DeviceImplementationTest {
 protected:
  void SetUp() override {
    DeviceImplementationTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&beside_, cudaStreamNonBlocking), cudaSuccess);
  }
  ~MatMulRepeatGpuTest() override {
    if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
    if (beside_ != nullptr) (void)cudaStreamDestroy(beside_);
  }

  // Allocates and fills the operands, and computes what cuBLAS makes of them.
  absl::Status Prepare(const RepeatCase& c) {
    args_ = MatMulArgs();
    args_.m = c.m;
    args_.n = c.n;
    args_.k = c.k;
    args_.batch = c.batch;
    args_.beta = c.beta;
    args_.a.transposed = c.layout[0] == 't';
    args_.b.transposed = c.layout[1] == 't';
    args_.a.ld = (args_.a.transposed ? c.m : c.k) + c.pad;
    args_.b.ld = (args_.b.transposed ? c.k : c.n) + c.pad;
    args_.c.ld = c.n + c.pad;
    args_.a.stride = (args_.a.transposed ? c.k : c.m) * args_.a.ld;
    args_.b.stride = (args_.b.transposed ? c.n : c.k) * args_.b.ld;
    args_.c.stride = c.m * args_.c.ld;
    args_.stream = stream_;
    elements_ = args_.c.stride * c.batch;
    ASSIGN_OR_RETURN(a_, Filled(args_.a.stride * c.batch, 1));
    ASSIGN_OR_RETURN(b_, Filled(args_.b.stride * c.batch, 2));
    ASSIGN_OR_RETURN(before_, Filled(elements_, 3));
    for (DeviceBuffer* buffer : {&c_, &first_, &vendors_}) {
      ASSIGN_OR_RETURN(*buffer, DeviceBuffer::Allocate(before_.bytes()));
    }
    ASSIGN_OR_RETURN(found_, DeviceBuffer::Allocate(sizeof(Differences)));
    ASSIGN_OR_RETURN(disturbed_, DeviceBuffer::Allocate(kDisturbedBytes));
    args_.a.data = a_.data();
    args_.b.data = b_.data();
    args_.c.data = c_.data();
    RETURN_IF_ERROR(gpu::Synchronize(nullptr));
    MatMulArgs vendors = args_;
    vendors.cublas = cublas();
    RETURN_IF_ERROR(Renew());
    RETURN_IF_ERROR(RunMatMul(*FindMatMulImplementation("cublas"), vendors));
    return Keep(vendors_);
  }

  // Returns OK where `repeats` calls give the bits of the first, which is near cuBLAS's.
  absl::Status Repeat(const RepeatCase& c, int64_t workspace_bytes, int repeats) {
    ASSIGN_OR_RETURN(workspace_, DeviceBuffer::Allocate(static_cast<size_t>(workspace_bytes)));
    args_.workspace = workspace_bytes > 0 ? workspace_.data() : nullptr;
    args_.workspace_bytes = workspace_bytes;
    RETURN_IF_CUDA_ERROR(cudaMemsetAsync(found_.data(), 0, sizeof(Differences), stream_));
    RETURN_IF_ERROR(Renew());
    RETURN_IF_ERROR(RunMatMul(*implementation_, args_));
    RETURN_IF_ERROR(Keep(first_));
    // Of k + 2 roundings each, where the magnitudes of products are 1/4 in the mean.
    const auto k = static_cast<float>(c.k);
    RETURN_IF_ERROR(Compare(vendors_, 2 * (k + 2) * 0x1p-24F * (0.4F * k + 3)));
    RETURN_IF_ERROR(Check(c, "cuBLAS's result", 1));
    const SteadyClock clock;
    const double start = clock.Now();
    int calls = 0;
    for (; calls < repeats && clock.Now() - start < MostSeconds(); ++calls) {
      if (calls % 2 == 1 && workspace_bytes > 0) {
        // NaN wherever something is read that this call has not written.
        RETURN_IF_CUDA_ERROR(cudaMemsetAsync(workspace_.data(), 0xff, workspace_.bytes(), stream_));
      }
      RETURN_IF_ERROR(Renew());
      if (calls % 3 != 0) RETURN_IF_ERROR(Disturb(calls));
      RETURN_IF_ERROR(RunMatMul(*implementation_, args_));
      RETURN_IF_ERROR(Compare(first_, 0));
      // Not so far ahead that the clock says nothing.
      if (calls % 16 == 15) RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(stream_));
    }
    const absl::Status status = Check(c, "the first result", calls);
    RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(beside_));
    return status;
  }

  MatMulArgs args_;

 private:
  static constexpr size_t kDisturbedBytes = size_t{48} << 20;

  absl::StatusOr<DeviceBuffer> Filled(int64_t elements, uint64_t seed) {
    ASSIGN_OR_RETURN(DeviceBuffer buffer,
                     DeviceBuffer::Allocate(static_cast<size_t>(elements) * sizeof(float)));
    RETURN_IF_ERROR(FillUniformOnDevice(Matrix<float>{buffer.As<float>(), 1, elements, elements},
                                        seed, nullptr));
    return buffer;
  }

  // Sets C to what it was before the first call.
  absl::Status Renew() {
    return CUDA_STATUS(
        cudaMemcpyAsync(c_.data(), before_.data(), c_.bytes(), cudaMemcpyDeviceToDevice, stream_));
  }
  absl::Status Keep(const DeviceBuffer& copy) {
    RETURN_IF_CUDA_ERROR(
        cudaMemcpyAsync(copy.data(), c_.data(), c_.bytes(), cudaMemcpyDeviceToDevice, stream_));
    return CUDA_STATUS(cudaStreamSynchronize(stream_));
  }

  // Has another stream write to memory beside the next call, each time for another time.
  absl::Status Disturb(int number) {
    const size_t bytes = (static_cast<size_t>(number) * 7919 % 47 + 1) << 20;
    return CUDA_STATUS(cudaMemsetAsync(disturbed_.data(), number & 255, bytes, beside_));
  }

  absl::Status Compare(const DeviceBuffer& with, float tolerance) {
    return CountDifferences(c_.As<float>(), with.As<float>(), elements_, tolerance,
                            found_.As<Differences>(), stream_);
  }

  // Returns DataLoss where a comparison found something.
  absl::Status Check(const RepeatCase& c, const char* with, int calls) {
    Differences found;
    RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(stream_));
    RETURN_IF_ERROR(gpu::Copy(&found, found_.data(), sizeof(found)));
    if (found.count == 0) return absl::OkStatus();
    float greatest = 0;
    std::memcpy(&greatest, &found.greatest_bits, sizeof(greatest));
    const auto last = static_cast<int64_t>(found.last_plus) - 1;
    return absl::DataLossError(
        absl::StrCat(c.m, "x", c.n, "x", c.k, " ", c.layout, " beta ", c.beta, " batch ", c.batch,
                     " workspace ", args_.workspace_bytes, ": of ", calls, " calls ", found.count,
                     " elements differ from ", with, ", by up to ", greatest, ", the last in row ",
                     last / args_.c.ld, ", column ", last % args_.c.ld));
  }

  cudaStream_t stream_ = nullptr;
  cudaStream_t beside_ = nullptr;
  int64_t elements_ = 0;  // Of C, with what lies between rows.
  DeviceBuffer a_, b_, c_, before_, first_, vendors_, found_, workspace_, disturbed_;
};

TEST_P(MatMulRepeatGpuTest, GivesTheSameBits) {
  constexpr int kManyRepeats = 100;
  const int repeats = Repeats();
  std::vector<RepeatCase> cases(std::begin(kCases), std::end(kCases));
  if (repeats >= kManyRepeats) cases.assign(std::begin(kLargeCases), std::end(kLargeCases));
  for (const RepeatCase& c : cases) {
    const absl::Status prepared = Prepare(c);
    ASSERT_TRUE(prepared.ok()) << prepared;
    if (!implementation_->dispatch.takes.takes(args_)) continue;
    const int64_t asked = MatMulWorkspaceBytes(*implementation_, args_);
    for (const int64_t bytes : {asked, int64_t{0}}) {
      const absl::Status status = Repeat(c, bytes, repeats);
      EXPECT_TRUE(status.ok()) << status;
      if (asked == 0) break;
    }
  }
}

auto Kernels() {
  std::vector<std::string> names;
  for (const MatMulDispatch& row : MatMulDispatchTable()) names.emplace_back(row.implementation);
  return testing::ValuesIn(names);
}

INSTANTIATE_TEST_SUITE_P(All, MatMulRepeatGpuTest, Kernels(),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace stridewise
