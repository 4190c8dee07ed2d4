// CUB's reductions, scans, loads and stores of a block. Reductions have the accesses of CUB's own
// (BLOCK_REDUCE_WARP_REDUCTIONS, its default), scans those of BLOCK_SCAN_WARP_SCANS whatever the
// program asks for, loads and stores those of BLOCK_LOAD_DIRECT.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CUB_SIMT_BLOCK_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CUB_SIMT_BLOCK_H_

#include "simt_warp.h"

namespace cub {

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS,
};
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
};

template <typename T, int kX, BlockReduceAlgorithm kAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS,
          int kY = 1, int kZ = 1, int kArchitecture = 0>
class BlockReduce {
  static constexpr int kThreads = kX * kY * kZ;
  static constexpr int kWarps = (kThreads + 31) / 32;

 public:
  struct TempStorage {
    T of_warps[kWarps];
  };
  SIMT_INLINE explicit BlockReduce(TempStorage& storage) : storage_(storage) {}

  // The result is thread 0's.
  template <typename Operator>
  SIMT_INLINE T Reduce(T value, Operator combine, int valid = kThreads) const {
    const int rank = static_cast<int>(SimtRank());
    const int warp = rank / 32;
    typename WarpReduce<T>::TempStorage none;
    value = WarpReduce<T>(none).Reduce(value, combine, valid - warp * 32);
    if (rank % 32 == 0) storage_.of_warps[warp] = value;
    __syncthreads();
    if (rank == 0) {
      for (int i = 1; i < kWarps; ++i) {
        if (i * 32 < valid) value = combine(value, storage_.of_warps[i]);
      }
    }
    return value;
  }
  template <int kItems, typename Operator>
  SIMT_INLINE T Reduce(T (&values)[kItems], Operator combine) const {
    T value = values[0];
    for (int i = 1; i < kItems; ++i) value = combine(value, values[i]);
    return Reduce(value, combine);
  }
  SIMT_INLINE T Sum(T value) const { return Reduce(value, cub::Sum()); }
  SIMT_INLINE T Sum(T value, int valid) const { return Reduce(value, cub::Sum(), valid); }
  template <int kItems>
  SIMT_INLINE T Sum(T (&values)[kItems]) const {
    return Reduce(values, cub::Sum());
  }

 private:
  TempStorage& storage_;
};

template <typename T, int kX, BlockScanAlgorithm kAlgorithm = BLOCK_SCAN_RAKING, int kY = 1,
          int kZ = 1, int kArchitecture = 0>
class BlockScan {
  static constexpr int kWarps = (kX * kY * kZ + 31) / 32;

 public:
  struct TempStorage {
    T of_warps[kWarps];
  };
  SIMT_INLINE explicit BlockScan(TempStorage& storage) : storage_(storage) {}

  template <typename Operator>
  SIMT_INLINE void InclusiveScan(T value, T& to, Operator combine, T& aggregate) const {
    T before;
    bool has_before;
    Scan(value, combine, before, has_before, to, aggregate);
  }
  template <typename Operator>
  SIMT_INLINE void InclusiveScan(T value, T& to, Operator combine) const {
    T aggregate;
    InclusiveScan(value, to, combine, aggregate);
  }
  template <typename Operator>
  SIMT_INLINE void ExclusiveScan(T value, T& to, T first, Operator combine, T& aggregate) const {
    T before, inclusive;
    bool has_before;
    Scan(value, combine, before, has_before, inclusive, aggregate);
    to = has_before ? combine(first, before) : first;
  }
  template <typename Operator>
  SIMT_INLINE void ExclusiveScan(T value, T& to, T first, Operator combine) const {
    T aggregate;
    ExclusiveScan(value, to, first, combine, aggregate);
  }
  SIMT_INLINE void InclusiveSum(T value, T& to) const { InclusiveScan(value, to, cub::Sum()); }
  SIMT_INLINE void InclusiveSum(T value, T& to, T& aggregate) const {
    InclusiveScan(value, to, cub::Sum(), aggregate);
  }
  SIMT_INLINE void ExclusiveSum(T value, T& to) const { ExclusiveScan(value, to, T(), cub::Sum()); }
  SIMT_INLINE void ExclusiveSum(T value, T& to, T& aggregate) const {
    ExclusiveScan(value, to, T(), cub::Sum(), aggregate);
  }
  // Of several values of each thread.
  template <int kItems>
  SIMT_INLINE void InclusiveSum(T (&values)[kItems], T (&to)[kItems]) const {
    T before;
    ExclusiveSum(SumOf(values), before);
    for (int i = 0; i < kItems; ++i) to[i] = before = before + values[i];
  }
  template <int kItems>
  SIMT_INLINE void ExclusiveSum(T (&values)[kItems], T (&to)[kItems]) const {
    T before;
    ExclusiveSum(SumOf(values), before);
    for (int i = 0; i < kItems; ++i) {
      const T value = values[i];  // `to` may be `values`.
      to[i] = before;
      before = before + value;
    }
  }

 private:
  template <int kItems>
  static SIMT_INLINE T SumOf(T (&values)[kItems]) {
    T sum = values[0];
    for (int i = 1; i < kItems; ++i) sum = sum + values[i];
    return sum;
  }
  template <typename Operator>
  SIMT_INLINE void Scan(T value, Operator combine, T& before, bool& has_before, T& inclusive,
                        T& aggregate) const {
    const int rank = static_cast<int>(SimtRank());
    const int warp = rank / 32, lane = rank % 32;
    typename WarpScan<T>::TempStorage none;
    WarpScan<T>(none).InclusiveScan(value, inclusive, combine);
    before = SimtShuffle(0xffffffffu, inclusive, -1, 32);
    has_before = lane > 0;
    if (lane == 31) storage_.of_warps[warp] = inclusive;
    __syncthreads();
    T prefix = aggregate = storage_.of_warps[0];
    for (int i = 1; i < kWarps; ++i) {
      if (i == warp) prefix = aggregate;
      aggregate = combine(aggregate, storage_.of_warps[i]);
    }
    if (warp == 0) return;
    inclusive = combine(prefix, inclusive);
    before = has_before ? combine(prefix, before) : prefix;
    has_before = true;
  }

  TempStorage& storage_;
};

template <typename T, int kX, int kItems, BlockLoadAlgorithm kAlgorithm = BLOCK_LOAD_DIRECT,
          int kY = 1, int kZ = 1, int kArchitecture = 0>
class BlockLoad {
 public:
  struct TempStorage {};
  SIMT_INLINE BlockLoad() = default;
  SIMT_INLINE explicit BlockLoad(TempStorage&) {}
  template <typename From>
  SIMT_INLINE void Load(From from, T (&to)[kItems]) const {
    for (int i = 0; i < kItems; ++i) to[i] = from[SimtRank() * kItems + i];
  }
  template <typename From>
  SIMT_INLINE void Load(From from, T (&to)[kItems], int valid, T otherwise = T()) const {
    for (int i = 0; i < kItems; ++i) {
      const int at = static_cast<int>(SimtRank()) * kItems + i;
      to[i] = at < valid ? T(from[at]) : otherwise;
    }
  }
};

template <typename T, int kX, int kItems, BlockStoreAlgorithm kAlgorithm = BLOCK_STORE_DIRECT,
          int kY = 1, int kZ = 1, int kArchitecture = 0>
class BlockStore {
 public:
  struct TempStorage {};
  SIMT_INLINE BlockStore() = default;
  SIMT_INLINE explicit BlockStore(TempStorage&) {}
  template <typename To>
  SIMT_INLINE void Store(To to, T (&from)[kItems], int valid = kX * kY * kZ * kItems) const {
    for (int i = 0; i < kItems; ++i) {
      const int at = static_cast<int>(SimtRank()) * kItems + i;
      if (at < valid) to[at] = from[i];
    }
  }
};

}  // namespace cub

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CUB_SIMT_BLOCK_H_
