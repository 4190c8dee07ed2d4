// The queues of a GPU whose kernels run on some of its multiprocessors.

#include <cstdint>
#include <memory>
#include <vector>

#include "common/base/matrix.h"
#include "common/gpu/buffer.h"
#include "common/gpu/device_gpu_fixture.h"
#include "common/gpu/device_ops.h"
#include "common/gpu/gpu_runtime.h"
#include "common/streaming/cuda_stream_queues.h"
#include "common/streaming/stream_queues.h"
#include "common/verify/fill.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

class CudaStreamQueuesTest : public DeviceGpuTest {};

// Also on more than there are, where they run on all.
TEST_F(CudaStreamQueuesTest, SomeMultiprocessorsComputeWhatAllDo) {
  constexpr int64_t kElements = int64_t{1} << 22;
  for (const int multiprocessors : {0, 1, 24, 100000}) {
    const auto queues = OpenCudaStreamQueues(0, multiprocessors);
    ASSERT_TRUE(queues.ok()) << queues.status();
    const auto memory = (*queues)->Allocate(kElements * sizeof(float));
    ASSERT_TRUE(memory.ok()) << memory.status();
    const Matrix<float> values = {static_cast<float*>(*memory), 1, kElements, kElements};
    const auto fill = [&](cudaStream_t stream) { return FillUniformOnDevice(values, 7, stream); };
    ASSERT_TRUE((*queues)->Run(fill).ok());
    // A copy waits for the kernel by an event, as between other queues.
    ASSERT_TRUE((*queues)->Record(StreamQueue::kCompute, 0).ok());
    ASSERT_TRUE((*queues)->Wait(StreamQueue::kOut, 0).ok());
    std::vector<float> got(kElements);
    constexpr int64_t kBytes = kElements * sizeof(float);
    ASSERT_TRUE((*queues)
                    ->Copy(StreamQueue::kOut, {got.data(), kBytes, values.data, kBytes, kBytes, 1})
                    .ok());
    ASSERT_TRUE((*queues)->Finish().ok());
    for (int64_t i = 0; i < kElements; i += 1001) {
      ASSERT_EQ(got[i], UniformAt<float>(7, i)) << i << ", " << multiprocessors;
    }
  }
}

}  // namespace
}  // namespace stridewise
