#include "common/executor/testdata/register_kernels.h"
#include "common/gpu/launch.h"

namespace stridewise::executor {
namespace {

constexpr int kWarpgroup = 128;
constexpr int kOutputs = 256;  // Of correct kernels; those with a defect have 64.

#define RAISE(count) asm volatile("setmaxnreg.inc.sync.aligned.u32 " #count ";")
#define LOWER(count) asm volatile("setmaxnreg.dec.sync.aligned.u32 " #count ";")

// Three warpgroups begin with no more than 168 registers each; 40 + 2 * 232 is three times that.
__global__ void ProducerAndConsumers(int* out, const int* in) {
  if (threadIdx.x < kWarpgroup) {
    LOWER(40);
  } else {
    RAISE(232);
    out[threadIdx.x - kWarpgroup] = in[threadIdx.x - kWarpgroup];
  }
}

// Lowers and raises again, with numbers that differ between the warpgroups.
__global__ void RegistersTwice(int* out, const int* in) {
  if (threadIdx.x < kWarpgroup) {
    LOWER(24);
    RAISE(96);
  } else {
    LOWER(64);
    LOWER(64);
  }
  out[threadIdx.x] = in[threadIdx.x];
}

// The statement that only exists on the host: ptxas refuses the number.
__global__ void RegistersOfNoStep(float* out, const float* in) {
  LOWER(100);  // BUG RegistersOfNoStep
  if (threadIdx.x < 64) out[threadIdx.x] = in[threadIdx.x];
}

__global__ void FewerThanALaunchNeeds(float* out, const float* in) {
  LOWER(16);  // BUG FewerThanALaunchNeeds
  if (threadIdx.x < 64) out[threadIdx.x] = in[threadIdx.x];
}

__global__ void RaisedToFewer(float* out, const float* in) {
  LOWER(64);
  RAISE(40);  // BUG RaisedToFewer
  if (threadIdx.x < 64) out[threadIdx.x] = in[threadIdx.x];
}

__global__ void LoweredToMore(float* out, const float* in) {
  LOWER(64);
  LOWER(72);  // BUG LoweredToMore
  if (threadIdx.x < 64) out[threadIdx.x] = in[threadIdx.x];
}

// 384 threads begin with 168 at most.
__global__ void LoweredToMoreThanThereWere(float* out, const float* in) {
  LOWER(200);  // BUG LoweredToMoreThanThereWere
  if (threadIdx.x < 64) out[threadIdx.x] = in[threadIdx.x];
}

__global__ void RegistersOfOneWarp(float* out, const float* in) {
  if (threadIdx.x / 32 == 1) {
    LOWER(40);  // BUG RegistersOfOneWarp
  }
  if (threadIdx.x < 64) out[threadIdx.x] = in[threadIdx.x];
}

__global__ void RegistersOfOneThread(float* out, const float* in) {
  if (threadIdx.x == 0) {
    LOWER(40);  // BUG RegistersOfOneThread
  }
  if (threadIdx.x < 64) out[threadIdx.x] = in[threadIdx.x];
}

// 56 + 2 * 232 is more than three times 168: the second consumer waits forever.
__global__ void TooManyForTheConsumers(float* out, const float* in) {
  if (threadIdx.x < kWarpgroup) {
    LOWER(56);
  } else {
    RAISE(232);  // BUG TooManyForTheConsumers
    const int i = threadIdx.x - kWarpgroup;
    if (i < 64) out[i] = in[i];
  }
}

template <typename... Params, typename Args>
absl::Status Run(void (*kernel)(Params...), const Args& args, int64_t threads) {
  return Launch(kernel, Grid{1}, Block{threads}, 0, args.stream, args.out, args.in);
}

}  // namespace

std::vector<CorrectKernel> RegisterKernels() {
  const auto want = [](int i) { return 3 * i; };
  return {
      {"ProducerAndConsumers", false,
       [](const CorrectArgs& args) {
         return Run(ProducerAndConsumers, args, kOutputs + kWarpgroup);
       },
       want},
      {"RegistersTwice", false,
       [](const CorrectArgs& args) { return Run(RegistersTwice, args, kOutputs); }, want},
  };
}

#define BUG(Kernel, threads)                                                                   \
  {                                                                                            \
#Kernel, Check::kRegisters, [](const BugArgs& args) { return Run(Kernel, args, threads); } \
  }

std::vector<PlantedBug> RegisterBugs() {
  return {
      BUG(RegistersOfNoStep, kWarpgroup),
      BUG(FewerThanALaunchNeeds, kWarpgroup),
      BUG(RaisedToFewer, kWarpgroup),
      BUG(LoweredToMore, kWarpgroup),
      BUG(LoweredToMoreThanThereWere, 3 * kWarpgroup),
      BUG(RegistersOfOneWarp, kWarpgroup),
      BUG(RegistersOfOneThread, 2 * kWarpgroup),
      BUG(TooManyForTheConsumers, 3 * kWarpgroup),
  };
}

#undef BUG

}  // namespace stridewise::executor
