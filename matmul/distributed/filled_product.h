// A rank's part of a product that tests fill.

#ifndef STRIDEWISE_MATMUL_DISTRIBUTED_FILLED_PRODUCT_H_
#define STRIDEWISE_MATMUL_DISTRIBUTED_FILLED_PRODUCT_H_

#include <cmath>
#include <cstdint>
#include <ostream>

#include "common/distributed/block_cyclic.h"
#include "matmul/distributed/filled_part.h"
#include "matmul/distributed/summa.h"

namespace stridewise {

struct SummaCase {
  int64_t m, n, k;
  int64_t m_block, n_block, k_block;
  RankGrid grid;
  double alpha = 1;
  double beta = 0;
};

inline std::ostream& operator<<(std::ostream& stream, const SummaCase& c) {
  return stream << c.m << "x" << c.n << "x" << c.k << " on " << c.grid.rows << "x" << c.grid.cols;
}

// A, B and C are filled by `seed` and the two behind it. C is NaN where beta is 0, as it is not
// read then.
template <typename T, typename Out = T>
struct FilledProduct {
  FilledProduct(const SummaCase& c, int rank, uint64_t seed)
      : a_layout(*BlockCyclicLayout::Create(c.m, c.k, c.m_block, c.k_block, c.grid)),
        b_layout(*BlockCyclicLayout::Create(c.k, c.n, c.k_block, c.n_block, c.grid)),
        c_layout(*BlockCyclicLayout::Create(c.m, c.n, c.m_block, c.n_block, c.grid)),
        a(a_layout, rank, seed),
        b(b_layout, rank, seed + 1),
        before(c_layout, rank, seed + 2),
        after(c_layout, rank, seed + 2),
        problem{a_layout, b_layout, c_layout, a.view, b.view, after.view, c.alpha, c.beta} {
    if (c.beta == 0) after.values.assign(after.values.size(), NAN);
  }
  FilledProduct(const FilledProduct&) = delete;
  FilledProduct& operator=(const FilledProduct&) = delete;

  const BlockCyclicLayout a_layout, b_layout, c_layout;
  const FilledPart<T> a, b;
  const FilledPart<Out> before;
  FilledPart<Out> after;
  SummaProblem<T, Out> problem;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DISTRIBUTED_FILLED_PRODUCT_H_
