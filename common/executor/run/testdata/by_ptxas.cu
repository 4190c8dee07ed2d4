// Loads that ptxas makes of others. The counts of simt_run_test.sh are those of the machine code
// that nvcc 13.0 makes for sm_90a, and those of OfTiles that Nsight Compute has on an H200.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstdio>

constexpr int kFew = 32;

// By 4 four times; then threads 0 to 17 take two and the others one.
__global__ void Remainder(const int* in, int* out, unsigned n) {
  int sum = 0;
  for (unsigned i = threadIdx.x; i < n; i += kFew) sum += in[i];
  out[threadIdx.x] = sum;
}

__global__ void NotUnrolled(const int* in, int* out, unsigned n) {
  int sum = 0;
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < n; i += kFew) sum += in[i];
  out[threadIdx.x] = sum;
}

// Each store is done before the next load: ptxas leaves the loop.
__global__ void InPlace(const int* in, int* out, unsigned n) {
  for (unsigned i = threadIdx.x; i < n; i += kFew) out[i] = in[i] + 1;
}

// 23 loads of elements 1 to 23: 16 of them by one of three elements, three of four and one of one;
// four by one of three and one of one; and three by themselves.
__global__ void FromOne(const int* in, int* out, int n) {
  __shared__ int t[kFew];
  t[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int i = 1; i < n; ++i) sum += t[i];
    out[0] = sum;
  }
}

// Of four elements in 16 bytes those of which kMask has a bit.
template <int kMask>
__global__ void Part(const int* in, int* out, int b) {
  __shared__ int t[4 * kFew];
  for (int i = 0; i < 4; ++i) t[threadIdx.x + i * kFew] = in[threadIdx.x + i * kFew];
  __syncthreads();
  const int* four = t + (b + threadIdx.x) * 4;
  out[threadIdx.x] = (kMask & 1 ? four[0] : 0) + (kMask & 2 ? four[1] : 0) +
                     (kMask & 4 ? four[2] : 0) + (kMask & 8 ? four[3] : 0);
}

// Four elements of that of two buffers which was stored last: by one, as both begin with 16 bytes.
__global__ void LastOfTwo(const int* in, int* out, int n) {
  __shared__ int t[2 * 4 * kFew];
  int buffer = 0;
  t[threadIdx.x] = in[threadIdx.x];
  for (int k = 0; k < n; ++k) {
    buffer = 1 - buffer;
    for (int i = 0; i < 4; ++i) {
      t[(buffer * 4 + i) * kFew + threadIdx.x] = in[k * kFew + threadIdx.x];
    }
    __syncthreads();
  }
  const int* four = t + buffer * 4 * kFew + threadIdx.x % 8 * 4;
  out[threadIdx.x] = four[0] + four[1] + four[2] + four[3];
}

// Two tiles of four warps. Each warp stores its sum and loads the result; one of each tile loads
// the sums and stores the results; the other three read the barrier three times.
__global__ void OfTiles(const int* in, int* out) {
  __shared__ cooperative_groups::block_tile_memory<256> memory;
  const auto tile =
      cooperative_groups::tiled_partition<128>(cooperative_groups::this_thread_block(memory));
  out[threadIdx.x] =
      cooperative_groups::reduce(tile, in[threadIdx.x], cooperative_groups::plus<int>());
}

int wrong = 0;

// Adds to `wrong` where the first element of `out` is another.
void Expect(const int* out, int expected) {
  int first;
  cudaMemcpy(&first, out, sizeof(int), cudaMemcpyDeviceToHost);
  wrong += first != expected;
}

// Neighbours are loaded, or stored, apart where a store to shared memory, or an access of another
// variable, is between.
__global__ void LoadsApart(const int* in, int* out) {
  __shared__ int d[4 * kFew], e[4 * kFew];
  const int t = threadIdx.x, mine = in[t];
  for (int i = 0; i < 4; ++i) d[i * kFew + t] = mine;
  __syncthreads();
  e[t] = d[4 * t];
  e[t + kFew] = d[4 * t + 1];
  e[t + 2 * kFew] = d[4 * t + 2];
  e[t + 3 * kFew] = d[4 * t + 3];
  __syncthreads();
  out[t] = e[t ^ 1];
}

__global__ void StoresApart(const int* in, int* out) {
  __shared__ int d[2 * kFew], e[2 * kFew];
  const int t = threadIdx.x, mine = in[t];
  d[2 * t] = mine;
  e[2 * t] = mine;
  d[2 * t + 1] = mine + 1;
  e[2 * t + 1] = mine + 2;
  __syncthreads();
  out[t] = d[t ^ 5] + e[t ^ 5];
}

int main() {
  const unsigned n = 17 * kFew + 18;
  int host[n], *in, *out;
  for (unsigned i = 0; i < n; ++i) host[i] = i * i;
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&out, n * sizeof(int));
  cudaMemcpy(in, host, n * sizeof(int), cudaMemcpyHostToDevice);
  int every_32nd = 0, from_one = 0, of_tile = 0;
  for (unsigned i = 0; i < n; i += kFew) every_32nd += host[i];
  for (int i = 1; i < 24; ++i) from_one += host[i];
  for (int i = 0; i < 128; ++i) of_tile += host[i];
  Remainder<<<1, kFew>>>(in, out, n);
  Expect(out, every_32nd);
  NotUnrolled<<<1, kFew>>>(in, out, n);
  Expect(out, every_32nd);
  InPlace<<<1, kFew>>>(in, out, n);
  Expect(out, 1);
  FromOne<<<1, kFew>>>(in, out, 24);
  Expect(out, from_one);
  Part<3><<<1, kFew>>>(in, out, 0);
  Expect(out, 0 + 1);
  Part<6><<<1, kFew>>>(in, out, 0);
  Expect(out, 1 + 4);
  Part<12><<<1, kFew>>>(in, out, 0);
  Expect(out, 4 + 9);
  Part<10><<<1, kFew>>>(in, out, 0);
  Expect(out, 1 + 9);
  Part<7><<<1, kFew>>>(in, out, 0);
  Expect(out, 0 + 1 + 4);
  Part<11><<<1, kFew>>>(in, out, 0);
  Expect(out, 0 + 1 + 9);
  Part<14><<<1, kFew>>>(in, out, 0);
  Expect(out, 1 + 4 + 9);
  LastOfTwo<<<1, kFew>>>(in, out, 3);
  Expect(out, host[2 * kFew] + host[2 * kFew + 1] + host[2 * kFew + 2] + host[2 * kFew + 3]);
  LoadsApart<<<1, kFew>>>(in, out);
  Expect(out, host[4]);
  StoresApart<<<1, kFew>>>(in, out);
  Expect(out, 2 * host[2] + 3);
  OfTiles<<<1, 256>>>(in, out);
  Expect(out, of_tile);
  std::printf(wrong == 0 ? "the last is right\n" : "%d are wrong\n", wrong);
  cudaFree(in);
  cudaFree(out);
}
