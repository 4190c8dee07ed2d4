#include "common/executor/testdata/cluster_ptx.h"
#include "common/executor/testdata/multicast_kernels.h"
#include "common/gpu/launch.h"

namespace stridewise::executor {
namespace {

#define EXPECT(barrier, bytes)                                                              \
  asm volatile(                                                                             \
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(OwnAddress(&barrier)), \
      "r"(bytes)                                                                            \
      : "memory")
#define MULTICAST(to, from, bytes, barrier, blocks)                                           \
  asm volatile(                                                                               \
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster " \
      "[%0], "                                                                                \
      "[%1], %2, [%3], %4;" ::"r"(OwnAddress(to)),                                            \
      "l"(from), "r"(bytes), "r"(OwnAddress(&barrier)), "h"(static_cast<uint16_t>(blocks))    \
      : "memory")

// Each of four blocks loads a quarter of the input for all of them. That all wait for all bytes is
// enough for them to end.
__global__ void MulticastQuarters(int* out, const int* in) {
  __shared__ int s[256];
  __shared__ uint64_t full;
  const unsigned t = threadIdx.x;
  const unsigned first = OwnRank() * 64;
  if (t == 0) {
    INIT_OF_CLUSTER(full, 1);
    EXPECT(full, 1024);
  }
  CLUSTER_ARRIVE_RELAXED();  // Publishes the barriers, behind their fence.
  CLUSTER_WAIT();
  if (t == 0) MULTICAST(s + first, in + first, 256, full, 0xf);
  WAIT_AT(OwnAddress(&full), 0);
  out[first + t] = s[255 - first - t];
}

// Both blocks load their half of a stage for each other, again and again. kReaders is the number of
// blocks that tell a block when they have read the stage: 2 if it is to be correct.
template <int kReaders, int kThreads, typename T>
__device__ void Pipeline(T* out, const T* in) {
  constexpr int kSteps = 3;
  constexpr int kHalf = kThreads / 2;
  __shared__ __align__(16) T s[kThreads];
  __shared__ uint64_t full, empty;
  const unsigned t = threadIdx.x;
  const unsigned rank = OwnRank();
  const unsigned half = rank * kHalf;
  if (t == 0) {
    INIT_OF_CLUSTER(full, 1);
    INIT_OF_CLUSTER(empty, kThreads * kReaders);
  }
  CLUSTER_SYNC();
  T sum = 0;
  for (int step = 0; step < kSteps; ++step) {
    if (t == 0) {
      if (step > 0) WAIT_AT(OwnAddress(&empty), (step - 1) % 2);
      EXPECT(full, kThreads * 4);
      const T* const from = in + step * kThreads / 4 + half;
      MULTICAST(s + half, from, kHalf * 4, full, 3);  // BUG MulticastOverwrites
    }
    WAIT_AT(OwnAddress(&full), step % 2);
    sum += s[kThreads - 1 - t];
    ARRIVE_AT(ClusterAddress(&empty, rank));
    if (kReaders == 2) ARRIVE_AT(ClusterAddress(&empty, 1 - rank));
  }
  out[rank * kThreads + t] = sum;
  CLUSTER_SYNC();
}
__global__ void MulticastPipeline(int* out, const int* in) { Pipeline<2, 128>(out, in); }
int WantPipeline(int i) { return 3 * (3 * (127 - i % 128) + 32 * 3); }

// --- Bugs: two blocks of 32 threads ---

__global__ void MulticastOverwrites(float* out, const float* in) { Pipeline<1, 32>(out, in); }

#define STAGE(expected)                  \
  __shared__ __align__(16) float s[32];  \
  __shared__ uint64_t full;              \
  const unsigned t = threadIdx.x;        \
  const unsigned i = OwnRank() * 32 + t; \
  if (t == 0) {                          \
    INIT_OF_CLUSTER(full, 1);            \
    EXPECT(full, expected);              \
  }                                      \
  CLUSTER_SYNC()

__global__ void MulticastOfTooFewBytes(float* out, const float* in) {
  STAGE(OwnRank() == 0 ? 128 : 256);
  if (i == 0) MULTICAST(s, in, 128, full, 3);
  WAIT_AT(OwnAddress(&full), 0);  // BUG MulticastOfTooFewBytes
  out[i] = s[t];
}

__global__ void MulticastToOneBlockOnly(float* out, const float* in) {
  STAGE(128);
  if (i == 0) MULTICAST(s, in, 128, full, 1);
  WAIT_AT(OwnAddress(&full), 0);  // BUG MulticastToOneBlockOnly
  out[i] = s[t];
}

__global__ void MulticastToABlockThatIsNotThere(float* out, const float* in) {
  STAGE(128);
  if (i == 0) MULTICAST(s, in, 128, full, 5);  // BUG MulticastToABlockThatIsNotThere
  WAIT_AT(OwnAddress(&full), 0);
  out[i] = s[t];
}

__global__ void MulticastReadTooEarly(float* out, const float* in) {
  STAGE(128);
  if (i == 0) MULTICAST(s, in, 128, full, 3);
  CLUSTER_SYNC();
  if (OwnRank() == 0) WAIT_AT(OwnAddress(&full), 0);
  out[i] = s[t];  // BUG MulticastReadTooEarly
  WAIT_AT(OwnAddress(&full), 0);
}

__global__ void MulticastNotWaitedFor(float* out, const float* in) {
  STAGE(128);
  if (i == 0) MULTICAST(s, in, 128, full, 3);  // BUG MulticastNotWaitedFor
  if (OwnRank() == 0) WAIT_AT(OwnAddress(&full), 0);
  out[i] = OwnRank() == 0 ? s[t] : 0;
}

template <typename Args, typename... Params>
absl::Status Run(void (*kernel)(Params...), const Args& args, int64_t blocks, int64_t threads) {
  return LaunchOfClusters(Grid{blocks}, kernel, Grid{blocks}, Block{threads}, 0, args.stream,
                          args.out, args.in);
}

}  // namespace

std::vector<CorrectKernel> MulticastKernels() {
  return {
      {"MulticastQuarters", false,
       [](const CorrectArgs& args) { return Run(MulticastQuarters, args, 4, 64); },
       [](int i) { return 3 * (255 - i); }},
      {"MulticastPipeline", false,
       [](const CorrectArgs& args) { return Run(MulticastPipeline, args, 2, 128); }, WantPipeline},
  };
}

#define BUG(Kernel, check)                                                              \
  {                                                                                     \
#Kernel, Check::check, [](const BugArgs& args) { return Run(Kernel, args, 2, 32); } \
  }

std::vector<PlantedBug> MulticastBugs() {
  return {
      BUG(MulticastOverwrites, kRace),         BUG(MulticastOfTooFewBytes, kDeadlock),
      BUG(MulticastToOneBlockOnly, kDeadlock), BUG(MulticastToABlockThatIsNotThere, kCluster),
      BUG(MulticastReadTooEarly, kRace),       BUG(MulticastNotWaitedFor, kCluster),
  };
}

#undef BUG

}  // namespace stridewise::executor
