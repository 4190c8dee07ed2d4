// A permutation for tests: the problem, its reference by nested loops, and the check of every byte
// of `out`, in the gaps between its elements and around it.

#ifndef STRIDEWISE_TRANSPOSE_TEST_PERMUTE_TEST_PROBLEM_H_
#define STRIDEWISE_TRANSPOSE_TEST_PERMUTE_TEST_PROBLEM_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/case_random.h"
#include "common/verify/fill.h"
#include "transpose/permute.h"

namespace stridewise {

struct PermuteCase {
  std::vector<int64_t> extents;
  std::vector<int64_t> order;
  int64_t element_bytes = 4;
  // Elements to add to the stride that each dimension would have without gaps; empty for none.
  std::vector<int64_t> pads_in{};
  std::vector<int64_t> pads_out{};  // In the order of `out`.
  int64_t offset_in = 0;            // Elements before the first.
  int64_t offset_out = 0;
};

inline std::ostream& operator<<(std::ostream& os, const PermuteCase& c) {
  return os << absl::StrJoin(c.extents, "x") << " to " << absl::StrJoin(c.order, ",") << " of "
            << c.element_bytes << " bytes, pads " << absl::StrJoin(c.pads_in, ",") << " and "
            << absl::StrJoin(c.pads_out, ",") << ", offsets " << c.offset_in << " and "
            << c.offset_out;
}

class PermuteTestProblem {
 public:
  explicit PermuteTestProblem(const PermuteCase& c) : case_(c) {
    problem_.rank = static_cast<int64_t>(c.extents.size());
    problem_.element_bytes = c.element_bytes;
    std::copy(c.extents.begin(), c.extents.end(), problem_.extents.begin());
    std::copy(c.order.begin(), c.order.end(), problem_.order.begin());
    std::vector<int64_t> extents_out;
    for (const int64_t from : c.order) extents_out.push_back(c.extents[from]);
    const int64_t in_elements = SetStrides(c.extents, c.pads_in, problem_.strides_in.data());
    const int64_t out_elements = SetStrides(extents_out, c.pads_out, problem_.strides_out.data());
    in_.resize(static_cast<size_t>((c.offset_in + in_elements) * c.element_bytes));
    out_.resize(static_cast<size_t>((c.offset_out + out_elements + kGuard) * c.element_bytes));
    for (size_t i = 0; i < in_.size(); ++i) in_[i] = static_cast<uint8_t>(Mix64(i) >> 17);
    for (size_t i = 0; i < out_.size(); ++i) out_[i] = static_cast<uint8_t>(Mix64(~i) >> 23);
    expected_ = out_;
    MakeExpected(0, c.offset_in, c.offset_out);
  }

  std::vector<uint8_t>& in() { return in_; }
  std::vector<uint8_t>& out() { return out_; }

  // Returns the problem with `in` and `out` copied to this memory.
  PermuteProblem At(const void* in, void* out) const {
    PermuteProblem at = problem_;
    at.in = static_cast<const uint8_t*>(in) + case_.offset_in * case_.element_bytes;
    at.out = static_cast<uint8_t*>(out) + case_.offset_out * case_.element_bytes;
    return at;
  }

  absl::Status Check() const {
    const auto wrong = std::mismatch(out_.begin(), out_.end(), expected_.begin());
    if (wrong.first == out_.end()) return absl::OkStatus();
    return absl::DataLossError(absl::StrCat("byte ", wrong.first - out_.begin(), " of ",
                                            out_.size(), " is ", *wrong.first, " and not ",
                                            *wrong.second));
  }

 private:
  static constexpr int64_t kGuard = 64;  // Elements behind the last.

  static int64_t SetStrides(const std::vector<int64_t>& extents, const std::vector<int64_t>& pads,
                            int64_t* strides) {
    int64_t stride = 1;
    int64_t last = 0;
    for (size_t i = extents.size(); i-- > 0;) {
      stride += pads.empty() ? 0 : pads[i];
      strides[i] = stride;
      last += std::max<int64_t>(extents[i] - 1, 0) * stride;
      stride *= std::max<int64_t>(extents[i], 1);
    }
    return last + 1;
  }

  // Copies the elements whose first `depth` indices of `out` are those of the offsets.
  void MakeExpected(size_t depth, int64_t in, int64_t out) {
    if (depth == case_.order.size()) {
      std::memcpy(&expected_[static_cast<size_t>(out * case_.element_bytes)],
                  &in_[static_cast<size_t>(in * case_.element_bytes)],
                  static_cast<size_t>(case_.element_bytes));
      return;
    }
    const auto from = static_cast<size_t>(case_.order[depth]);
    for (int64_t i = 0; i < case_.extents[from]; ++i) {
      MakeExpected(depth + 1, in + i * problem_.strides_in[from],
                   out + i * problem_.strides_out[depth]);
    }
  }

  PermuteCase case_;
  PermuteProblem problem_{};
  std::vector<uint8_t> in_;
  std::vector<uint8_t> out_;
  std::vector<uint8_t> expected_;
};

// Returns random case `number` of a seed, of at most `elements` elements.
inline PermuteCase RandomPermuteCase(uint64_t seed, int64_t number, int64_t elements) {
  CaseRandom random(seed, number);
  PermuteCase c;
  const int64_t rank = random.Between(1, kMaxPermuteRank);
  int64_t product = 1;
  const bool aligned = random.OneIn(4);
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t left = std::max<int64_t>(1, elements / product);
    const int64_t most = std::min(left, random.OneIn(3) ? left : random.OneIn(2) ? 40 : 5);
    int64_t extent = random.Between(1, most);
    if (aligned && extent >= 8) extent = extent / 8 * 8;
    product *= extent;
    c.extents.push_back(extent);
    c.order.insert(c.order.begin() + random.Between(0, i), i);
  }
  // A large extent anywhere.
  std::swap(c.extents[0], c.extents[random.Between(0, rank - 1)]);
  c.element_bytes = int64_t{1} << random.Between(0, 4);
  if (!random.OneIn(3)) return c;
  for (int64_t i = 0; i < rank; ++i) {
    c.pads_in.push_back(random.OneIn(3) ? random.Between(0, 9) * (aligned ? 8 : 1) : 0);
    c.pads_out.push_back(random.OneIn(3) ? random.Between(0, 9) * (aligned ? 8 : 1) : 0);
  }
  c.offset_in = random.Between(0, 17);
  c.offset_out = random.Between(0, 17);
  return c;
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_TEST_PERMUTE_TEST_PROBLEM_H_
