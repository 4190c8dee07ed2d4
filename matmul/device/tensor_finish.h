// The kernel of tensor_kernel.h with an epilogue of its own: C = f(alpha * sum + beta * C + bias),
// rounded once. The sums are changed in registers and then stored as tensor_kernel.h stores sums.
//
// It is a kernel beside the plain one, whose code stays what was measured. Old values of C and the
// bias are read element by element. A tile of floats is finished and stored 64 columns after the
// other: with all of its 256 columns at once a thread has 128 sums, 128 values and the addresses of
// what is loaded, and 350 to 500 bytes of them do not fit in its registers.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_FINISH_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_FINISH_H_

#include <cstdint>
#include <type_traits>

#include "matmul/device/activation.h"
#include "matmul/device/tensor/epilogue.h"
#include "matmul/device/tensor_kernel.h"

namespace stridewise {

// What is done to sums. C is described as the caller has it, also where tiles are those of C
// transposed; `scales` are null but for those of whole FP8 operands.
struct TensorFinish {
  TensorOutput c;
  TensorScales scales;
};

// The columns of a tile that are finished together. Those of a turned tile are stored together.
template <typename Tile>
constexpr int kFinishedColumns = sizeof(typename Tile::Out) == 4 ? 64 : Tile::kBlockN;

// These columns of a tile, whose sums have become floats: INT8's are integers before.
template <typename Tile>
struct FinishedTile : Tile {
  using Accumulator = float;
  static constexpr int kBlockN = kFinishedColumns<Tile>;
};

// Whether the tile is one of C transposed: known beforehand but for A in registers.
template <typename Tile>
__device__ inline bool IsTransposed(const TensorGemm& gemm) {
  return Tile::kTurned || (Tile::kAInRegisters && gemm.c_transposed);
}

// Adds `factor` times the elements at `from`, the first of them at the thread's first row and
// column, to its values of a consumer's 64 rows of a FinishedTile. Rows and columns are of_row and
// of_col elements apart. What lies outside of C is not read or, where kClamped, its last row or
// column instead: then loads of the same element are one, and none has a condition of its own.
template <typename Tile, bool kClamped>
__device__ inline void AddElements(const typename Tile::Out* from, int64_t of_row, int64_t of_col,
                                   float factor, int rows, int cols,
                                   float (&values)[Tile::kBlockN / 2]) {
  using Out = typename Tile::Out;
  constexpr int kBelow = Tile::kAInRegisters ? 4 : 8;
  constexpr int kValues = Tile::kBlockN / 2;
  // Loads that are under way together. Three to six at a time took 24 us of an INT8 product of 126.
  constexpr int kTogether = Tile::kAInRegisters ? 8 : 32;
#pragma unroll
  for (int first = 0; first < kValues; first += kTogether) {
    Out old[kTogether];
#pragma unroll
    for (int i = 0; i < kTogether && first + i < kValues; ++i) {
      const int row = (first + i) / 2 % 2 * kBelow;
      const int col = (first + i) / 4 * 8 + i % 2;
      if constexpr (kClamped) {
        old[i] = from[min(row, rows - 1) * of_row + min(col, cols - 1) * of_col];
      } else {
        old[i] = Out(0.0f);
        if (row < rows && col < cols) old[i] = from[row * of_row + col * of_col];
      }
    }
#pragma unroll
    for (int i = 0; i < kTogether && first + i < kValues; ++i) {
      values[first + i] = fmaf(factor, static_cast<float>(old[i]), values[first + i]);
    }
  }
}

// The bias of a thread's two rows of a tile of C transposed, loaded before the tile is summed: the
// epilogue would wait for it. Zero without one, and for other tiles.
struct EarlyBias {
  float of_row[2] = {0, 0};
};

// Sets `values` to what is to be stored for the sums at `d`. A loop for each thing that is asked
// for: one loop with choices inside would have them for each sum.
template <typename Tile, typename Sum>
__device__ inline void FinishSums(const TensorFinish& finish, const TensorGemm& gemm, int thread,
                                  int row, int col, int batch, const Sum* d, const EarlyBias& early,
                                  float (&values)[Tile::kBlockN / 2]) {
  using Out = typename Tile::Out;
  const TensorOutput& c = finish.c;
  const float alpha = c.alpha * ScaleOfAll(finish.scales);
#pragma unroll
  for (int i = 0; i < Tile::kBlockN / 2; ++i) values[i] = alpha * static_cast<float>(d[i]);
  const int first_row = row + TensorRow<Tile>(thread);
  const int first_col = col + thread % 4 * 2;
  const auto add = [&](auto is_bias, const void* from, int64_t of_row, int64_t of_col,
                       float factor) {
    AddElements<Tile, decltype(is_bias)::value>(
        static_cast<const Out*>(from) + first_row * of_row + first_col * of_col, of_row, of_col,
        factor, gemm.m - first_row, gemm.n - first_col, values);
  };
  if (c.beta != 0) {
    const Out* const old = static_cast<const Out*>(c.data) + batch * c.stride;
    if (IsTransposed<Tile>(gemm)) {
      add(std::false_type(), old, 1, c.ld, c.beta);
    } else {
      add(std::false_type(), old, c.ld, 1, c.beta);
    }
  }
  if (c.bias != nullptr) {
    if constexpr (Tile::kTurned) {
#pragma unroll
      for (int i = 0; i < Tile::kBlockN / 2; ++i) values[i] += early.of_row[i / 2 % 2];
    } else if (IsTransposed<Tile>(gemm)) {
      add(std::true_type(), c.bias, 1, 0, 1);
    } else {
      add(std::true_type(), c.bias, 0, 1, 1);
    }
  }
  if (c.activation == Activation::kRelu) {
#pragma unroll
    for (float& value : values) value = FastActivate(Activation::kRelu, value);
  } else if (c.activation == Activation::kGelu) {
#pragma unroll
    for (float& value : values) value = FastActivate(Activation::kGelu, value);
  } else if (c.activation == Activation::kGeluErf) {
#pragma unroll
    for (float& value : values) value = FastActivate(Activation::kGeluErf, value);
  }
}

// Finishes sums, and stores them. `gemm` has an alpha of 1 and a beta of 0.
struct FinishesSums {
  const TensorFinish& finish;

  template <typename Tile>
  __device__ EarlyBias Load(const TensorGemm& gemm, int thread, int row) const {
    EarlyBias early;
    if constexpr (Tile::kTurned) {
      if (finish.c.bias != nullptr) {
        const auto* const bias = static_cast<const typename Tile::Out*>(finish.c.bias);
        const int first = row + TensorRow<Tile>(thread);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          early.of_row[i] = static_cast<float>(bias[min(first + i * 8, gemm.m - 1)]);
        }
      }
    }
    return early;
  }

  template <typename Tile>
  __device__ void operator()(const CUtensorMap& c, const TensorGemm& gemm,
                             const TensorShared<Tile>& shared, int consumer, int thread, int row,
                             int col, int batch,
                             const typename Tile::Accumulator (&d)[Tile::kBlockN / 2],
                             const EarlyBias& early) const {
    using Finished = FinishedTile<Tile>;
    static_assert(Tile::kBlockN % Finished::kBlockN == 0);
#pragma unroll
    for (int part = 0; part < Tile::kBlockN; part += Finished::kBlockN) {
      float values[Finished::kBlockN / 2];
      FinishSums<Finished>(finish, gemm, thread, row, col + part, batch, d + part / 2, early,
                           values);
      StoresSums()(c, gemm, TensorShared<Finished>(shared.Base()), consumer, thread, row,
                   col + part, batch, values);
    }
  }
};

template <typename Tile>
__global__ void __launch_bounds__(Tile::kThreads, 1)
    TensorProductFinished(const __grid_constant__ CUtensorMap a,
                          const __grid_constant__ CUtensorMap b,
                          const __grid_constant__ CUtensorMap c,
                          const __grid_constant__ TensorGemm gemm,
                          const __grid_constant__ TensorFinish finish) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  MultiplyTensors<Tile, /*kAdds=*/false>(a, b, c, gemm, FinishesSums{finish});
#endif
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_FINISH_H_
