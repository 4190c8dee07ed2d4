#include <cuda_runtime.h>

int main() {
  cudaExternalMemory_t memory;
  cudaDestroyExternalMemory(memory);
}
