// The bits of tensor cores' sums: the executor's against those that an H200 computed of the same
// operands, as hashes of a few thousand sums for each instruction and pattern.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/executor/executor.h"
#include "common/executor/testdata/tensor_inputs.h"
#include "common/executor/testdata/tensor_kernels.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

std::vector<uint32_t> SumsOf(Executor* executor, const TensorKernel& kernel,
                             const TensorPattern& pattern) {
  const int products = kTensorBitsSums / (kernel.m * kernel.n);
  const TensorInputs in = MakeTensorInputs(kernel, pattern);
  const auto upload = [&](const char* name, const std::vector<uint32_t>& words) {
    auto buffer = executor->Allocate(name, words.size() * sizeof(uint32_t));
    EXPECT_TRUE(buffer.ok()) << buffer.status();
    buffer->Upload(words.data());
    return *std::move(buffer);
  };
  const Buffer a = upload("a", in.a), b = upload("b", in.b), c = upload("c", in.c);
  auto d = executor->Allocate("d", c.bytes());
  EXPECT_TRUE(d.ok()) << d.status();
  const absl::Status status = kernel.launch({a.As<uint32_t>(), b.As<uint32_t>(), c.As<uint32_t>(),
                                             d->As<uint32_t>(), products, pattern.steps},
                                            executor->stream());
  EXPECT_TRUE(status.ok()) << status;
  std::vector<uint32_t> sums(in.c.size());
  d->Download(sums.data());
  return sums;
}

TEST(TensorBits, AreThoseOfAnH200) {
  std::map<std::string, std::string> hashes = TensorBitsHashes();
  const size_t rows_of_csv = hashes.size();
  ExecutorOptions options;
  options.profile = false;
  auto executor = Executor::Create(options);
  ASSERT_TRUE(executor.ok()) << executor.status();
  size_t rows = 0;
  for (const TensorKernel& kernel : TensorKernels()) {
    for (const TensorPattern& pattern : kTensorPatterns) {
      const std::string name = TensorBitsName(kernel, pattern);
      const std::vector<uint32_t> sums = SumsOf(executor->get(), kernel, pattern);
      EXPECT_EQ(HashOfWords(sums), hashes[name]) << name;
      ++rows;
    }
  }
  EXPECT_EQ(rows, rows_of_csv);
}

}  // namespace
}  // namespace stridewise::executor
