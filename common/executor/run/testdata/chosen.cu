// A load that only one branch needs is a load of all lanes; and a main() that returns nothing.
__global__ void Choose(const int* a, const int* p, int* out) {
  const int t = threadIdx.x;
  const int x = a[t], q = p[t];
  int y = 0, z = q;
  if (q > 0) {
    y = x;
    z = 2 * q + p[t + 64];
  }
  out[t] = y + z;
}
int main(int argc, char**) {
  if (argc > 5) return;
  int *a, *p;
  cudaMallocManaged(&a, 1024);
  cudaMallocManaged(&p, 1024);
  Choose<<<1, 64>>>(a, p, a + 128);
  return cudaDeviceSynchronize();
}
