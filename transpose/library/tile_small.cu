// For matrices that take about as long as a launch: less than 2 MB in all. Memory is no limit
// there, and neither is arithmetic. What counts is the number of steps from the first load to the
// last store, each of them cold: few instructions, which have to be fetched from memory themselves,
// one load of each thread's elements, all at once, and enough blocks for every multiprocessor.
// Vectors, units and edges, which the kernels for large matrices live on, cost 2 to 10 us here.
//
// A block takes a tile of one matrix, one element an access. Tiles are square, or thin where the
// matrix is.

#include <algorithm>
#include <type_traits>

#include "common/base/return_if_error.h"
#include "common/gpu/launch.h"
#include "transpose/args.h"
#include "transpose/views.h"

namespace stridewise {
namespace {

// A tile of kRows x kCols elements of `in`, of which a thread moves kElements.
template <int kRowsOfTile, int kColsOfTile, int kElementsOfThread>
struct Shape {
  static constexpr int kRows = kRowsOfTile;
  static constexpr int kCols = kColsOfTile;
  static constexpr int kElements = kElementsOfThread;
  static constexpr int kThreads = kRows * kCols / kElements;
  static constexpr int kPitch = kRows | 1;  // Odd: no bank conflicts with 4-byte elements.
  static_assert(kThreads % 32 == 0 && kThreads % kRows == 0 && kThreads % kCols == 0,
                "each thread moves elements of one column, and then of one row");
};

// The matrices of the batch continue in z of the grid.
struct Batch {
  int64_t matrices;
  int64_t stride_in;
  int64_t stride_out;
};

// The path with kWhole is for matrices that are made of whole tiles, each in its own z: up to the
// last load are 31 instructions instead of 81, and 512 x 512 floats take 5.8 us instead of 6.7 on
// an H100 (memcpy 5.8).
template <typename Shape, bool kWhole, typename In, typename Out>
__global__ void __launch_bounds__(Shape::kThreads) TileSmall(In in, Out out, Batch batch) {
  using T = typename Out::Element;
  using Index = typename In::Index;
  // Behind the last row offsets may need more bits than the view has.
  using Offset = std::conditional_t<kWhole, Index, int64_t>;
  __shared__ T tile[Shape::kCols * Shape::kPitch];
  constexpr int kRowStep = Shape::kThreads / Shape::kCols;
  constexpr int kColStep = Shape::kThreads / Shape::kRows;
  const auto first_row = static_cast<Index>(blockIdx.x) * Shape::kRows;
  const auto first_col = static_cast<Index>(blockIdx.y) * Shape::kCols;
  const int in_x = threadIdx.x % Shape::kCols;
  const int in_y = threadIdx.x / Shape::kCols;
  const int out_x = threadIdx.x % Shape::kRows;
  const int out_y = threadIdx.x / Shape::kRows;
  const auto left = [](Index extent, int most) {
    return extent < most ? static_cast<int>(extent) : most;
  };
  const int rows = kWhole ? Shape::kRows : left(in.rows - first_row, Shape::kRows);
  const int cols = kWhole ? Shape::kCols : left(in.cols - first_col, Shape::kCols);
  int64_t matrix = blockIdx.z;
  do {
    const T* const from =
        in.data + (Offset{first_row} + in_y) * in.ld + first_col + in_x + matrix * batch.stride_in;
    T* const to = out.data + (Offset{first_col} + out_y) * out.ld + first_row + out_x +
                  matrix * batch.stride_out;
    T elements[Shape::kElements];
#pragma unroll
    for (int i = 0; i < Shape::kElements; ++i) {
      if (kWhole || (in_y + i * kRowStep < rows && in_x < cols)) {
        elements[i] = from[i * kRowStep * in.ld];
      }
    }
#pragma unroll
    for (int i = 0; i < Shape::kElements; ++i) {
      tile[in_x * Shape::kPitch + in_y + i * kRowStep] = elements[i];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Shape::kElements; ++i) {
      if (kWhole || (out_y + i * kColStep < cols && out_x < rows)) {
        to[i * kColStep * out.ld] = tile[(out_y + i * kColStep) * Shape::kPitch + out_x];
      }
    }
    if constexpr (kWhole) return;
    matrix += gridDim.z;
    __syncthreads();  // Before the tile is overwritten.
  } while (matrix < batch.matrices);
}

template <typename Shape, typename T>
LaunchStatus Run(const TransposeArgs& args) {
  // More columns of tiles than the grid has are taken by further launches.
  constexpr int64_t kColsOfGrid = kMaxGridYZ * Shape::kCols;
  for (int64_t first = 0; first < args.cols; first += kColsOfGrid) {
    TransposeArgs part = args;
    part.in = args.In<T>().data + first;
    part.cols = std::min(args.cols - first, kColsOfGrid);
    part.out = args.Out<T>().data + first * args.ld_out;
    const bool whole =
        part.rows % Shape::kRows == 0 && part.cols % Shape::kCols == 0 && part.batch <= kMaxGridYZ;
    RETURN_IF_ERROR(ForViewsOf<T>(part, part.cols, part.rows, [&](auto in, auto out) {
      using In = decltype(in);
      using Out = decltype(out);
      return Launch(whole ? TileSmall<Shape, true, In, Out> : TileSmall<Shape, false, In, Out>,
                    Grid{CeilDiv(part.rows, Shape::kRows), CeilDiv(part.cols, Shape::kCols),
                         std::min(part.batch, kMaxGridYZ)},
                    Block{Shape::kThreads}, 0, part.stream, in, out,
                    Batch{part.batch, part.stride_in, part.stride_out});
    }));
  }
  return LaunchStatus();
}

}  // namespace

LaunchStatus TransposeTileSmall(const TransposeArgs& args) {
  if (args.rows == 0 || args.cols == 0 || args.batch == 0) return LaunchStatus();
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    if constexpr (sizeof(T) <= 2) {
      if (args.rows <= 2) return Run<Shape<2, 256, 2>, T>(args);
      if (args.cols <= 2) return Run<Shape<256, 2, 2>, T>(args);
      if (args.rows <= 4) return Run<Shape<4, 256, 4>, T>(args);
      if (args.cols <= 4) return Run<Shape<256, 4, 4>, T>(args);
    }
    if constexpr (sizeof(T) == 1) {
      if (args.rows <= 8) return Run<Shape<8, 256, 8>, T>(args);
      if (args.cols <= 8) return Run<Shape<256, 8, 8>, T>(args);
    }
    if constexpr (sizeof(T) <= 4) {
      if (args.rows <= 8) return Run<Shape<8, 128, 4>, T>(args);
      if (args.cols <= 8) return Run<Shape<128, 8, 4>, T>(args);
      if (args.rows <= 16) return Run<Shape<16, 64, 4>, T>(args);
      if (args.cols <= 16) return Run<Shape<64, 16, 4>, T>(args);
      return Run<Shape<32, 32, 4>, T>(args);
    } else {
      if (args.rows <= 4) return Run<Shape<4, 64, 1>, T>(args);
      if (args.cols <= 4) return Run<Shape<64, 4, 1>, T>(args);
      return Run<Shape<16, 16, 1>, T>(args);
    }
  });
}

}  // namespace stridewise
