// Operands that the TMA cannot bring as they should lie in shared memory, term by term, are copied
// to the workspace first: turned, where neighbours in memory are terms of one line, or with rows
// that are multiples of 16 bytes apart.
//
// That takes 8 bytes of traffic an element, 1.3 % of the time of a product of 4096^3 for each
// operand, and saves each multiprocessor from doing it for each tile.

#ifndef STRIDEWISE_MATMUL_DEVICE_PACKING_H_
#define STRIDEWISE_MATMUL_DEVICE_PACKING_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "absl/status/status.h"
#include "common/base/matrix.h"
#include "common/gpu/cuda_status.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/device/block_tile.h"
#include "matmul/device/tensor_map.h"
#include "transpose/transpose.h"

namespace stridewise {

class Packing {
 public:
  // Of an operand as it is stored: a row for each line where `along_terms`, or for each term.
  Packing(const ConstMatrix<float>& stored, bool along_terms)
      : stored_(stored), turn_(along_terms), needed_(along_terms || !HasTensorMap(stored)) {}

  // Of workspace, a multiple of 16.
  int64_t Bytes() const {
    return needed_ ? Terms() * PackedLd() * static_cast<int64_t>(sizeof(float)) : 0;
  }
  // To be moved.
  double Elements() const {
    return needed_ ? static_cast<double>(Terms()) * static_cast<double>(Lines()) : 0;
  }

  // The operand with a row for each term: packed in `workspace`, which has Bytes(), or as it is.
  ConstMatrix<float> Packed(const void* workspace) const {
    if (!needed_) return stored_;
    return {static_cast<const float*>(workspace), Terms(), Lines(), PackedLd()};
  }

  // Queues what makes Packed() true.
  absl::Status Launch(void* workspace, cudaStream_t stream) const {
    if (!needed_) return absl::OkStatus();
    if (turn_) {
      return Transpose(MatrixView{stored_.data, stored_.rows, stored_.cols, stored_.ld},
                       MutableMatrixView{workspace, Terms(), Lines(), PackedLd()}, stream);
    }
    return CUDA_STATUS(
        cudaMemcpy2DAsync(workspace, static_cast<size_t>(PackedLd()) * sizeof(float), stored_.data,
                          static_cast<size_t>(stored_.ld) * sizeof(float),
                          static_cast<size_t>(Lines()) * sizeof(float),
                          static_cast<size_t>(Terms()), cudaMemcpyDeviceToDevice, stream));
  }

 private:
  int64_t Lines() const { return turn_ ? stored_.rows : stored_.cols; }
  int64_t Terms() const { return turn_ ? stored_.cols : stored_.rows; }
  int64_t PackedLd() const { return CeilDiv(Lines(), kVector) * kVector; }

  ConstMatrix<float> stored_;
  bool turn_;
  bool needed_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_PACKING_H_
