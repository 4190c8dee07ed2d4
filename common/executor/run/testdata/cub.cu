// CUB's reductions and scans of warps, blocks and the device, beside loops of the host.
#include <algorithm>
#include <cstdio>
#include <cub/cub.cuh>

constexpr int kThreads = 96, kItems = 3, kN = kThreads * kItems;

struct Results {
  int sum, largest, partial, items_sum;
  int inclusive[kThreads], exclusive[kThreads], items[kN], warp_sums[3], warp_scan[kThreads];
  int aggregate;
  double doubles;
};

__global__ void Reduce(const int* in, Results* out) {
  using Block = cub::BlockReduce<int, kThreads>;
  using Doubles = cub::BlockReduce<double, kThreads>;
  using Warp = cub::WarpReduce<int>;
  __shared__ typename Block::TempStorage storage;
  __shared__ typename Doubles::TempStorage doubles;
  __shared__ typename Warp::TempStorage of_warps[kThreads / 32];
  const int t = static_cast<int>(threadIdx.x);
  int items[kItems];
  for (int i = 0; i < kItems; ++i) items[i] = in[t * kItems + i];
  const int sum = Block(storage).Sum(in[t]);
  __syncthreads();
  const int largest = Block(storage).Reduce(in[t], cub::Max());
  __syncthreads();
  const int partial = Block(storage).Sum(in[t], 40);
  __syncthreads();
  const int items_sum = Block(storage).Sum(items);
  const double half = Doubles(doubles).Sum(0.5 * in[t]);
  const int warp_sum = Warp(of_warps[t / 32]).Sum(in[t]);
  if (t % 32 == 0) out->warp_sums[t / 32] = warp_sum;
  if (t != 0) return;
  out->sum = sum;
  out->largest = largest;
  out->partial = partial;
  out->items_sum = items_sum;
  out->doubles = half;
}

__global__ void Scan(const int* in, Results* out) {
  using Block = cub::BlockScan<int, kThreads>;
  using Warp = cub::WarpScan<int>;
  using Load = cub::BlockLoad<int, kThreads, kItems, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<int, kThreads, kItems>;
  __shared__ union {
    typename Block::TempStorage scan;
    typename Load::TempStorage load;
    typename Store::TempStorage store;
  } storage;
  __shared__ typename Warp::TempStorage of_warps[kThreads / 32];
  const int t = static_cast<int>(threadIdx.x);
  int value, aggregate, items[kItems];
  Block(storage.scan).InclusiveSum(in[t], out->inclusive[t]);
  __syncthreads();
  Block(storage.scan).ExclusiveSum(in[t], value, aggregate);
  out->exclusive[t] = value;
  if (t == 0) out->aggregate = aggregate;
  __syncthreads();
  Load(storage.load).Load(in, items);
  __syncthreads();
  Block(storage.scan).InclusiveSum(items, items);
  __syncthreads();
  Store(storage.store).Store(out->items, items);
  Warp(of_warps[t / 32]).InclusiveSum(in[t], value);
  out->warp_scan[t] = value;
}

int failures = 0;
void Expect(const char* what, int i, double got, double wanted) {
  if (got == wanted) return;
  ++failures;
  std::fprintf(stderr, "%s %d: %g, wanted %g\n", what, i, got, wanted);
}

int main() {
  int* in;
  Results* out;
  cudaMallocManaged(&in, kN * sizeof(int));
  cudaMallocManaged(&out, sizeof(Results));
  for (int i = 0; i < kN; ++i) in[i] = i * 37 % 101 - 20;
  Reduce<<<1, kThreads>>>(in, out);
  Scan<<<1, kThreads>>>(in, out);
  cudaDeviceSynchronize();
  int sums[kN + 1] = {0};
  for (int i = 0; i < kN; ++i) sums[i + 1] = sums[i] + in[i];
  Expect("sum", 0, out->sum, sums[kThreads]);
  Expect("largest", 0, out->largest, *std::max_element(in, in + kThreads));
  Expect("of the first", 40, out->partial, sums[40]);
  Expect("of items", 0, out->items_sum, sums[kN]);
  Expect("of doubles", 0, out->doubles, 0.5 * sums[kThreads]);
  Expect("aggregate", 0, out->aggregate, sums[kThreads]);
  for (int i = 0; i < kThreads; ++i) {
    const int warp = i / 32 * 32;
    Expect("inclusive", i, out->inclusive[i], sums[i + 1]);
    Expect("exclusive", i, out->exclusive[i], sums[i]);
    Expect("scan of a warp", i, out->warp_scan[i], sums[i + 1] - sums[warp]);
    Expect("sum of a warp", i, out->warp_sums[i / 32], sums[warp + 32] - sums[warp]);
  }
  for (int i = 0; i < kN; ++i) Expect("items", i, out->items[i], sums[i + 1]);

  int *result, *sorted, *order;
  cudaMalloc(&result, kN * sizeof(int));
  cudaMallocManaged(&sorted, kN * sizeof(int));
  cudaMallocManaged(&order, kN * sizeof(int));
  void* memory = nullptr;
  size_t bytes = 0;
  cub::DeviceScan::ExclusiveSum(memory, bytes, in, result, kN);
  cudaMalloc(&memory, bytes);
  cub::DeviceScan::ExclusiveSum(memory, bytes, in, result, kN);
  int host[kN];
  cudaMemcpy(host, result, sizeof(host), cudaMemcpyDeviceToHost);
  for (int i = 0; i < kN; ++i) Expect("scan of the device", i, host[i], sums[i]);
  cub::DeviceReduce::Min(memory, bytes, in, result, kN);
  cudaMemcpy(host, result, sizeof(int), cudaMemcpyDeviceToHost);
  Expect("least", 0, host[0], *std::min_element(in, in + kN));
  for (int i = 0; i < kN; ++i) host[i] = i;
  cub::DeviceRadixSort::SortPairs(memory, bytes, in, sorted, host, order, kN);
  for (int i = 0; i < kN; ++i) {
    Expect("sorted", i, sorted[i], in[order[i]]);
    if (i > 0) Expect("in order", i, sorted[i - 1] <= sorted[i], 1);
  }
  return failures;
}
