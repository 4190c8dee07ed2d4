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
  constexpr int64_t kBytes = kElements * sizeof(float);
  for (const int multiprocessors : {0, 1, 24, 100000}) {
    const auto queues = OpenCudaStreamQueues(0, multiprocessors);
    ASSERT_TRUE(queues.ok()) << queues.status();
    const auto memory = (*queues)->Allocate(kElements * sizeof(float));
    ASSERT_TRUE(memory.ok()) << memory.status();
    const Matrix<float> values = {static_cast<float*>(*memory), 1, kElements, kElements};
    const auto fill = [&](cudaStream_t stream) { return FillUniformOnDevice(values, 7, stream); };
    // On some, and on the others.
    for (const StreamQueue queue : {StreamQueue::kCompute, StreamQueue::kIn}) {
      ASSERT_TRUE(gpu::FillBytes(values.data, 0, kBytes, nullptr).ok());
      ASSERT_TRUE(gpu::Synchronize(nullptr).ok());
      ASSERT_TRUE((*queues)->RunOn(queue, fill).ok());
      // A copy waits for the kernel by an event, as between other queues.
      ASSERT_TRUE((*queues)->Record(queue, 0).ok());
      ASSERT_TRUE((*queues)->Wait(StreamQueue::kOut, 0).ok());
      std::vector<float> got(kElements);
      const BlockCopy copy = {got.data(), kBytes, values.data, kBytes, kBytes, 1};
      ASSERT_TRUE((*queues)->Copy(StreamQueue::kOut, copy).ok());
      ASSERT_TRUE((*queues)->Finish().ok());
      for (int64_t i = 0; i < kElements; i += 1001) {
        ASSERT_EQ(got[i], UniformAt<float>(7, i)) << i << ", " << multiprocessors;
      }
    }
  }
}

}  // namespace
}  // namespace stridewise
