// Operands that are hard for tensor cores, from a seed: the same bits wherever they are made.

#ifndef STRIDEWISE_COMMON_EXECUTOR_TESTDATA_TENSOR_INPUTS_H_
#define STRIDEWISE_COMMON_EXECUTOR_TESTDATA_TENSOR_INPUTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/executor/testdata/tensor_kernels.h"

namespace stridewise::executor {

struct TensorPattern {
  const char* name;
  int steps;  // Instructions that add to the same sums.
};

inline constexpr TensorPattern kTensorPatterns[] = {
    {"near", 1},        // Exponents of operands differ by 3 at most.
    {"apart", 1},       // By 15 at most.
    {"any", 1},         // All finite bit patterns.
    {"powers", 1},      // Powers of two, so that every cut is at a bit that is set.
    {"cancelling", 1},  // Each product but one with the same one negated, beside a small old sum.
    {"subnormal", 1},   // Operands and old sums with the smallest exponents.
    {"largest", 1},     // Operands and old sums with the largest exponents.
    {"zeros", 1},       // Three quarters of the operands are zeros of both signs.
    {"special", 1},     // One operand of 32 is infinite or NaN, and one old sum of 16.
    {"chain", 8},       // "apart", of eight instructions.
};

// The sums of a row of h200_tensor_bits.csv, which has their hash.
inline constexpr int kTensorBitsSums = 4096;

// Returns the columns before the hash.
std::string TensorBitsName(const TensorKernel& kernel, const TensorPattern& pattern);

struct TensorInputs {
  std::vector<uint32_t> a, b, c;  // As in TensorOperands.
};

// Makes the operands of a row: of kTensorBitsSums / (m * n) products.
TensorInputs MakeTensorInputs(const TensorKernel& kernel, const TensorPattern& pattern);

// Returns the hashes of h200_tensor_bits.csv by the columns before them. They are a part of the
// program, because a GPU test is copied to another machine without its data.
std::map<std::string, std::string> TensorBitsHashes();

// Returns a hash of words, in order, as the CSV has it.
std::string HashOfWords(const std::vector<uint32_t>& words);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_TESTDATA_TENSOR_INPUTS_H_
