// Copies to the workspace an operand that the TMA cannot load as it is needed in shared memory:
// transposed where a kernel needs the other layout, or else with rows that are multiples of 16
// bytes apart. A batch of operands is packed in one launch.
//
// That takes 8 bytes of traffic an element, 1.3 % of the time of a product of 4096^3 for each
// operand, and saves each multiprocessor from doing it for each tile.

#ifndef STRIDEWISE_MATMUL_DEVICE_OPERAND_PACKING_H_
#define STRIDEWISE_MATMUL_DEVICE_OPERAND_PACKING_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "absl/status/status.h"
#include "common/base/matrix.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/device/tensor_map.h"
#include "matmul/device/vector_access.h"

#ifndef STRIDEWISE_HOST_EXECUTOR
#include "transpose/permute.h"
#include "transpose/transpose.h"
#endif

namespace stridewise {

template <typename T>
class OperandPacking {
 public:
  // `stored` is the operand as it lies in memory.
  OperandPacking(const ConstMatrix<T>& stored, const MatrixCount& matrices, bool transposes)
      : stored_(stored),
        matrices_(matrices),
        transposes_(transposes),
        needed_(transposes || !HasTensorMap(stored, matrices)) {}

  // Returns whether it can be done in one launch: a copy needs matrices that are whole rows apart.
  // The host executor has no copies here: there an operand that needs one is for other kernels.
  bool IsOneLaunch() const {
#ifdef STRIDEWISE_HOST_EXECUTOR
    return !needed_;
#else
    return !needed_ || transposes_ || matrices_.count == 1 || matrices_.stride % stored_.ld == 0;
#endif
  }

  // Returns the workspace that it needs, a multiple of 16 bytes.
  int64_t Bytes() const {
    return needed_ ? matrices_.count * PackedElements() * static_cast<int64_t>(sizeof(T)) : 0;
  }

  // Returns the number of elements to be moved.
  double Elements() const {
    return needed_ ? static_cast<double>(matrices_.count) * static_cast<double>(Rows()) *
                         static_cast<double>(Cols())
                   : 0;
  }

  // Returns the operand as it is needed: in `workspace`, which has Bytes(), or as it is.
  ConstMatrix<T> Packed(const void* workspace) const {
    if (!needed_) return stored_;
    return {static_cast<const T*>(workspace), Rows(), Cols(), PackedLd()};
  }

  // Returns the number of matrices in Packed(), and how far they are apart.
  MatrixCount PackedMatrices() const {
    return needed_ ? MatrixCount(matrices_.count, PackedElements()) : matrices_;
  }

  // Queues the copy to Packed(). REQUIRES: IsOneLaunch().
  absl::Status Launch([[maybe_unused]] void* workspace,
                      [[maybe_unused]] cudaStream_t stream) const {
#ifndef STRIDEWISE_HOST_EXECUTOR
    if (!needed_) return absl::OkStatus();
    if (transposes_) {
      return Transpose(MatrixView{stored_.data, stored_.rows, stored_.cols, stored_.ld, sizeof(T),
                                  matrices_.count, matrices_.stride},
                       MutableMatrixView{workspace, Rows(), Cols(), PackedLd(), sizeof(T),
                                         matrices_.count, PackedElements()},
                       stream);
    }
    PermuteProblem copy;
    copy.rank = 3;
    copy.extents = {matrices_.count, Rows(), Cols()};
    copy.order = {0, 1, 2};
    copy.element_bytes = sizeof(T);
    copy.in = stored_.data;
    copy.out = workspace;
    copy.strides_in = {matrices_.stride, stored_.ld, 1};
    copy.strides_out = {PackedElements(), PackedLd(), 1};
    return Permute(copy, stream);
#else
    return absl::OkStatus();
#endif
  }

 private:
  int64_t Cols() const { return transposes_ ? stored_.rows : stored_.cols; }
  int64_t Rows() const { return transposes_ ? stored_.cols : stored_.rows; }
  int64_t PackedLd() const {
    constexpr int64_t kElements = kVectorBytes / static_cast<int64_t>(sizeof(T));
    return CeilDiv(Cols(), kElements) * kElements;
  }
  int64_t PackedElements() const { return Rows() * PackedLd(); }

  ConstMatrix<T> stored_;
  MatrixCount matrices_;
  bool transposes_;
  bool needed_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_OPERAND_PACKING_H_
