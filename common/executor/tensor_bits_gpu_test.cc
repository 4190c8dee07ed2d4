// The other half of tensor_bits_test: the rows of the CSV are what the GPU computes. Where they are
// not, the failures print the rows that are.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/executor/testdata/tensor_inputs.h"
#include "common/executor/testdata/tensor_kernels.h"
#include "common/gpu/buffer.h"
#include "common/gpu/device.h"
#include "common/gpu/gpu_runtime.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

DeviceBuffer Upload(const std::vector<uint32_t>& words) {
  auto buffer = DeviceBuffer::Allocate(words.size() * sizeof(uint32_t));
  EXPECT_TRUE(buffer.ok()) << buffer.status();
  EXPECT_TRUE(gpu::Copy(buffer->data(), words.data(), buffer->bytes()).ok());
  return *std::move(buffer);
}

TEST(TensorBitsGpu, RowsAreThoseOfThisGpu) {
  const auto device = OpenDevice(0);
  if (!device.ok()) GTEST_SKIP() << device.status();
  if (device->compute_major != 9) GTEST_SKIP() << "The rows are those of Hopper.";
  const std::map<std::string, std::string> hashes = TensorBitsHashes();
  for (const TensorKernel& kernel : TensorKernels()) {
    for (const TensorPattern& pattern : kTensorPatterns) {
      const int products = kTensorBitsSums / (kernel.m * kernel.n);
      const TensorInputs in = MakeTensorInputs(kernel, pattern);
      const DeviceBuffer a = Upload(in.a), b = Upload(in.b), c = Upload(in.c);
      ASSERT_TRUE(kernel
                      .launch({a.As<uint32_t>(), b.As<uint32_t>(), c.As<uint32_t>(),
                               c.As<uint32_t>(), products, pattern.steps},
                              nullptr)
                      .ok());
      std::vector<uint32_t> sums(in.c.size());
      ASSERT_TRUE(gpu::Copy(sums.data(), c.data(), c.bytes()).ok());
      const std::string name = TensorBitsName(kernel, pattern);
      const std::string hash = HashOfWords(sums);
      const auto known = hashes.find(name);
      EXPECT_TRUE(known != hashes.end() && known->second == hash) << name << "," << hash;
    }
  }
}

}  // namespace
}  // namespace stridewise::executor
