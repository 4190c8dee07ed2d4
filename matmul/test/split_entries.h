// The entries that multiply floats as sums of narrower numbers, with the operands of split_cases.h:
// how far from the product each may be, on a GPU and on the host executor.

#ifndef STRIDEWISE_MATMUL_TEST_SPLIT_ENTRIES_H_
#define STRIDEWISE_MATMUL_TEST_SPLIT_ENTRIES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "matmul/operands.h"
#include "matmul/test/split_cases.h"
#include "matmul/test/split_errors.h"

namespace stridewise {

// An entry of the registry, and operands for it.
struct SplitEntryCase {
  std::string entry;
  SplitCase split_case;

  bool IsMedium() const { return entry == "split_fp8"; }
  MatMulPrecision Precision() const {
    return IsMedium() ? MatMulPrecision::kFp32Medium : MatMulPrecision::kFp32Split;
  }
  // Of an element's error, in roundoffs of FP32 times the sum of absolute products.
  double Bound() const {
    const auto k = static_cast<double>(split_case.k);
    return k + 2 + (IsMedium() ? kRoundoffsOfFp8 : 0);
  }
  // Of ||C - R||_F / ||R||_F.
  double Limit() const {
    if (entry == "split_fp16") return split_case.pair_limit;
    if (entry == "split_fused") return split_case.FusedLimit();
    if (entry == "split_tf32") return split_case.Tf32Limit();
    if (IsMedium()) return split_case.fp8_limit;
    if (entry == "split_flat") return std::min(split_case.pair_limit, split_case.slice_limit);
    return entry == "split_int8" ? split_case.slice_limit : split_case.triple_limit;
  }
};

// Returns an entry with the operands of all cases.
inline std::vector<SplitEntryCase> SplitCasesOf(const std::string& entry) {
  std::vector<SplitEntryCase> cases;
  for (const SplitCase& split_case : SplitCases()) cases.push_back({entry, split_case});
  return cases;
}

inline std::vector<SplitEntryCase> SplitEntryCases() {
  std::vector<SplitEntryCase> cases;
  for (const char* entry : {"split_fp16", "split_fused", "split_bf16_6", "split_bf16_9",
                            "split_tf32", "split_int8", "split_flat", "split_fp8"}) {
    const std::vector<SplitEntryCase> of_entry = SplitCasesOf(entry);
    cases.insert(cases.end(), of_entry.begin(), of_entry.end());
  }
  return cases;
}

inline std::string NameOfSplitEntryCase(const testing::TestParamInfo<SplitEntryCase>& info) {
  return info.param.entry + "_" + info.param.split_case.name;
}

// A product in FP64, and the sums of absolute products, both row-major.
struct SplitReference {
  std::vector<double> r, s;
};
inline SplitReference ReferenceOf(const SplitOperandsOfCase& of, int64_t rows, int64_t cols) {
  SplitReference reference;
  const std::vector<std::vector<float>> rows_of_a = RowsOfA(of, rows),
                                        cols_of_b = ColsOfB(of, cols);
  for (const std::vector<float>& row : rows_of_a) {
    for (const std::vector<float>& col : cols_of_b) {
      const SplitDots dots = DotsOf(row, col);
      reference.r.push_back(dots.r);
      reference.s.push_back(dots.s);
    }
  }
  return reference;
}

// Returns OK if each element of `c`, which begins a matrix without gaps, keeps `bound` and all of
// it `limit`.
inline absl::Status CheckSplit(const float* c, const SplitReference& reference, double bound,
                               double limit) {
  SplitErrors errors(bound);
  for (size_t i = 0; i < reference.r.size(); ++i) {
    if (!errors.Add(c[i], reference.r[i], reference.s[i])) {
      return absl::DataLossError(absl::StrCat("element ", i, " is ", c[i], " instead of ",
                                              reference.r[i], ": ", errors.of_bound(),
                                              " times the error that is allowed"));
    }
  }
  return errors.relative() <= limit
             ? absl::OkStatus()
             : absl::DataLossError(absl::StrCat("the relative error is ", errors.relative(),
                                                ", allowed is ", limit));
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TEST_SPLIT_ENTRIES_H_
