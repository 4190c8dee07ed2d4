// The work of a cluster of tensor_kernel.h: whole tiles, and where kDivides its share of the last
// ones. These are as many as the clusters or up to twice that, and their steps along k are divided
// evenly, so that no cluster is idle in a last round.
//
// A cluster's share is a run of at least as many steps as a tile has. It computes the run from its
// end: first the beginning of a tile, whose sums it leaves in memory for the cluster after it, at
// last the end of the tile whose beginning the cluster before it has left there long ago. That
// cluster was launched earlier: so nobody waits for a cluster that has not begun.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_PIECES_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_PIECES_H_

#include <cstdint>

#include "common/base/matrix.h"

namespace stridewise {

// What clusters share: the steps of kStep along the extent k of each tile. Tiles from
// `first_divided` on are divided; without kDivides none are.
struct TensorWork {
  int k;
  int tiles;
  int first_divided;
  int clusters;
};

// The elements of k from `first` up to `last`, of one tile.
struct TensorPiece {
  int tile, first, last;
};

template <int kStep, bool kDivides>
class TensorPieces {
 public:
  STRIDEWISE_HOST_DEVICE TensorPieces(const TensorWork& work, int cluster)
      : k_(work.k),
        clusters_(work.clusters),
        whole_(kDivides ? work.first_divided : work.tiles),
        next_(cluster) {
    if constexpr (kDivides) {
      steps_ = (k_ + kStep - 1) / kStep;
      const int64_t all = int64_t{work.tiles - whole_} * steps_;
      begin_ = static_cast<int>(all * cluster / clusters_);
      end_ = static_cast<int>(all * (cluster + 1) / clusters_);
    }
  }

  // Returns whether a piece is the beginning of a tile whose end is another cluster's.
  STRIDEWISE_HOST_DEVICE bool LeavesSums() const {
    return kDivides && end_ > begin_ && end_ % steps_ != 0;
  }

  // Returns whether there is one more piece, and sets `piece` to it.
  STRIDEWISE_HOST_DEVICE bool Next(TensorPiece* piece) {
    if (next_ < whole_) {
      *piece = {next_, 0, k_};
      next_ += clusters_;
      return true;
    }
    if constexpr (kDivides) {
      if (begin_ == end_) return false;
      const int tile = (end_ - 1) / steps_;
      const int of_tile = tile * steps_;
      const int first = begin_ > of_tile ? begin_ : of_tile;
      const int last = (end_ - of_tile) * kStep;
      *piece = {whole_ + tile, (first - of_tile) * kStep, last < k_ ? last : k_};
      end_ = first;
      return true;
    }
    return false;
  }

 private:
  int k_, clusters_, whole_, next_;
  int steps_ = 0, begin_ = 0, end_ = 0;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_PIECES_H_
