// A C program that is linked with cuBLAS and knows nothing of Stridewise: products of ones, and how
// long they take. Prints a line for each: case,ms,error.

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// STRIDEWISE_CUBLAS=measure decides by as many calls as there are untimed ones.
enum { kWarmups = 8, kSamples = 9, kFlushBytes = 200 << 20 };

static void Check(int failed, const char* what) {
  if (!failed) return;
  fprintf(stderr, "%s failed\n", what);
  exit(1);
}

static int Compare(const void* x, const void* y) {
  const float a = *(const float*)x;
  const float b = *(const float*)y;
  return a < b ? -1 : a > b;
}

static void Multiply(cublasHandle_t handle, int n, void* flush) {
  const size_t elements = (size_t)n * (size_t)n;
  float* host = malloc(elements * sizeof(float));
  float *a, *b, *c;
  Check(host == NULL || cudaMalloc((void**)&a, elements * sizeof(float)) != cudaSuccess ||
            cudaMalloc((void**)&b, elements * sizeof(float)) != cudaSuccess ||
            cudaMalloc((void**)&c, elements * sizeof(float)) != cudaSuccess,
        "allocation");
  for (size_t i = 0; i < elements; ++i) host[i] = (float)(i % 3) - 1;
  cudaMemcpy(a, host, elements * sizeof(float), cudaMemcpyHostToDevice);
  for (size_t i = 0; i < elements; ++i) host[i] = (float)(i % 5) - 2;
  cudaMemcpy(b, host, elements * sizeof(float), cudaMemcpyHostToDevice);

  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  const float one = 1;
  const float zero = 0;
  float ms[kSamples];
  for (int i = 0; i < kWarmups + kSamples; ++i) {
    cudaMemsetAsync(flush, 0, kFlushBytes, NULL);
    cudaEventRecord(start, NULL);
    Check(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n) !=
              CUBLAS_STATUS_SUCCESS,
          "cublasSgemm");
    cudaEventRecord(stop, NULL);
    Check(cudaEventSynchronize(stop) != cudaSuccess, "the product");
    if (i >= kWarmups) cudaEventElapsedTime(&ms[i - kWarmups], start, stop);
  }
  qsort(ms, kSamples, sizeof(float), Compare);

  // The sums are whole numbers, and exact.
  cudaMemcpy(host, c, elements * sizeof(float), cudaMemcpyDeviceToHost);
  double error = 0;
  for (int col = 0; col < n; col += 1 + n / 7) {
    for (int row = 0; row < n; row += 1 + n / 11) {
      double exact = 0;
      for (size_t k = 0; k < (size_t)n; ++k) {
        exact += ((double)((k * (size_t)n + (size_t)row) % 3) - 1) *
                 ((double)(((size_t)col * (size_t)n + k) % 5) - 2);
      }
      error = fmax(error, fabs(exact - (double)host[(size_t)col * (size_t)n + (size_t)row]));
    }
  }
  printf("cublasSgemm %dx%dx%d,%.5f,%g\n", n, n, n, (double)ms[kSamples / 2], error);
  free(host);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
}

int main(void) {
  cublasHandle_t handle;
  void* flush;
  Check(cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS, "cublasCreate");
  Check(cudaMalloc(&flush, kFlushBytes) != cudaSuccess, "allocation");
  Multiply(handle, 1000, flush);
  Multiply(handle, 2048, flush);
  Multiply(handle, 4096, flush);
  Multiply(handle, 8192, flush);
  cublasDestroy(handle);
  return 0;
}
