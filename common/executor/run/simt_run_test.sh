#!/bin/bash
# Whole programs: one that uses what programs use, planted bugs, what is not supported, bad input.

run=$PWD/common/executor/run/simt_run
data=common/executor/run/testdata
failures=0
fail() {
  echo "FAIL: $*"
  failures=$((failures + 1))
}
# expect EXIT_CODE TEXT COMMAND...: what the command prints contains TEXT.
expect() {
  local code=$1 text=$2 output
  shift 2
  output=$("$@" 2>&1)
  local got=$?
  [[ $got == "$code" ]] || fail "exit code $got, not $code, of $*: $output"
  [[ $output == *"$text"* ]] || fail "'$text' is not in: $output"
}

expect 0 "" "$run" --output="$TEST_TMPDIR/features" $data/features.cu
for threads in 1 2; do
  export SIMT_RUN_THREADS=$threads
  expect 0 "all is as expected, 0 argument" "$TEST_TMPDIR/features"
  expect 0 "block 3 is number 3" "$TEST_TMPDIR/features"
done
expect 5 "4 launches, 0 findings" "$TEST_TMPDIR/features" 5
# The profile of a kernel whose template arguments follow from the arguments.
expect 0 "AddTo            features.cu:95   1     32     1      2 * 4.0 (100%)  1 * 4.0 (100%)" "$TEST_TMPDIR/features"

expect 0 "" "$run" --output="$TEST_TMPDIR/cooperative" $data/cooperative.cu
for seed in 0 1 2 3 4; do
  expect 0 "5 launches, 0 findings" env SIMT_RUN_SEED=$seed SIMT_RUN_MULTIPROCESSORS=5 "$TEST_TMPDIR/cooperative"
done

expect 0 "" "$run" --output="$TEST_TMPDIR/bugs" $data/bugs.cu
expect 3 "out-of-bounds access in Beyond: 4-byte store at byte 256 of buffer 'bugs.cu:25'" "$TEST_TMPDIR/bugs" 1
expect 3 "by block (0,0,0) thread (63,0,0) at bugs.cu:8" "$TEST_TMPDIR/bugs" 1
expect 3 "data race in Race" "$TEST_TMPDIR/bugs" 2
expect 3 "at bugs.cu:12" "$TEST_TMPDIR/bugs" 2
expect 3 "read of uninitialised memory in Unset" "$TEST_TMPDIR/bugs" 3
expect 3 "access to no memory of the device in Wild" "$TEST_TMPDIR/bugs" 4
expect 3 "failed assertion in Asserts" "$TEST_TMPDIR/bugs" 5
expect 3 "at bugs.cu:16" "$TEST_TMPDIR/bugs" 5
expect 3 "4-byte store at byte 16 of buffer 'few', which has 16" "$TEST_TMPDIR/bugs" 6
expect 3 "at bugs.cu:20" "$TEST_TMPDIR/bugs" 7

expect 0 "" "$run" --output="$TEST_TMPDIR/more_bugs" $data/more_bugs.cu
expect 3 "data race in NoFence" "$TEST_TMPDIR/more_bugs" 1
expect 3 "at more_bugs.cu:18" "$TEST_TMPDIR/more_bugs" 1
expect 3 "data race in PlainFlag" "$TEST_TMPDIR/more_bugs" 2
expect 3 "a kernel is called without <<<...>>>: it runs on the host at" "$TEST_TMPDIR/more_bugs" 3
expect 3 "more_bugs.cu:62" "$TEST_TMPDIR/more_bugs" 3
expect 3 "0 launches, 1 finding" "$TEST_TMPDIR/more_bugs" 3
expect 3 "a kernel launches Called at more_bugs.cu:69: not supported; a function of the host" "$TEST_TMPDIR/more_bugs" 10
for seed in 0 1 2 3 4; do
  expect 3 "data race in NoClusterBarrier" env SIMT_RUN_SEED=$seed "$TEST_TMPDIR/more_bugs" 5
done
expect 3 "at more_bugs.cu:37" "$TEST_TMPDIR/more_bugs" 5
for seed in 0 1 2 3 4; do
  export SIMT_RUN_SEED=$seed
  expect 3 "data race in NoGridBarrier" "$TEST_TMPDIR/more_bugs" 6
  expect 3 "at more_bugs.cu:44" "$TEST_TMPDIR/more_bugs" 6
  expect 3 "of block (1,0,0) left the kernel without" "$TEST_TMPDIR/more_bugs" 7
  expect 3 "GridBarrierOfSome  more_bugs.cu:66 " "$TEST_TMPDIR/more_bugs" 7
  expect 3 "at more_bugs.cu:50" "$TEST_TMPDIR/more_bugs" 7
  expect 3 "another thread does not come to" "$TEST_TMPDIR/more_bugs" 8
  expect 3 "by block (1,0,0) thread (3,0,0) at more_bugs.cu:56" "$TEST_TMPDIR/more_bugs" 8
  expect 3 "not cooperative" "$TEST_TMPDIR/more_bugs" 9
done
unset SIMT_RUN_SEED
expect 4 "stopped after 1 s of CPU time" env SIMT_RUN_MAX_CPU_SECONDS=1 "$TEST_TMPDIR/more_bugs" 4

# counts ACCESSES FILE: kernel, loads and stores of global, of shared memory, copies.
counts() {
  local csv=$TEST_TMPDIR/counts.csv
  expect 0 "the last is" "$run" --accesses="$1" --csv="$csv" "$2"
  awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
           { print $1, $column["global_load_requests"], $column["global_store_requests"],
                   $column["shared_load_requests"], $column["shared_store_requests"],
                   $column["shared_copy_requests"] }' "$csv"
}
# both FILE: standard input has them for each kernel as the source has them and, behind a bar, as a GPU's compiler has them.
both() {
  local lines
  lines=$(cat)
  expect 0 "$(sed 's/ |.*//' <<<"$lines")" counts source "$1"
  expect 0 "$(sed -E 's/^([^ ]+) .*\| /\1 /' <<<"$lines")" counts compiled "$1"
}
both $data/merged.cu <<'COUNTS'
Members 2 1 0 0 0 | 1 1 0 0 0
Rows<kSide> 32 32 1024 32 0 | 32 32 256 32 0
Pairs 0 1 2 2 0 | 0 1 1 1 0
Again<kSide> 0 2 2 1 0 | 0 2 1 1 0
Copied 1 1 1 0 1 | 1 1 1 0 1
COUNTS

both $data/branch_ends.cu <<'COUNTS'
Chosen 2 2 0 0 0 | 1 1 0 0 0
OfThree 3 3 0 0 0 | 1 1 0 0 0
Alone 1 2 0 0 0 | 1 2 0 0 0
Same 3 4 0 0 0 | 3 2 0 0 0
OtherArray 2 2 0 0 0 | 2 2 0 0 0
TwoMemories 7 1 7 1 0 | 7 1 7 1 0
Pairs 2 2 0 0 0 | 2 2 0 0 0
OfVariable 2 1 0 0 0 | 2 1 0 0 0
COUNTS

# As Nsight Compute counts them on an H200.
both $data/prints.cu <<'COUNTS'
Number 0 0 0 0 0 | 14 215 0 0 0
Words 0 0 0 0 0 | 23 222 0 0 0
Text 0 0 0 0 0 | 29 215 0 0 0
Mixed 0 0 0 0 0 | 23 208 0 0 0
Eight 0 0 0 0 0 | 77 166 0 0 0
Twice 0 0 0 0 0 | 28 430 0 0 0
COUNTS

both $data/by_ptxas.cu <<'COUNTS'
Remainder 18 1 0 0 0 | 19 1 0 0 0
NotUnrolled 18 1 0 0 0 | 18 1 0 0 0
InPlace 18 18 0 0 0 | 18 18 0 0 0
FromOne 1 1 23 1 0 | 1 1 10 1 0
Part<3> 4 1 2 4 0 | 4 1 1 4 0
Part<6> 4 1 2 4 0 | 4 1 2 4 0
Part<12> 4 1 2 4 0 | 4 1 1 4 0
Part<10> 4 1 2 4 0 | 4 1 2 4 0
Part<7> 4 1 3 4 0 | 4 1 1 4 0
Part<11> 4 1 3 4 0 | 4 1 1 4 0
Part<14> 4 1 3 4 0 | 4 1 1 4 0
LastOfTwo 4 1 4 13 0 | 4 1 1 13 0
LoadsApart 1 1 5 8 0 | 1 1 5 8 0
StoresApart 1 1 2 4 0 | 1 1 2 4 0
OfTiles 8 8 28 10 0 | 8 8 28 10 0
COUNTS

both $data/by_nvcc.cu <<'COUNTS'
Neighbours 8 7 0 0 0 | 11 7 0 0 0
SumInMemory 22 8 0 0 0 | 17 8 0 0 0
Apart 4 3 0 0 0 | 4 3 0 0 0
Overwritten 0 2 0 0 0 | 0 2 0 0 0
Pairs 8 1 0 0 0 | 8 1 0 0 0
Triangle<16> 0 1 393 168 0 | 0 1 297 168 0
LastPair 1 1 5 3 0 | 1 1 4 3 0
OneThread 1 1 3 2 0 | 1 1 2 2 0
BelowOne 1 1 3 2 0 | 1 1 3 2 0
Members 5 1 0 0 0 | 2 1 0 0 0
AcrossGlobal 2 2 2 2 0 | 2 2 1 1 0
COUNTS

# Tables of sin(), cos() and tan(), which the C library's have not.
both $data/by_math.cu <<'COUNTS'
SineAndCosine 1 1 0 0 0 | 7 1 0 0 0
LargeSine 0 1 0 0 0 | 6 1 0 0 0
LargeTangents 0 1 0 0 0 | 6 1 0 0 0
InBranches 1 1 0 0 0 | 7 1 0 0 0
COUNTS

# No pointer reaches dynamic shared memory: a sum in it stays in a register through a loop of 8, and is not loaded again behind a store to global memory.
cat > "$TEST_TMPDIR/kept.cu" <<'SOURCE'
#include <cstdio>

__global__ void Kept(const float* in, float* out, int n) {
  extern __shared__ float sums[];
  sums[threadIdx.x] = 0;
  for (int i = 0; i < n; ++i) sums[threadIdx.x] += in[i * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = sums[31 - threadIdx.x];
  out[threadIdx.x + 32] = sums[31 - threadIdx.x];
}

int main() {
  float *in, *out, last;
  cudaMalloc(&in, 256 * sizeof(float));
  cudaMemset(in, 0, 256 * sizeof(float));
  cudaMalloc(&out, 64 * sizeof(float));
  Kept<<<1, 32, 32 * sizeof(float)>>>(in, out, 8);
  cudaMemcpy(&last, out + 63, sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("the last is %g\n", last);
  cudaFree(in);
  cudaFree(out);
}
SOURCE
both "$TEST_TMPDIR/kept.cu" <<'COUNTS'
Kept 8 2 10 9 0 | 8 2 1 2 0
COUNTS

# A program whose own check fails reports what its kernels did.
cat > "$TEST_TMPDIR/fails.cu" <<'SOURCE'
#include <cassert>

__global__ void Fill(int* out) { out[threadIdx.x] = 7; }

int main() {
  int* out;
  cudaMallocManaged(&out, 32 * sizeof(int));
  Fill<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  assert(out[0] == 8);
}
SOURCE
expect 134 "1 launch, 0 findings" "$run" "$TEST_TMPDIR/fails.cu"

# More races than are noted: the launch is finished all the same, and counted whole.
cat > "$TEST_TMPDIR/races.cu" <<'SOURCE'
#include <cstdio>

template <int n>
__device__ void Store(int* out) {
  out[n] = threadIdx.x;
  if constexpr (n > 0) Store<n - 1>(out);
}

__global__ void Races(int* out) {
  Store<19>(out);
  if (threadIdx.x == 0) out[32] = 7;
}

int main() {
  int* out;
  cudaMallocManaged(&out, 33 * sizeof(int));
  Races<<<1, 32>>>(out);
  std::printf("the last is %d\n", out[32]);
}
SOURCE
expect 3 "the last is 7" "$run" "$TEST_TMPDIR/races.cu"
expect 3 "1 launch, 16 findings" "$run" "$TEST_TMPDIR/races.cu"
expect 3 " 21 * 1.0 " "$run" "$TEST_TMPDIR/races.cu"

expect 0 " 4 * 4.0 (100%)  2 * 4.0 (100%) " "$run" $data/chosen.cu

expect 2 "unknown_ptx.cu:4: inline PTX: " "$run" $data/unknown_ptx.cu
expect 2 "unknown_ptx.cu:5: inline PTX: " "$run" $data/unknown_ptx.cu
expect 2 "unsupported.cu:4: a kernel launch in device code (dynamic parallelism)" "$run" $data/unsupported.cu
expect 2 "unknown.cu:4: cudaExternalMemory_t" "$run" $data/unknown.cu
expect 2 "cannot read the source no_such.cu" "$run" no_such.cu
expect 2 "no source" "$run"
expect 2 "--std: 'c++98' is not allowed; allowed is c++14, c++17 or c++20" "$run" --std=c++98 x.cu
expect 2 "--accesses: 'ptx' is not allowed; allowed is source or compiled" "$run" --accesses=ptx x.cu
expect 2 "--threads: '-1' is not allowed" "$run" --threads=-1 x.cu
expect 2 "--max_cpu_seconds: '-1' is not allowed" "$run" --max_cpu_seconds=-1 x.cu
expect 2 "--csv: '/no_such_folder/x.csv' is not allowed" "$run" --csv=/no_such_folder/x.csv x.cu
expect 2 "--multiprocessors: '0' is not allowed" "$run" --multiprocessors=0 x.cu
expect 0 "" "$run" --output="$TEST_TMPDIR/updates" $data/updates.cu
for threads in 1 2; do
  for checks in 0 1; do
    expect 0 "all is right" env SIMT_RUN_THREADS=$threads SIMT_RUN_CHECK=$checks "$TEST_TMPDIR/updates"
  done
  expect 3 "data race in Update" env SIMT_RUN_THREADS=$threads "$TEST_TMPDIR/updates" 1
  expect 3 "data race in Update" env SIMT_RUN_THREADS=$threads "$TEST_TMPDIR/updates" 256
done

# Other initial values, of a size that the program prints.
cat > "$TEST_TMPDIR/sizes.cu" <<'SOURCE'
#include <cstdio>

__global__ void Fill(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i;
}

int main() {
  const int n = 1 << 20;
  int blocks[] = {64, 128};
  int* out;
  cudaMalloc(&out, n * sizeof(int));
  for (int block : blocks) Fill<<<(n + block - 1) / block, block>>>(out, n);
  cudaFree(out);
  std::printf("%d elements\n", n);
}
SOURCE
expect 0 "1048576 elements" "$run" "$TEST_TMPDIR/sizes.cu"
expect 0 "300 elements" "$run" "--constants=n=300;blocks={32}" "$TEST_TMPDIR/sizes.cu"
expect 0 "sizes.cu:9: n = 300 instead of 1 << 20" "$run" --constants=n=300 "$TEST_TMPDIR/sizes.cu"
expect 0 "1 launch, 0 findings" "$run" "--constants=blocks={32}; n=300" "$TEST_TMPDIR/sizes.cu"
expect 2 "--constants: no source initialises a variable m" "$run" --constants=m=300 "$TEST_TMPDIR/sizes.cu"
expect 2 "--constants: 'n' is not allowed" "$run" --constants=n "$TEST_TMPDIR/sizes.cu"
expect 2 "unknown flag --thread; did you mean --threads?" "$run" --thread=1 x.cu

exit $((failures > 0))
