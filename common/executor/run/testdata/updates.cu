// Kernels that read a buffer before they store to it, and buffers that are filled again and again.

#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kCount = 1 << 16;

// Each thread reads what the others store to, or only its own element.
__global__ void Update(int* data, int distance) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = 2 * data[(i + distance) % kCount] + 1;
}

// Reads all of a buffer before the last block stores to it.
__global__ void UpdateLate(int* data, int* sums) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  sums[i] = data[i] + 1;
  if (blockIdx.x == gridDim.x - 1) data[i] = sums[i];
}

int main(int argc, char** argv) {
  const int distance = argc > 1 ? std::atoi(argv[1]) : 0;
  int *data, *sums;
  cudaMalloc(&data, kCount * sizeof(int));
  cudaMalloc(&sums, kCount * sizeof(int));
  std::vector<int> host(kCount);
  bool right = true;
  for (int round = 0; round < 2; ++round) {
    cudaMemset(data, 0, kCount * sizeof(int));
    for (int i = 0; i < 3; ++i) Update<<<kCount / 256, 256>>>(data, distance);
    UpdateLate<<<kCount / 256, 256>>>(data, sums);
    cudaMemcpy(host.data(), data, kCount * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < kCount; ++i) right &= host[i] == (i < kCount - 256 ? 7 : 8);
    // Filled by the runtime, by a copy, and by the runtime again.
    cudaMemset(sums, 0, kCount * sizeof(int));
    cudaMemcpy(sums, host.data(), sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(sums, 0, kCount * sizeof(int));
    cudaMemcpy(host.data(), sums, kCount * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < kCount; ++i) right &= host[i] == 0;
  }
  std::printf("all is %s\n", right ? "right" : "wrong");
  cudaFree(data);
  cudaFree(sums);
  return right ? 0 : 1;
}
