// An ordinary CUDA program, with a main() and <<<...>>>: counts the letters of a text.

#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

#include "letters.h"

__global__ void CountLetters(const char* text, int length, unsigned* counts) {
  __shared__ unsigned block_counts[kLetters];
  if (threadIdx.x < kLetters) block_counts[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < length && text[i] >= 'a' && text[i] <= 'z') atomicAdd(&block_counts[text[i] - 'a'], 1);
  __syncthreads();
  if (threadIdx.x < kLetters) atomicAdd(&counts[threadIdx.x], block_counts[threadIdx.x]);
}

int main(int argc, char** argv) {
  const char* text = argc > 1 ? argv[1] : "the quick brown fox jumps over the lazy dog";
  const int length = static_cast<int>(std::strlen(text));
  char* on_device;
  unsigned* counts;
  cudaMalloc(&on_device, length);
  cudaMalloc(&counts, kLetters * sizeof(unsigned));
  cudaMemcpy(on_device, text, length, cudaMemcpyHostToDevice);
  cudaMemset(counts, 0, kLetters * sizeof(unsigned));
  CountLetters<<<(length + 31) / 32, 32>>>(on_device, length, counts);
  unsigned result[kLetters];
  cudaMemcpy(result, counts, sizeof(result), cudaMemcpyDeviceToHost);
  unsigned wanted[kLetters] = {};
  for (int i = 0; i < length; ++i) {
    if (text[i] >= 'a' && text[i] <= 'z') ++wanted[text[i] - 'a'];
  }
  const bool right = std::memcmp(result, wanted, sizeof(wanted)) == 0;
  std::printf("%u times e: %s\n", result['e' - 'a'], right ? "right" : "wrong");
  return right ? 0 : 1;
}
