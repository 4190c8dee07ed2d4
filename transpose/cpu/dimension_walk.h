// Goes through all indices of some dimensions, with the bytes that each lies behind the first.

#ifndef STRIDEWISE_TRANSPOSE_CPU_DIMENSION_WALK_H_
#define STRIDEWISE_TRANSPOSE_CPU_DIMENSION_WALK_H_

#include <cstdint>

#include "transpose/permute_args.h"

namespace stridewise {

class DimensionWalk {
 public:
  // Adds a dimension that changes after those before it.
  void Add(const PermuteDimension& dim, int64_t element_bytes) {
    dims_[rank_++] = {dim.extent, dim.stride_in * element_bytes, dim.stride_out * element_bytes};
    count_ *= dim.extent;
  }

  // Returns the number of indices; 1 without dimensions.
  int64_t count() const { return count_; }
  int64_t in() const { return in_; }
  int64_t out() const { return out_; }

  void GoTo(int64_t number) {
    in_ = out_ = 0;
    for (int d = 0; d < rank_; ++d) {
      index_[d] = number % dims_[d].extent;
      number /= dims_[d].extent;
      in_ += index_[d] * dims_[d].stride_in;
      out_ += index_[d] * dims_[d].stride_out;
    }
  }

  // Goes to the next index, from the last one to the first.
  void Next() {
    for (int d = 0; d < rank_; ++d) {
      in_ += dims_[d].stride_in;
      out_ += dims_[d].stride_out;
      if (++index_[d] < dims_[d].extent) return;
      in_ -= dims_[d].extent * dims_[d].stride_in;
      out_ -= dims_[d].extent * dims_[d].stride_out;
      index_[d] = 0;
    }
  }

 private:
  int rank_ = 0;
  PermuteDimension dims_[kMaxPermuteRank];  // Strides in bytes.
  int64_t index_[kMaxPermuteRank] = {};
  int64_t count_ = 1;
  int64_t in_ = 0;
  int64_t out_ = 0;
};

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_CPU_DIMENSION_WALK_H_
