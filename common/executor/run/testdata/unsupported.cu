#include <cuda_runtime.h>

__global__ void Child() {}
__global__ void Parent() { Child<<<1, 1>>>(); }

int main() { Parent<<<1, 1>>>(); }
