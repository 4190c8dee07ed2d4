// What printf() loads and stores on an H200, by five lanes of a warp.

#include <cstdio>

__global__ void Number(int lanes) {
  if (threadIdx.x < lanes) printf("%d\n", threadIdx.x);
}
__global__ void Words(int lanes) {
  if (threadIdx.x < lanes) printf("hello\n");
}
__global__ void Text(int lanes) {
  if (threadIdx.x < lanes) printf("%s\n", "abcd");
}
__global__ void Mixed(int lanes) {
  if (threadIdx.x < lanes) printf("%f %d\n", 3.0, threadIdx.x);
}
__global__ void Eight(int lanes) {
  if (threadIdx.x < lanes) {
    printf("%d %d %d %d %d %d %d %d\n", threadIdx.x, lanes, 3, 4, 5, 6, 7, 8);
  }
}
__global__ void Twice(int lanes) {
  if (threadIdx.x < lanes) {
    printf("%d\n", threadIdx.x);
    printf("%d\n", lanes);
  }
}

int main() {
  Number<<<1, 32>>>(5);
  Words<<<1, 32>>>(5);
  Text<<<1, 32>>>(5);
  Mixed<<<1, 32>>>(5);
  Eight<<<1, 32>>>(5);
  Twice<<<1, 32>>>(5);
  cudaDeviceSynchronize();
  std::printf("the last is done\n");
}
