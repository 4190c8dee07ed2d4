// What nvcc's optimizer makes otherwise than LLVM's does by itself, one kernel each, in one warp.
// The numbers follow from nvcc 13.0's PTX; from LastPair on they are those of its machine code for
// sm_90a.

constexpr int kSide = 32;

// Unrolled by 4: four iterations load 5 elements, as three of them have just been stored, the three
// iterations left over load 2 each. Indices of int do not wrap.
__global__ void Neighbours(int n, float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 1; k < n; ++k) {
    x[i * kSide + k] = x[i * kSide + k] - x[i * kSide + (k - 1)] * 0.5f;
  }
}

// The sum is loaded once before four iterations, once before the three left over and once behind.
__global__ void SumInMemory(int n, const float* a, float* x) {
  const int i = threadIdx.x;
  for (int k = 0; k < n; ++k) x[i] += a[k * kSide + i] * a[i * kSide + k];
  x[i] += 1;
}

// All stores stay: nvcc does not use that i and i + blockDim.x differ.
__global__ void Apart(float* x) {
  const int i = threadIdx.x;
  x[i] += x[i + blockDim.x];
  x[i] += x[i + 2 * blockDim.x];
  x[i] += x[i + 3 * blockDim.x];
}

// The first store stays, as the others are in other blocks of the code.
__global__ void Overwritten(int n, const int* a, int* x) {
  const int i = threadIdx.x;
  x[i] = 0;
  if (i < n) {
    if (a[i] != 0) {
      x[i] = a[i + kSide];
      return;
    }
    x[i] = a[i + 2 * kSide] / n;
    return;
  }
  x[i] = 2;
}

// A load of 8 bytes for the two members, though 16 bytes are not aligned.
__global__ void Pairs(const float2* a, float* x, int n) {
  float least = 1e30f;
  for (int k = 0; k < n; ++k) {
    const float2 p = a[k];
    least = fminf(least, p.x * p.x + p.y * p.y);
  }
  x[threadIdx.x] = least;
}

// The nest stays, as it is larger than a few iterations: a sum in memory is stored each time.
template <int n>
__global__ void Triangle(float* x) {
  __shared__ float d[kSide][n + 1], m[n][n + 1];
  const int t = threadIdx.x;
  for (int i = 0; i < n; ++i) d[t][i] = 1;
  if (t < n) {
    for (int i = 0; i < n; ++i) m[i][t] = 2;
  }
  __syncthreads();
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) d[t][i] -= d[t][j] * m[j][i];
    d[t][i] /= m[i][i];
  }
  x[t] = d[t][n - 1];
}

// In the last step the thread is thread 0: d[0] and d[1] are loaded by one instruction, although
// the addresses of d[threadIdx.x] are computed before.
__global__ void LastPair(float* x) {
  __shared__ float d[kSide];
  d[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 2) d[threadIdx.x] += d[threadIdx.x + 2];
  __syncthreads();
  if (threadIdx.x < 1) d[threadIdx.x] += d[threadIdx.x + 1];
  __syncthreads();
  x[threadIdx.x] = d[0];
}

__global__ void OneThread(float* x) {
  __shared__ float d[kSide];
  const int t = threadIdx.x;
  d[t] = x[t];
  __syncthreads();
  if (t == 0) d[t] += d[t + 1];
  __syncthreads();
  x[t] = d[0];
}

// An int below 1 may be another.
__global__ void BelowOne(float* x) {
  __shared__ float d[kSide];
  const int t = threadIdx.x;
  d[t] = x[t];
  __syncthreads();
  if (t < 1) d[t] += d[t + 1];
  __syncthreads();
  x[t] = d[0];
}

// One load of 16 bytes for three members, and one of 4 for four bytes of which two are asked for.
__global__ void Members(const float4* a, const uchar4* b, float* x) {
  const float4* p = a + threadIdx.x;
  const uchar4* q = b + threadIdx.x;
  x[threadIdx.x] = p->x + p->y + p->z + (q->x + q->w);
}

// Two neighbours in shared memory are one access, whatever global memory is asked for between.
__global__ void AcrossGlobal(const float* a, float* x) {
  __shared__ float d[2 * kSide];
  const int t = threadIdx.x;
  d[2 * t] = a[2 * t];
  d[2 * t + 1] = a[2 * t + 1];
  __syncthreads();
  x[2 * t] = d[2 * t];
  x[2 * t + 1] = d[2 * t + 1];
}

int main() {
  float *a, *x;
  cudaMalloc(&a, kSide * kSide * sizeof(float));
  cudaMalloc(&x, kSide * kSide * sizeof(float));
  cudaMemset(a, 0, kSide * kSide * sizeof(float));
  cudaMemset(x, 0, kSide * kSide * sizeof(float));
  Neighbours<<<1, kSide>>>(8, x);
  SumInMemory<<<1, kSide>>>(7, a, x);
  Apart<<<1, kSide>>>(x);
  Overwritten<<<1, kSide>>>(0, reinterpret_cast<int*>(a), reinterpret_cast<int*>(x));
  Pairs<<<1, kSide>>>(reinterpret_cast<float2*>(a), x, 8);
  Triangle<16><<<1, kSide>>>(x);
  LastPair<<<1, kSide>>>(x);
  OneThread<<<1, kSide>>>(x);
  BelowOne<<<1, kSide>>>(x);
  Members<<<1, kSide>>>(reinterpret_cast<float4*>(a), reinterpret_cast<uchar4*>(a), x);
  AcrossGlobal<<<1, kSide>>>(a, x);
}
