// An operand of 16-bit elements with any alignment and leading dimension.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_GENERAL_OPERAND_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_GENERAL_OPERAND_H_

#include <cstdint>

#include "matmul/args.h"

namespace stridewise {

// An operand as it is stored: in lines along k where it is K-major, and along m or n where not.
struct GeneralOperand {
  const uint16_t* data;
  int64_t ld;
  int64_t mn;  // Its extent along m or n.
  int64_t stride;
  bool k_major;
};

inline GeneralOperand GeneralOperandA(const MatMulArgs& args) {
  return {static_cast<const uint16_t*>(args.a.data), args.a.ld, args.m, args.a.stride,
          !args.a.transposed};
}
inline GeneralOperand GeneralOperandB(const MatMulArgs& args) {
  return {static_cast<const uint16_t*>(args.b.data), args.b.ld, args.n, args.b.stride,
          args.b.transposed};
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_GENERAL_OPERAND_H_
