// What wgmma.mma_async computes: its forms, the registers of its operands, and its arithmetic. PTX
// ISA: "wgmma.mma_async". How threads come to it, and what they may do meanwhile, is not known
// here.

#ifndef STRIDEWISE_COMMON_EXECUTOR_PTX_WGMMA_H_
#define STRIDEWISE_COMMON_EXECUTOR_PTX_WGMMA_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "common/executor/ptx/tensor_core.h"

namespace stridewise::executor {

inline constexpr int kWarpgroupThreads = 128;
inline constexpr int kWgmmaRows = 64;
inline constexpr int kWgmmaWordsOfA = 4;  // Registers of A of a thread.

// Takes a name such as "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16" apart. Returns
// nothing for a form that is none, or that saturates, is sparse or multiplies single bits.
std::optional<TensorForm> FindWgmmaForm(absl::string_view name);

// Returns the registers of D that each thread has.
int WgmmaWordsOfD(const TensorForm& form);

// Put what thread `thread` of the warpgroup holds into a[row * k + i] and d[row * n + col], or take
// it from d. FP16 sums are two to a word.
void PutWgmmaA(const TensorForm& form, int thread, const uint32_t* words, uint32_t* a);
void PutWgmmaD(const TensorForm& form, int thread, const uint32_t* words, uint32_t* d);
void TakeWgmmaD(const TensorForm& form, int thread, const uint32_t* d, uint32_t* words);

// Operands of the instruction that are numbers.
struct WgmmaScales {
  bool accumulate = true;  // scale-d
  bool negate_a = false;   // imm-scale-a is -1.
  bool negate_b = false;
};

// Computes D = A * B + D, or D = A * B, of all rows at once: a[row * k + i], b[col * k + i] and
// d[row * n + col]. Changes the signs in a and b that the scales negate.
void MultiplyWarpgroup(const TensorForm& form, const WgmmaScales& scales, uint32_t* a, uint32_t* b,
                       uint32_t* d);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_PTX_WGMMA_H_
