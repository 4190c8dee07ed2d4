// What every implementation is tested with: shapes, and for those that take it the general form.

#ifndef STRIDEWISE_MATMUL_TEST_MATMUL_CASES_H_
#define STRIDEWISE_MATMUL_TEST_MATMUL_CASES_H_

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <vector>

#include "common/base/case_random.h"
#include "matmul/registry.h"
#include "matmul/test/hard_operands.h"

namespace stridewise {

struct MatMulCase {
  int64_t m, n, k;
  int64_t pad;  // Added to lda; twice to ldb; three times to ldc.

  bool transpose_a = false;
  bool transpose_b = false;
  double alpha = 1;
  double beta = 0;
  int64_t batch = 1;
  int64_t gap = 0;     // Elements between matrices of A; twice as many of B; three times of C.
  bool one_a = false;  // A stride of 0: all use the same.
  bool one_b = false;
  int64_t offset_a = 0;  // Elements from an aligned address to the first.
  int64_t offset_b = 0;
  int64_t offset_c = 0;

  MatMulPrecision precision = MatMulPrecision::kFp32;
  bool bias = false;
  Activation activation = Activation::kNone;
  Operands operands = Operands::kUniform;
};

inline std::ostream& operator<<(std::ostream& out, const MatMulCase& c) {
  out << c.m << "x" << c.n << "x" << c.k << " pad " << c.pad;
  if (c.transpose_a) out << ", A transposed";
  if (c.transpose_b) out << ", B transposed";
  if (c.alpha != 1) out << ", alpha " << c.alpha;
  if (c.beta != 0) out << ", beta " << c.beta;
  if (c.batch != 1) out << ", batch of " << c.batch << " with gaps of " << c.gap;
  if (c.one_a) out << ", one A";
  if (c.one_b) out << ", one B";
  if (c.offset_a != 0 || c.offset_b != 0 || c.offset_c != 0) {
    out << ", offsets " << c.offset_a << ", " << c.offset_b << " and " << c.offset_c;
  }
  if (c.precision != MatMulPrecision::kFp32) out << ", in " << PrecisionName(c.precision);
  if (c.bias) out << ", with a bias";
  if (c.activation != Activation::kNone) {
    out << (c.activation == Activation::kRelu   ? ", ReLU"
            : c.activation == Activation::kGelu ? ", GELU"
                                                : ", GELU by erf");
  }
  if (c.operands != Operands::kUniform) out << ", operands: " << OperandsName(c.operands);
  return out;
}

// Empty, one, primes, tile and tile +- 1, skinny, tall, deep. With `all` each shape has every
// padding, else one in turn; a shape whose rows are made of vectors also has none. Without `all`
// long shapes are shorter: 520 rows are more than one round of the tiles of `stream_k` on the
// executor's device, and k = 577 has 37 steps of 16, of which more than 16 blocks get two each.
inline std::vector<MatMulCase> MatMulCases(bool all = IsExhaustive()) {
  const int64_t wide = all ? 1000 : 520;
  const int64_t deep = all ? 1009 : 577;
  const int64_t deep_row = all ? 1100 : 260;
  const int64_t shapes[][3] = {
      {0, 5, 3},      {5, 0, 3},      {5, 3, 0},         {0, 0, 0},       {1, 1, 1},
      {1, 1, 257},    {2, 3, 5},      {7, 5, 3},         {15, 16, 17},    {31, 32, 33},
      {33, 31, 32},   {32, 33, 31},   {32, 32, 32},      {64, 64, 64},    {61, 67, 71},
      {1, wide, 33},  {wide, 1, 33},  {97, 89, 1},       {127, 129, 128}, {5, 7, deep},
      {137, 131, 15}, {128, 96, 160}, {131, 137, 61},    {16, 16, 16},    {9, 12, 16},
      {8, 7, 8},      {72, 1, 515},   {1, 40, deep_row},
  };
  constexpr int64_t kPads[] = {0, 1, 7};
  std::vector<MatMulCase> cases;
  size_t turn = 0;
  for (const auto& s : shapes) {
    const bool vectors = s[1] % 4 == 0 && s[2] % 4 == 0;
    for (const int64_t pad : kPads) {
      if (all || pad == kPads[turn % 3] || (vectors && pad == 0)) {
        cases.push_back({s[0], s[1], s[2], pad});
      }
    }
    ++turn;
  }
  return cases;
}

// Every op(A) and op(B), alpha and beta, in batches: none, one, some; side by side, with gaps that
// keep every matrix on another alignment, with one A or one B for all. With `all` every shape is
// run in each of the 108 forms. Else 59 cases are left, which have every pair of two of these:
// shape, ops, alpha, beta, batch, layout.
inline std::vector<MatMulCase> GeneralMatMulCases(bool all = IsExhaustive()) {
  std::vector<MatMulCase> cases;
  const int64_t shapes[][3] = {{1, 1, 1},    {7, 5, 3},   {5, 3, 0},   {32, 32, 32},
                               {33, 31, 40}, {1, 70, 19}, {70, 1, 19}, {3, 5, 130},
                               {16, 64, 8},  {0, 5, 3},   {5, 0, 3},   {37, 41, 1}};
  const struct {
    int64_t pad, gap;
    bool one_a, one_b;
  } layouts[] = {
      {0, 0, false, false}, {1, 1, false, false}, {3, 5, true, false}, {4, 0, false, true}};
  size_t layout = 0;  // In turn: 4 x 3 x 3 x 3 forms of 12 shapes are enough.
  const int64_t step = all ? 1 : 22;
  int64_t number = 0;
  for (const auto& s : shapes) {
    for (const int ops : {0, 1, 2, 3}) {
      for (const double alpha : {1.0, 0.0, -0.5}) {
        for (const double beta : {0.0, 1.0, 2.0}) {
          for (const int64_t batch : {0, 1, 3}) {
            if (number++ % step != 0) continue;
            const auto& l = layouts[layout++ % 4];
            cases.push_back({s[0], s[1], s[2], l.pad, (ops & 1) != 0, (ops & 2) != 0, alpha, beta,
                             batch, l.gap, l.one_a, l.one_b});
          }
        }
      }
    }
  }
  // Stages of up to 128 k that are copied while others are multiplied, within C and at its edges:
  // by 4 bytes both operands, and by 16 what is not stored along k.
  for (const int ops : {0, 1, 2, 3}) {
    cases.push_back({70, 37, 530, 1, (ops & 1) != 0, (ops & 2) != 0, 1, 0, 1});
    if (ops == 0 || ops == 3) cases.push_back({68, 36, 528, 0, ops != 0, ops != 0, 1, 0, 1});
  }
  return cases;
}

// No vector begins where these do; the second is made of whole vectors otherwise. Without `all`
// each combination of ops and offsets has one of the two shapes.
inline std::vector<MatMulCase> OffsetMatMulCases(bool all = IsExhaustive()) {
  std::vector<MatMulCase> cases;
  int64_t number = 0;
  for (MatMulCase c : {MatMulCase{33, 31, 40, 0}, MatMulCase{64, 64, 64, 0}}) {
    ++number;
    for (const int ops : {0, 1, 2, 3}) {
      ++number;
      c.transpose_a = (ops & 1) != 0;
      c.transpose_b = (ops & 2) != 0;
      for (const int where : {1, 2, 4, 7}) {
        if (number++ % 2 != 0 && !all) continue;
        c.offset_a = where & 1;
        c.offset_b = where & 2;
        c.offset_c = (where & 4) != 0 ? 3 : 0;
        cases.push_back(c);
      }
    }
  }
  return cases;
}

// Returns the cases in another precision.
inline std::vector<MatMulCase> InPrecision(std::vector<MatMulCase> cases,
                                           MatMulPrecision precision) {
  for (MatMulCase& c : cases) c.precision = precision;
  return cases;
}

// Every epilogue, with tiles that are cut on all sides, k = 0, beta, and batches.
inline std::vector<MatMulCase> EpilogueMatMulCases() {
  std::vector<MatMulCase> cases;
  for (const bool bias : {false, true}) {
    for (const Activation activation :
         {Activation::kNone, Activation::kRelu, Activation::kGelu, Activation::kGeluErf}) {
      for (const double beta : {0.0, 2.0}) {
        for (MatMulCase c :
             {MatMulCase{1, 1, 1, 0}, MatMulCase{33, 31, 40, 1}, MatMulCase{5, 7, 0, 0},
              MatMulCase{136, 264, 72, 0}, MatMulCase{300, 520, 200, 0}}) {
          c.alpha = beta == 0 ? 1 : -0.5;
          c.beta = beta;
          c.batch = c.m == 33 ? 3 : 1;
          c.bias = bias;
          c.activation = activation;
          cases.push_back(c);
        }
      }
    }
  }
  return cases;
}

// One row or column of C and an operand whose rows begin at every alignment, of one tile of columns
// of `matvec` and of several, of one round of its k and of several, in batches on other alignments.
inline std::vector<MatMulCase> MatVecCases() {
  std::vector<MatMulCase> cases;
  for (const int64_t cols : {33, 61, 62, 123}) {
    for (const int64_t k : {65, 130, 517}) {
      const int64_t pad = (cols + k) % 3;
      MatMulCase row = {1, cols, k, pad};
      MatMulCase col = {cols, 1, k, pad, /*transpose_a=*/true};
      row.batch = col.batch = k == 130 ? 3 : 1;
      row.gap = col.gap = cols % 4;
      row.beta = k == 517 ? 0.5 : 0;
      cases.push_back(row);
      cases.push_back(col);
    }
  }
  return cases;
}

// Returns the cases that every entry is tested with in FP32, or in its own types. Without `all`
// `matvec`, which `auto` runs for one row or column alone, has no product of a million
// multiply-adds: it reads a whole operand for each row of the other.
inline std::vector<MatMulCase> MatMulCasesFor(const MatMulImplementation& implementation,
                                              bool all = IsExhaustive()) {
  std::vector<MatMulCase> cases = MatMulCases(all);
  for (const MatMulCase& c : OffsetMatMulCases(all)) {
    if (implementation.general || (!c.transpose_a && !c.transpose_b)) cases.push_back(c);
  }
  if (!all && implementation.name == "matvec") {
    cases.erase(std::remove_if(cases.begin(), cases.end(),
                               [](const MatMulCase& c) { return c.m * c.n * c.k > 1000000; }),
                cases.end());
  }
  if (implementation.name == "matvec") {
    const std::vector<MatMulCase> vectors = MatVecCases();
    cases.insert(cases.end(), vectors.begin(), vectors.end());
  }
  if (!implementation.general) return cases;
  const std::vector<MatMulCase> general = GeneralMatMulCases(all);
  cases.insert(cases.end(), general.begin(), general.end());
  return cases;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TEST_MATMUL_CASES_H_
