// The fixture of tests that run an implementation on a GPU with problems of matmul_test_problem.h.

#ifndef STRIDEWISE_MATMUL_TEST_DEVICE_IMPLEMENTATION_TEST_H_
#define STRIDEWISE_MATMUL_TEST_DEVICE_IMPLEMENTATION_TEST_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/element_type.h"
#include "common/base/status_macros.h"
#include "common/gpu/buffer.h"
#include "common/gpu/cublas_handle.h"
#include "common/gpu/device.h"
#include "common/gpu/gpu_runtime.h"
#include "gtest/gtest.h"
#include "matmul/registry.h"
#include "matmul/test/defined_product.h"
#include "matmul/test/matmul_test_problem.h"

namespace stridewise {

// Copies to a buffer of the device.
template <typename T>
absl::StatusOr<DeviceBuffer> Upload(const std::vector<T>& host) {
  ASSIGN_OR_RETURN(DeviceBuffer buffer, DeviceBuffer::Allocate(host.size() * sizeof(T)));
  if (!host.empty()) RETURN_IF_ERROR(gpu::Copy(buffer.data(), host.data(), buffer.bytes()));
  return buffer;
}

// The parameters of a test: the names of the implementations on the device to which it applies. A
// test that does not apply is not there, and one that is skipped says that there was no device for
// it.
template <typename Applies>
auto DeviceImplementations(Applies applies) {
  std::vector<std::string> names;
  for (const MatMulImplementation& implementation : MatMulImplementations()) {
    if (implementation.on_device() && applies(implementation)) names.push_back(implementation.name);
  }
  return testing::ValuesIn(names);
}

inline std::string NameOfImplementation(const testing::TestParamInfo<std::string>& info) {
  return info.param;
}

// Returns whether it multiplies these operands to such a C, in any precision.
inline bool TakesTypes(const MatMulImplementation& implementation, ElementType operands,
                       ElementType output) {
  MatMulArgs args;
  args.a.type = args.b.type = operands;
  args.c.type = output;
  return FindTypes(implementation, args) != nullptr;
}

// The parameter names the implementation. Skipped where there is no GPU, or an older one than it
// needs.
class DeviceImplementationTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto device = OpenDevice(0);
    if (!device.ok()) GTEST_SKIP() << device.status();
    implementation_ = FindMatMulImplementation(GetParam());
    if (!HasInstructions(10 * device->compute_major + device->compute_minor,
                         implementation_->target)) {
      GTEST_SKIP() << "not for " << device->name;
    }
  }

  // Returns a handle, which is created at the first call.
  cublasHandle_t cublas() {
    if (cublas_.get() == nullptr) {
      auto created = CublasHandle::Create();
      EXPECT_TRUE(created.ok()) << created.status();
      if (created.ok()) cublas_ = *std::move(created);
    }
    return cublas_.get();
  }

  // Runs `problem` on the device, perhaps with the workspace that the implementation asks for, and
  // copies C, with its guards, back. DataLoss where something behind the workspace was written.
  template <typename T, typename Out, typename OfB>
  absl::Status RunOnDevice(MatMulTestProblem<T, Out, OfB>* problem, bool with_workspace = false,
                           const Block& block = kNoBlock) {
    std::vector<Out>& c = problem->c_with_guards();
    ASSIGN_OR_RETURN(const DeviceBuffer a, Upload(problem->a()));
    ASSIGN_OR_RETURN(const DeviceBuffer b, Upload(problem->b()));
    ASSIGN_OR_RETURN(const DeviceBuffer device_c, Upload(c));
    ASSIGN_OR_RETURN(const DeviceBuffer bias, Upload(problem->bias()));
    MatMulArgs args = problem->ArgsAt(a.data(), b.data(), device_c.data());
    if (args.epilogue.bias != nullptr) args.epilogue.bias = bias.data();
    ASSIGN_OR_RETURN(const DeviceBuffer scales_a, UploadScales(ScalesOfA(args), &args.scales.a));
    ASSIGN_OR_RETURN(const DeviceBuffer scales_b, UploadScales(ScalesOfB(args), &args.scales.b));
    if (implementation_->needs_cublas) args.cublas = cublas();
    args.block = block;
    const int64_t bytes = with_workspace ? MatMulWorkspaceBytes(*implementation_, args) : 0;
    const std::vector<uint8_t> canaries(static_cast<size_t>(bytes) + kBehind, kCanary);
    ASSIGN_OR_RETURN(const DeviceBuffer workspace, Upload(canaries));
    if (bytes > 0) args.workspace = workspace.data();
    args.workspace_bytes = bytes;
    RETURN_IF_ERROR(RunMatMul(*implementation_, args));
    RETURN_IF_ERROR(gpu::Synchronize(nullptr));
    RETURN_IF_ERROR(gpu::Copy(c.data(), device_c.data(), c.size() * sizeof(Out)));
    uint8_t behind[kBehind];
    RETURN_IF_ERROR(gpu::Copy(behind, workspace.As<uint8_t>() + bytes, kBehind));
    const bool untouched =
        std::all_of(behind, behind + kBehind, [](uint8_t byte) { return byte == kCanary; });
    return untouched ? absl::OkStatus() : absl::DataLossError("written behind the workspace");
  }

  const MatMulImplementation* implementation_ = nullptr;

 private:
  static constexpr uint8_t kCanary = 0x5a;
  static constexpr size_t kBehind = 256;  // Bytes behind the workspace.

  // Copies the scales of an operand to the device and makes *scales point there.
  static absl::StatusOr<DeviceBuffer> UploadScales(int64_t count, const float** scales) {
    if (*scales == nullptr) return DeviceBuffer();
    ASSIGN_OR_RETURN(DeviceBuffer buffer, Upload(std::vector<float>(*scales, *scales + count)));
    *scales = buffer.As<float>();
    return buffer;
  }

  CublasHandle cublas_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TEST_DEVICE_IMPLEMENTATION_TEST_H_
