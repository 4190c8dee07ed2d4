// Whether kernels of tensor cores that a call allows, by its precision, are predicted to be faster
// than others that are at least as exact: the conditions of kernels.inc for what is not FP32.

#ifndef STRIDEWISE_MATMUL_TENSOR_CHOICE_H_
#define STRIDEWISE_MATMUL_TENSOR_CHOICE_H_

#include <cstdint>

#include "common/gpu/device_model.h"
#include "matmul/args.h"

namespace stridewise {

// What multiplies floats that may be rounded to TF32, BF16 or FP16.
struct RoundedChoice {
  const char* kernel = nullptr;  // Of the registry; null where FP32 is predicted to be faster.
  double us = 0;                 // As predicted for compute capability 9.0; 0 for others.
  int64_t workspace_bytes = 0;
};

// Returns the fastest of what the precision of a call allows, kTf32, kBf16 or kFp16, with at most
// its workspace.
RoundedChoice ChooseRounded(const MatMulArgs& args, const DeviceModel& device);

// Returns whether split_fp16 can run the call, and is predicted to be faster than split_fused and
// FP32.
bool SplitPays(const MatMulArgs& args);

// Returns whether split_flat is asked for, can run, and any split pays.
bool FlatPays(const MatMulArgs& args);

// Returns whether split_fp8 is asked for, can run, and is predicted to be faster than what is more
// exact.
bool MediumPays(const MatMulArgs& args);

// Returns whether tensor_rounded can round the operands, and is predicted to be faster than TF32
// and FP32.
bool RoundedPays(const MatMulArgs& args);

// Returns whether TF32 is asked for, or predicted to be faster than FP32 for a call that may be
// rounded to fewer bits.
bool Tf32Pays(const MatMulArgs& args);

// Returns the same of a call with so few rows or columns that TF32 has a kernel of its own.
bool FewTf32Pays(const MatMulArgs& args);

// Returns whether sums in FP16 are asked for, and are as fast as those in FP32: with the one tile
// that they have 4096 cubed takes .98 of the time of cuBLASLt's sums in FP32 on an H200, and 768 x
// 2304 x 8192, which is 27 of these tiles, 1.7 times it.
bool Fp16SumsPay(const MatMulArgs& args);

// Returns whether split_fused can run the call, and is predicted to be faster than FP32.
bool FusedPays(const MatMulArgs& args);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TENSOR_CHOICE_H_
