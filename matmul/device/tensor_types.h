// Calls of the kernel in tensor_kernel.h with operands that the TMA cannot address, or that lie
// otherwise than the instructions of their type need, copied to the workspace first: all but those
// of 16 bits need K-major operands.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_TYPES_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_TYPES_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "common/base/status_macros.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/operand_packing.h"
#include "matmul/device/tensor/output.h"
#include "matmul/device/tensor_launch.h"

namespace stridewise {

// What a tile of C, or of C transposed, multiplies.
template <typename Element>
struct TileOperands {
  TensorOperand<Element> a;
  TensorOperand<Element> b;
};

// The operands of a call, and the copies that they need.
template <typename Element>
struct TensorOperands {
  static constexpr bool kIs16Bit = sizeof(Element) == 2;
  static constexpr bool kIsTf32 = std::is_same_v<Element, float>;

  explicit TensorOperands(const MatMulArgs& args)
      : turns_a(args.a.transposed && (kIsTf32 ? TurnsA(args) : !kIs16Bit)),
        turns_b(!args.b.transposed && (kIsTf32 ? TurnsB(args) : !kIs16Bit)),
        a(args.A<Element>(), MatrixCount(args.batch, args.a.stride), turns_a),
        b(args.B<Element>(), MatrixCount(args.batch, args.b.stride), turns_b) {}

  int64_t WorkspaceBytes() const { return a.Bytes() + b.Bytes(); }

  // Queues the copies. REQUIRES: a workspace for them.
  LaunchStatus LaunchCopies(const MatMulArgs& args) const {
    auto* const packed_a = static_cast<char*>(args.workspace);
    RETURN_IF_ERROR(a.Launch(packed_a, args.stream));
    return b.Launch(packed_a + a.Bytes(), args.stream);
  }

  // Returns what a product reads once the copies are made: of C^T = B^T * A^T A is B.
  TileOperands<Element> OfTile(const MatMulArgs& args, bool c_transposed) const {
    auto* const packed_a = static_cast<char*>(args.workspace);
    const TensorOperand<Element> of_a = {a.Packed(packed_a), a.PackedMatrices()};
    const TensorOperand<Element> of_b = {b.Packed(packed_a + a.Bytes()), b.PackedMatrices()};
    return c_transposed ? TileOperands<Element>{of_b, of_a} : TileOperands<Element>{of_a, of_b};
  }

  // Of TF32 one operand may be MN-major (tensor_registers.h): of two the smaller is turned.
  static bool TurnsA(const MatMulArgs& args) { return !args.b.transposed && args.m < args.n; }
  static bool TurnsB(const MatMulArgs& args) { return args.a.transposed && args.m >= args.n; }

  bool turns_a, turns_b;
  OperandPacking<Element> a, b;
};

// Returns whether the call is one for the kernel, with a workspace for the operands' copies.
template <typename Element>
bool TakesCopies(const MatMulArgs& args, const DeviceModel& device,
                 const TensorOperands<Element>& operands) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  return device.compute_capability == 90 && args.m > 0 && args.n > 0 && args.batch > 0 &&
         args.k > 0 && static_cast<float>(args.alpha) != 0 && args.m <= kMost && args.n <= kMost &&
         args.batch <= kMost && CeilDiv(args.m, 128) * CeilDiv(args.n, 128) <= kMost / args.batch &&
         operands.a.IsOneLaunch() && operands.b.IsOneLaunch();
}

// Returns the workspace of a call, 0 where the kernel does not take it.
template <typename Element>
int64_t CopiesWorkspaceBytes(const MatMulArgs& args) {
  const TensorOperands<Element> operands(args);
  return TakesCopies(args, DeviceOf(args), operands) ? operands.WorkspaceBytes() : 0;
}

// Returns whether C is stored by the TMA, as tiles need that have no other way.
template <typename Out>
bool StoresByTma(const MatMulArgs& args) {
  const ConstMatrix<Out> c = args.C<Out>();
  return args.beta == 0 && HasStoreMap(c, MatrixCount(args.batch, args.c.stride));
}

// Queues the operands' copies and the product. `scales` has the factors of FP8 operands. Where
// `c_transposed`, the product is that of C^T = B^T * A^T, and the tile's A is B. `finish` is as in
// LaunchTensorProduct().
template <typename Tile, typename... Finish>
LaunchStatus LaunchTensor(const MatMulArgs& args, const DeviceModel& device,
                          const TensorOperands<typename Tile::Element>& operands,
                          const TensorScales& scales, bool c_transposed, const Finish&... finish) {
  using Element = typename Tile::Element;
  RETURN_IF_ERROR(operands.LaunchCopies(args));
  const TileOperands<Element> of_tile = operands.OfTile(args, c_transposed);
  TensorGemm gemm = TensorGemmOf<Tile>(args, of_tile.a.matrices.count > 1,
                                       of_tile.b.matrices.count > 1, c_transposed);
  gemm.scales = scales;
  return LaunchTensorProduct<Tile>(args, gemm, PersistentGrid<Tile>(gemm, device), of_tile.a,
                                   of_tile.b, finish...);
}

// A call with an epilogue as kernels of tensor_finish.h take it: the product itself, and what is
// done to its sums.
struct FinishedCall {
  MatMulArgs product;   // With an alpha of 1 and a beta of 0.
  TensorScales scales;  // Of blocks, if any.
  TensorFinish finish;

  explicit FinishedCall(const MatMulArgs& args) : product(args), finish({OutputOf(args), {}}) {
    product.alpha = 1;
    product.beta = 0;
    const TensorScales all = ScalesOf(args);
    (all.blocks_of_k > 0 ? scales : finish.scales) = all;
  }
};

// Returns the time of the product with tiles of these columns, in columns of a round: a tile costs
// some 64 more for its first loads and its store, and `cost` for each of its own.
inline double RoundsTime(const MatMulArgs& args, const DeviceModel& device, int cols, double cost) {
  const int64_t clusters = std::max(1, device.multiprocessors / 2);
  const int64_t tiles = CeilDiv(args.m, 256) * CeilDiv(args.n, cols) * args.batch;
  return static_cast<double>(CeilDiv(tiles, clusters)) * (cols * cost + 64);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_TYPES_H_
