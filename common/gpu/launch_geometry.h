// The shape of a kernel launch, in 64 bits, and CUDA's limits on it.

#ifndef STRIDEWISE_COMMON_GPU_LAUNCH_GEOMETRY_H_
#define STRIDEWISE_COMMON_GPU_LAUNCH_GEOMETRY_H_

#include <cstddef>
#include <cstdint>

#include "common/gpu/launch_status.h"

namespace stridewise {

// Blocks of a grid or threads of a block. 64-bit, so that a count too large for CUDA is refused
// instead of wrapping round to one that launches.
struct Extent3 {
  int64_t x = 1;
  int64_t y = 1;
  int64_t z = 1;
};
using Grid = Extent3;
using Block = Extent3;

// Limits of every GPU since compute capability 3.0 (CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability").
inline constexpr int64_t kMaxGridX = 2147483647;
inline constexpr int64_t kMaxGridYZ = 65535;
inline constexpr int64_t kMaxBlockThreads = 1024;
inline constexpr int64_t kMaxBlockXY = 1024;
inline constexpr int64_t kMaxBlockZ = 64;

// The most shared memory of a block, static and dynamic together, unless the kernel's
// cudaFuncAttributeMaxDynamicSharedMemorySize is raised (CUDA C++ Programming Guide, "Shared
// Memory" from 7.x on).
inline constexpr size_t kSharedBytesWithoutAsking = size_t{48} * 1024;

// Returns InvalidArgument, naming the extent and its limit, for a launch that CUDA would refuse.
// An empty grid is allowed: there is nothing to do.
LaunchStatus CheckLaunchGeometry(const Grid& grid, const Block& block);

inline int64_t CeilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

// Returns the grid that covers rows x cols elements with one block for each tile of
// tile_rows x tile_cols. More than 65535 rows of tiles continue in z; BlockRow() of launch.h
// combines y and z. The last layer may have blocks below the matrix: kernels must check the row.
inline Grid TileGrid(int64_t rows, int64_t cols, int64_t tile_rows, int64_t tile_cols) {
  const int64_t tiles = CeilDiv(rows, tile_rows);
  const int64_t layers = tiles == 0 ? 1 : CeilDiv(tiles, kMaxGridYZ);
  return {CeilDiv(cols, tile_cols), CeilDiv(tiles, layers), layers};
}

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_LAUNCH_GEOMETRY_H_
