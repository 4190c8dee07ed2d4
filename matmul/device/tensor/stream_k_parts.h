// How the steps along k of all tiles of a product are divided among clusters, evenly and in order,
// whatever the number of tiles: each cluster has a run of them, which may be a part of a tile, or
// the end of one tile and the beginning of the next. The sums of each part lie in the workspace
// until a second kernel adds the parts of a tile in the order of k, so that the same call gives the
// same bits.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_STREAM_K_PARTS_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_STREAM_K_PARTS_H_

#include <cstdint>

#include "common/base/matrix.h"

namespace stridewise {

// The tiles of a product, of a batch one product after the other, and the clusters that divide
// them. There are at least as many steps as clusters.
struct StreamKWork {
  int steps;  // Of a tile.
  int rows;   // Of tiles, of a product. Tiles follow each other down its columns.
  int cols;
  int tiles;  // Of the batch.
  int clusters;

  STRIDEWISE_HOST_DEVICE int64_t AllSteps() const { return int64_t{tiles} * steps; }

  // Returns the first step of a cluster's run, which ends where the next cluster's begins.
  STRIDEWISE_HOST_DEVICE int64_t FirstStep(int cluster) const {
    return AllSteps() * cluster / clusters;
  }

  // Returns the cluster that has a step.
  STRIDEWISE_HOST_DEVICE int ClusterOf(int64_t step) const {
    return static_cast<int>(((step + 1) * clusters - 1) / AllSteps());
  }

  // Returns the number of the part of a tile that a cluster has: each part has another one, since
  // from a part to the next the tile or the cluster is the next one.
  STRIDEWISE_HOST_DEVICE int PartOf(int tile, int cluster) const { return tile + cluster; }

  // Returns one more than the last of these numbers.
  STRIDEWISE_HOST_DEVICE int64_t Parts() const { return int64_t{tiles} + clusters - 1; }
};

// Where a tile is: its row and column among the tiles of a product, and the product.
struct StreamKTileAt {
  int row, col, batch;

  STRIDEWISE_HOST_DEVICE StreamKTileAt(const StreamKWork& work, int tile)
      : row(tile % work.rows),
        col(tile / work.rows % work.cols),
        batch(tile / (work.rows * work.cols)) {}
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_STREAM_K_PARTS_H_
