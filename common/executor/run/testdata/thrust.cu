// Thrust: vectors that kernels write, algorithms, iterators, policies.
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>

#include <cstdio>

__global__ void AddOne(int* x, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] += 1;
}

struct Saxpy {
  float a;
  __host__ __device__ float operator()(float x, float y) const { return a * x + y; }
};
struct Distance {
  __device__ int operator()(const thrust::tuple<int, int>& t) const {
    return thrust::get<0>(t) - thrust::get<1>(t);
  }
};

int failures = 0;
void Expect(const char* what, double got, double wanted) {
  if (got == wanted) return;
  ++failures;
  std::fprintf(stderr, "%s: %g, wanted %g\n", what, got, wanted);
}

int main() {
  constexpr int kN = 1000;
  thrust::device_vector<int> x(kN);
  thrust::sequence(x.begin(), x.end());
  AddOne<<<4, 256>>>(thrust::raw_pointer_cast(x.data()), kN);
  AddOne<<<4, 256>>>(x.data().get(), kN);
  AddOne<<<4, 256>>>(thrust::raw_pointer_cast(&x[0]), kN);
  cudaDeviceSynchronize();
  Expect("an element", x[5], 8);
  Expect("reduce", thrust::reduce(x.begin(), x.end(), 0, thrust::plus<int>()), 502500);
  Expect("reduce by policy", thrust::reduce(thrust::device, x.begin(), x.begin() + 3), 3 + 4 + 5);
  Expect("largest", *thrust::max_element(x.begin(), x.end()), 1002);
  Expect("maximum", thrust::reduce(x.begin(), x.end(), 0, thrust::maximum<int>()), 1002);

  const thrust::host_vector<int> copied = x;
  thrust::device_vector<int> back = copied;
  thrust::sort(back.begin(), back.end(), thrust::greater<int>());
  Expect("sorted", back[0] - back[kN - 1], 999);
  thrust::device_vector<int> keys(4), values(4), sums(4);
  const int given[4] = {2, 1, 2, 1};
  thrust::copy(given, given + 4, keys.begin());
  thrust::sequence(values.begin(), values.end());
  thrust::sort_by_key(keys.begin(), keys.end(), values.begin());
  Expect("values by keys", values[0] * 1000 + values[1] * 100 + values[2] * 10 + values[3], 1302);
  thrust::device_vector<int> unique(4);
  const auto ends =
      thrust::reduce_by_key(keys.begin(), keys.end(), values.begin(), unique.begin(), sums.begin());
  Expect("sums of keys", (ends.first - unique.begin()) * 100 + sums[0] * 10 + sums[1], 242);

  thrust::device_vector<float> a(8, 2.f), b(8, 1.f);
  thrust::transform(thrust::cuda::par.on(nullptr), a.begin(), a.end(), b.begin(), b.begin(),
                    Saxpy{3.f});
  Expect("transform", b[7], 7);
  Expect("inner product", thrust::inner_product(a.begin(), a.end(), b.begin(), 0.f), 112);
  Expect("squares",
         thrust::transform_reduce(a.begin(), a.end(), thrust::square<float>(), 0.f,
                                  thrust::plus<float>()),
         32);
  thrust::exclusive_scan(thrust::host, values.begin(), values.end(), values.begin());
  Expect("exclusive scan", values[3], 4);
  Expect("count", thrust::count_if(x.begin(), x.end(), [] __device__(int v) { return v % 2 == 0; }),
         500);

  const auto pairs = thrust::make_zip_iterator(thrust::make_tuple(x.begin(), copied.begin()));
  const auto difference = thrust::make_transform_iterator(pairs, Distance());
  Expect("equal", thrust::reduce(difference, difference + kN), 0);
  const thrust::counting_iterator<int> first(1);
  Expect("counted", thrust::reduce(first, first + 100), 5050);
  int* raw;
  cudaMalloc(&raw, 4 * sizeof(int));
  const thrust::device_ptr<int> pointer(raw);
  thrust::fill(pointer, pointer + 4, 6);
  AddOne<<<1, 4>>>(raw, 4);
  Expect("through a pointer", pointer[3], 7);
  return failures;
}
