// cuda::atomic, cuda::atomic_ref, and copies of groups.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include <cstdio>
#include <cuda/atomic>
#include <cuda/barrier>

namespace cg = cooperative_groups;
constexpr int kN = 256;

struct Results {
  int count, largest, last, sums[2], message;
  int reversed[kN], odd[3];
};

__device__ cuda::atomic<int, cuda::thread_scope_device> flag;
__device__ int payload;

__global__ void Count(Results* out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  cuda::atomic_ref<int, cuda::thread_scope_device> count(out->count);
  count.fetch_add(1, cuda::memory_order_relaxed);
  cuda::atomic_ref<int, cuda::thread_scope_device>(out->largest).fetch_max(i);
  int expected = 0;
  if (cuda::atomic_ref<int>(out->last).compare_exchange_strong(expected, i + 1)) ++count;
}

// A block publishes what another one reads: with the orders there is no race.
__global__ void Publish(Results* out) {
  if (blockIdx.x == 0) {
    payload = 42;
    flag.store(1, cuda::memory_order_release);
  } else if (flag.load(cuda::memory_order_acquire) == 1) {
    out->message = payload;
  }
}

__global__ void Copy(const int* in, Results* out) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ Barrier barrier;
  __shared__ alignas(16) int tile[kN];
  __shared__ int odd[3];
  const auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&barrier, block.size());
  block.sync();
  cg::memcpy_async(block, tile, in, sizeof(tile));
  cg::memcpy_async(block, odd, in + 1, sizeof(odd));
  cg::wait(block);
  const int t = static_cast<int>(threadIdx.x);
  out->reversed[t] = tile[kN - 1 - t];
  if (t < 3) out->odd[t] = odd[2 - t];
  block.sync();
  cuda::memcpy_async(block, tile, in, sizeof(tile), barrier);
  barrier.arrive_and_wait();
  if (t < 2) out->sums[t] = tile[t] + tile[kN - 1];
}

int failures = 0;
void Expect(const char* what, int got, int wanted) {
  if (got == wanted) return;
  ++failures;
  std::fprintf(stderr, "%s: %d, wanted %d\n", what, got, wanted);
}

int main() {
  int* in;
  Results* out;
  cudaMallocManaged(&in, kN * sizeof(int));
  cudaMallocManaged(&out, sizeof(Results));
  for (int i = 0; i < kN; ++i) in[i] = 3 * i;
  *out = Results();
  Count<<<4, 64>>>(out);
  Publish<<<2, 1>>>(out);
  Copy<<<1, kN>>>(in, out);
  Expect("launches", cudaDeviceSynchronize(), cudaSuccess);
  Expect("count", out->count, 4 * 64 + 1);
  Expect("largest", out->largest, 255);
  Expect("exchanged by one", out->last > 0, 1);
  Expect("published", out->message == 42 || out->message == 0, 1);
  Expect("reversed", out->reversed[1], 3 * 254);
  Expect("odd", out->odd[0] * 100 + out->odd[2], 903);
  Expect("of a barrier", out->sums[1], 3 + 765);
  return failures;
}
