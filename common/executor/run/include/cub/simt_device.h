// CUB's algorithms of the whole device, by loops of the host that are neither checked nor counted.
// They ask for a byte of temporary memory.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CUB_SIMT_DEVICE_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CUB_SIMT_DEVICE_H_

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <vector>

#include "simt_block.h"

namespace cub {

// Whether the call only asks for the bytes.
inline bool SimtAsks(const void* memory, size_t& bytes) {
  if (memory != nullptr) return false;
  bytes = 1;
  return true;
}

// Writes results: the device's memory with a copy, so that it counts as written.
template <typename T, typename To>
cudaError_t SimtGive(const std::vector<T>& from, To to) {
  return cudaMemcpy(&*to, from.data(), from.size() * sizeof(T), cudaMemcpyDefault);
}
template <typename To>
using SimtValueOf = std::decay_t<decltype(*std::declval<To>())>;

struct DeviceReduce {
  template <typename From, typename To, typename Operator, typename T>
  static cudaError_t Reduce(void* memory, size_t& bytes, From from, To to, size_t n,
                            Operator combine, T first, cudaStream_t = nullptr) {
    if (SimtAsks(memory, bytes)) return cudaSuccess;
    for (size_t i = 0; i < n; ++i) first = combine(first, T(from[i]));
    return SimtGive(std::vector<SimtValueOf<To>>(1, first), to);
  }
  template <typename From, typename To>
  static cudaError_t Sum(void* memory, size_t& bytes, From from, To to, size_t n,
                         cudaStream_t = nullptr) {
    return Reduce(memory, bytes, from, to, n, cub::Sum(), SimtValueOf<To>());
  }
  template <typename From, typename To>
  static cudaError_t Max(void* memory, size_t& bytes, From from, To to, size_t n,
                         cudaStream_t = nullptr) {
    using T = SimtValueOf<To>;
    return Reduce(memory, bytes, from, to, n, cub::Max(), std::numeric_limits<T>::lowest());
  }
  template <typename From, typename To>
  static cudaError_t Min(void* memory, size_t& bytes, From from, To to, size_t n,
                         cudaStream_t = nullptr) {
    using T = SimtValueOf<To>;
    return Reduce(memory, bytes, from, to, n, cub::Min(), std::numeric_limits<T>::max());
  }
};

struct DeviceScan {
  template <typename From, typename To>
  static cudaError_t InclusiveSum(void* memory, size_t& bytes, From from, To to, size_t n,
                                  cudaStream_t = nullptr) {
    if (SimtAsks(memory, bytes)) return cudaSuccess;
    std::vector<SimtValueOf<To>> sums(n);
    std::partial_sum(from, from + n, sums.begin());
    return SimtGive(sums, to);
  }
  template <typename From, typename To>
  static cudaError_t ExclusiveSum(void* memory, size_t& bytes, From from, To to, size_t n,
                                  cudaStream_t = nullptr) {
    if (SimtAsks(memory, bytes)) return cudaSuccess;
    std::vector<SimtValueOf<To>> sums(n);
    if (n > 1) std::partial_sum(from, from + n - 1, sums.begin() + 1);
    return SimtGive(sums, to);
  }
};

struct DeviceRadixSort {
  template <typename K>
  static cudaError_t SortKeys(void* memory, size_t& bytes, const K* from, K* to, size_t n, int = 0,
                              int = 8 * sizeof(K), cudaStream_t = nullptr) {
    if (SimtAsks(memory, bytes)) return cudaSuccess;
    std::vector<K> keys(from, from + n);
    std::stable_sort(keys.begin(), keys.end());
    return SimtGive(keys, to);
  }
  template <typename K, typename V>
  static cudaError_t SortPairs(void* memory, size_t& bytes, const K* keys, K* keys_to,
                               const V* values, V* values_to, size_t n, int = 0,
                               int = 8 * sizeof(K), cudaStream_t = nullptr) {
    if (SimtAsks(memory, bytes)) return cudaSuccess;
    std::vector<size_t> order(n);
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return keys[a] < keys[b]; });
    std::vector<K> sorted;
    std::vector<V> moved;
    for (const size_t i : order) {
      sorted.push_back(keys[i]);
      moved.push_back(values[i]);
    }
    const cudaError_t error = SimtGive(sorted, keys_to);
    return error == cudaSuccess ? SimtGive(moved, values_to) : error;
  }
};

}  // namespace cub

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CUB_SIMT_DEVICE_H_
