#include "common/executor/testdata/cluster_kernels.h"
#include "common/executor/testdata/cluster_ptx.h"
#include "common/gpu/launch.h"

namespace stridewise::executor {
namespace {

// Four blocks of 64 threads, each of which reads what the next one stored, twice.
__global__ void ClusterExchange(int* out, const int* in) {
  __shared__ int s[64];
  const unsigned t = threadIdx.x;
  const unsigned next = (OwnRank() + 1) % 4;
  int sum = 0;
  for (int round = 0; round < 2; ++round) {
    s[t] = in[blockIdx.x * 64 + t] + round;
    CLUSTER_SYNC();
    int value = 0;
    LOAD_FROM(ClusterAddress(&s[63 - t], next), value);
    sum += value;
    CLUSTER_SYNC();
  }
  out[blockIdx.x * 64 + t] = sum;
}
int WantExchange(int i) { return 2 * 3 * ((i / 64 + 1) % 4 * 64 + 63 - i % 64) + 1; }

// All threads of a cluster of four add to a variable of block 2, by a pointer.
__global__ void ClusterAtomics(int* out, const int* in) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  CLUSTER_SYNC();
  int* const remote = __cluster_map_shared_rank(&sum, 2);
  atomicAdd(remote, in[threadIdx.x]);
  CLUSTER_SYNC();
  out[blockIdx.x * 64 + threadIdx.x] = *remote;
  CLUSTER_SYNC();
}

// Block 1 - r stores into block r's memory and arrives at its barrier. That the threads of r wait
// for that is enough for both to end.
__global__ void ClusterRemoteStores(int* out, const int* in) {
  __shared__ int s[128];
  __shared__ uint64_t full;
  const unsigned t = threadIdx.x;
  if (t == 0) INIT_OF_CLUSTER(full, 128);
  CLUSTER_SYNC();
  const unsigned peer = 1 - OwnRank();
  STORE_TO(ClusterAddress(&s[t], peer), in[peer * 128 + 127 - t]);
  ARRIVE_AT(ClusterAddress(&full, peer));
  WAIT_AT(OwnAddress(&full), 0);
  out[OwnRank() * 128 + t] = s[t];
}
int WantRemoteStores(int i) { return 3 * (i / 128 * 128 + 127 - i % 128); }

// Block 1 - r sends to block r, and both add to a variable of block 0: bytes that its barriers
// count order what they wait for, and block 1 may end before its additions arrive.
__global__ void ClusterSends(int* out, const int* in) {
  __shared__ int s[128];
  __shared__ int sum;
  __shared__ uint64_t came, added;
  const unsigned t = threadIdx.x;
  const unsigned rank = OwnRank();
  if (t == 0) {
    sum = 0;
    INIT_OF_CLUSTER(came, 1);
    INIT_OF_CLUSTER(added, 1);
    EXPECT_BYTES(came, 512);
    if (rank == 0) EXPECT_BYTES(added, 1024);
  }
  CLUSTER_SYNC();
  const unsigned peer = 1 - rank;
  SEND_TO(ClusterAddress(&s[t], peer), in[peer * 128 + 127 - t], ClusterAddress(&came, peer));
  WAIT_AT(OwnAddress(&came), 0);
  out[rank * 128 + t] = s[t];
  ADD_AT(ClusterAddress(&sum, 0), 1, ClusterAddress(&added, 0));
  if (rank != 0) return;
  WAIT_AT(OwnAddress(&added), 0);
  if (sum != 256) out[t] = -1;
}

// 2 x 2 blocks of 33 threads, of which 32 work, in a grid of 4 x 2: the barrier of the cluster
// counts the last ones, which end, as arrived. What a warp exchanged in one block, its barrier
// hands on to all of its threads.
__global__ void ClusterOfTwoByTwo(int* out, const int* in) {
  __shared__ int s[32];
  const unsigned t = threadIdx.x;
  if (t == 32) return;
  unsigned x, y, of_x, clusters;
  asm volatile("mov.u32 %0, %%cluster_ctaid.x; mov.u32 %1, %%cluster_ctaid.y;" : "=r"(x), "=r"(y));
  asm volatile("mov.u32 %0, %%clusterid.x; mov.u32 %1, %%nclusterid.x;"
               : "=r"(of_x), "=r"(clusters));
  const unsigned block = blockIdx.y * gridDim.x + blockIdx.x;
  s[t] = in[block * 32 + t];
  CLUSTER_SYNC();
  int value = 0;
  LOAD_FROM(ClusterAddress(&s[t], 3 - OwnRank()), value);
  CLUSTER_SYNC();
  // The block in the opposite corner of the cluster.
  const unsigned other = (1 - y) * gridDim.x + of_x * 2 + 1 - x;
  out[other * 32 + t] = value + static_cast<int>(clusters);
}

// One warp waits for the other block, and its block's barrier hands on what it knows.
__global__ void ClusterKnowledgeHandedOn(int* out, const int* in) {
  __shared__ int s[128];
  __shared__ uint64_t full;
  const unsigned t = threadIdx.x;
  const unsigned peer = 1 - OwnRank();
  if (t == 0) INIT_OF_CLUSTER(full, 1);
  s[t] = in[OwnRank() * 128 + t];
  CLUSTER_SYNC();
  s[t] += 1;
  __syncthreads();
  if (t == 64) ARRIVE_AT(ClusterAddress(&full, peer));
  if (t < 32) WAIT_AT(OwnAddress(&full), 0);
  __syncthreads();
  int value = 0;
  LOAD_FROM(ClusterAddress(&s[t], peer), value);
  out[OwnRank() * 128 + t] = value;
  CLUSTER_ARRIVE_RELAXED();
  CLUSTER_WAIT();
}

// --- Bugs: two blocks of 32 threads ---

#define PAIR(name)                     \
  __shared__ int name[32];             \
  const unsigned t = threadIdx.x;      \
  const unsigned peer = 1 - OwnRank(); \
  const unsigned i = blockIdx.x * 32 + t

__device__ inline int AsInt(float value) { return static_cast<int>(value); }

__global__ void ClusterReadWithoutBarrier(float* out, const float* in) {
  PAIR(s);
  CLUSTER_SYNC();
  s[t] = AsInt(in[i]);
  int value = 0;
  LOAD_FROM(ClusterAddress(&s[t], peer), value);  // BUG ClusterReadWithoutBarrier
  CLUSTER_SYNC();
  out[i] = static_cast<float>(value);
}

__global__ void ClusterRelaxedBarrier(float* out, const float* in) {
  PAIR(s);
  CLUSTER_SYNC();
  s[t] = AsInt(in[i]);
  CLUSTER_ARRIVE_RELAXED();
  CLUSTER_WAIT();
  int value = 0;
  LOAD_FROM(ClusterAddress(&s[t], peer), value);  // BUG ClusterRelaxedBarrier
  CLUSTER_SYNC();
  out[i] = static_cast<float>(value);
}

__global__ void ClusterBlockBarrierOnly(float* out, const float* in) {
  PAIR(s);
  CLUSTER_SYNC();
  s[t] = AsInt(in[i]);
  __syncthreads();
  int value = 0;
  LOAD_FROM(ClusterAddress(&s[t], peer), value);  // BUG ClusterBlockBarrierOnly
  CLUSTER_SYNC();
  out[i] = static_cast<float>(value);
}

__global__ void ClusterOverwrittenTooEarly(float* out, const float* in) {
  PAIR(s);
  s[t] = AsInt(in[i]);
  CLUSTER_SYNC();
  int value = 0;
  LOAD_FROM(ClusterAddress(&s[t], peer), value);
  s[t] = 0;  // BUG ClusterOverwrittenTooEarly
  CLUSTER_SYNC();
  out[i] = static_cast<float>(value);
}

__global__ void ClusterAtomicAndPlain(float* out, const float* in) {
  PAIR(s);
  s[t] = AsInt(in[i]);
  CLUSTER_SYNC();
  atomicAdd(__cluster_map_shared_rank(&s[t], peer), 1);
  out[i] = static_cast<float>(s[t]);  // BUG ClusterAtomicAndPlain
  CLUSTER_SYNC();
}

__global__ void ClusterStoreBeforeTheBlockBegins(float* out, const float* in) {
  PAIR(s);
  STORE_TO(ClusterAddress(&s[t], peer), 1);  // BUG ClusterStoreBeforeTheBlockBegins
  CLUSTER_SYNC();
  out[i] = static_cast<float>(s[t]) + in[i];
}

__global__ void ClusterEndsWhilePeersRead(float* out, const float* in) {
  PAIR(s);
  s[t] = AsInt(in[i]);
  CLUSTER_SYNC();
  int value = 0;
  LOAD_FROM(ClusterAddress(&s[t], peer), value);  // BUG ClusterEndsWhilePeersRead
  out[i] = static_cast<float>(value);
}

__global__ void ClusterArrivesBeforeItReads(float* out, const float* in) {
  PAIR(s);
  s[t] = AsInt(in[i]);
  CLUSTER_SYNC();
  CLUSTER_ARRIVE();
  int value = 0;
  LOAD_FROM(ClusterAddress(&s[t], peer), value);  // BUG ClusterArrivesBeforeItReads
  CLUSTER_WAIT();
  out[i] = static_cast<float>(value);
}

__global__ void ClusterArrivalForNobody(float* out, const float* in) {
  PAIR(s);
  __shared__ uint64_t full;
  if (t == 0) INIT_OF_CLUSTER(full, 32);
  CLUSTER_SYNC();
  ARRIVE_AT(ClusterAddress(&full, peer));  // BUG ClusterArrivalForNobody
  s[t] = AsInt(in[i]);
  out[i] = static_cast<float>(s[t]);
}

__global__ void ClusterRankTooLarge(float* out, const float* in) {
  PAIR(s);
  s[t] = AsInt(in[i]);
  CLUSTER_SYNC();
  int value = 0;
  int* const remote = __cluster_map_shared_rank(&s[t], peer + 2);  // BUG ClusterRankTooLarge
  value = *remote;
  CLUSTER_SYNC();
  out[i] = static_cast<float>(value);
}

__global__ void ClusterBeyondTheVariable(float* out, const float* in) {
  PAIR(s);
  s[t] = AsInt(in[i]);
  CLUSTER_SYNC();
  int value = 0;
  LOAD_FROM(ClusterAddress(s, peer) + 4 * (t + 1), value);  // BUG ClusterBeyondTheVariable
  CLUSTER_SYNC();
  out[i] = static_cast<float>(value);
}

__global__ void ClusterArrivesTwice(float* out, const float* in) {
  PAIR(s);
  s[t] = AsInt(in[i]);
  CLUSTER_ARRIVE();
  if (peer == 0) CLUSTER_ARRIVE();  // BUG ClusterArrivesTwice
  CLUSTER_WAIT();
  out[i] = static_cast<float>(s[t]);
}

__global__ void ClusterWaitsForTooMany(float* out, const float* in) {
  PAIR(s);
  __shared__ uint64_t full;
  if (t == 0) INIT_OF_CLUSTER(full, 33);
  s[t] = AsInt(in[i]);
  CLUSTER_SYNC();
  ARRIVE_AT(ClusterAddress(&full, peer));
  WAIT_AT(OwnAddress(&full), 0);  // BUG ClusterWaitsForTooMany
  out[i] = static_cast<float>(s[t]);
}

__global__ void ClusterReadsBeforeItCame(float* out, const float* in) {
  PAIR(s);
  __shared__ uint64_t came;
  if (t == 0) {
    INIT_OF_CLUSTER(came, 1);
    EXPECT_BYTES(came, 128);
  }
  s[t] = 0;
  CLUSTER_SYNC();
  SEND_TO(ClusterAddress(&s[t], peer), AsInt(in[i]), ClusterAddress(&came, peer));
  out[i] = static_cast<float>(s[t]);  // BUG ClusterReadsBeforeItCame
  WAIT_AT(OwnAddress(&came), 0);
}

__global__ void ClusterSendsTooLittle(float* out, const float* in) {
  PAIR(s);
  __shared__ uint64_t came;
  if (t == 0) {
    INIT_OF_CLUSTER(came, 1);
    EXPECT_BYTES(came, 132);
  }
  CLUSTER_SYNC();
  SEND_TO(ClusterAddress(&s[t], peer), AsInt(in[i]), ClusterAddress(&came, peer));
  WAIT_AT(OwnAddress(&came), 0);  // BUG ClusterSendsTooLittle
  out[i] = static_cast<float>(s[t]);
}

__global__ void ClusterSendsToItself(float* out, const float* in) {
  __shared__ int s[32];
  __shared__ uint64_t came;
  const unsigned t = threadIdx.x;
  if (t == 0) {
    INIT_OF_CLUSTER(came, 1);
    EXPECT_BYTES(came, 128);
  }
  CLUSTER_SYNC();
  const unsigned barrier = ClusterAddress(&came, 0);
  SEND_TO(ClusterAddress(&s[t], 0), AsInt(in[t]), barrier);  // BUG ClusterSendsToItself
  WAIT_AT(OwnAddress(&came), 0);
  out[t] = static_cast<float>(s[t]);
}

__global__ void ClusterWaitsAtAnotherBlock(float* out, const float* in) {
  PAIR(s);
  __shared__ uint64_t full;
  if (t == 0) INIT_OF_CLUSTER(full, 32);
  s[t] = AsInt(in[i]);
  CLUSTER_SYNC();
  ARRIVE_AT(ClusterAddress(&full, peer));
  WAIT_AT(ClusterAddress(&full, peer), 0);  // BUG ClusterWaitsAtAnotherBlock
  CLUSTER_SYNC();
  out[i] = static_cast<float>(s[t]);
}

template <typename Args, typename... Params>
absl::Status Run(void (*kernel)(Params...), const Args& args, const Grid& cluster, const Grid& grid,
                 int64_t threads) {
  return LaunchOfClusters(cluster, kernel, grid, Block{threads}, 0, args.stream, args.out, args.in);
}

}  // namespace

#define CORRECT(Kernel, cluster, grid, threads, want)                                           \
  {                                                                                             \
#Kernel, false,                                                                             \
        [](const CorrectArgs& args) { return Run(Kernel, args, cluster, grid, threads); }, want \
  }

std::vector<CorrectKernel> ClusterKernels() {
  return {
      CORRECT(ClusterExchange, Grid{4}, Grid{4}, 64, WantExchange),
      CORRECT(ClusterAtomics, Grid{4}, Grid{4}, 64, [](int) { return 4 * 3 * 63 * 32; }),
      CORRECT(ClusterRemoteStores, Grid{2}, Grid{2}, 128, WantRemoteStores),
      CORRECT(ClusterSends, Grid{2}, Grid{2}, 128, WantRemoteStores),
      CORRECT(ClusterOfTwoByTwo, (Grid{2, 2}), (Grid{4, 2}), 33, [](int i) { return 3 * i + 2; }),
      CORRECT(ClusterKnowledgeHandedOn, Grid{2}, Grid{2}, 128,
              [](int i) { return 3 * (i ^ 128) + 1; }),
  };
}

#undef CORRECT
#define BUG_OF_CLUSTER(Kernel, check, blocks)                                                 \
  {                                                                                           \
#Kernel, Check::check,                                                                    \
        [](const BugArgs& args) { return Run(Kernel, args, Grid{blocks}, Grid{blocks}, 32); } \
  }
#define BUG(Kernel, check) BUG_OF_CLUSTER(Kernel, check, 2)

std::vector<PlantedBug> ClusterBugs() {
  return {
      BUG(ClusterReadWithoutBarrier, kRace),
      BUG(ClusterRelaxedBarrier, kRace),
      BUG(ClusterBlockBarrierOnly, kRace),
      BUG(ClusterOverwrittenTooEarly, kRace),
      BUG(ClusterAtomicAndPlain, kRace),
      BUG(ClusterStoreBeforeTheBlockBegins, kCluster),
      BUG(ClusterEndsWhilePeersRead, kCluster),
      BUG(ClusterArrivesBeforeItReads, kCluster),
      BUG(ClusterArrivalForNobody, kCluster),
      BUG(ClusterRankTooLarge, kCluster),
      BUG(ClusterBeyondTheVariable, kOutOfBounds),
      BUG(ClusterArrivesTwice, kMbarrier),
      BUG(ClusterWaitsForTooMany, kDeadlock),
      BUG(ClusterWaitsAtAnotherBlock, kMbarrier),
      BUG(ClusterReadsBeforeItCame, kRace),
      BUG(ClusterSendsTooLittle, kDeadlock),
      BUG_OF_CLUSTER(ClusterSendsToItself, kCluster, 1),
  };
}

#undef BUG
#undef BUG_OF_CLUSTER

}  // namespace stridewise::executor
