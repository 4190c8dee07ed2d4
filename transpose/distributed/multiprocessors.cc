#include "transpose/distributed/device_exchange.h"
#include "transpose/distributed/pairs.h"

namespace stridewise {

int TransposeMultiprocessors(const BlockCyclicLayout& in_layout,
                             const BlockCyclicLayout& out_layout, int rank) {
  constexpr int kBesideCopies = 48;
  const int size = in_layout.grid.size();
  const ExchangedPair own = PairOfStep(in_layout, out_layout, rank, size, 2 * rank % size);
  const int64_t all = in_layout.LocalRows(rank) * in_layout.LocalCols(rank);
  // Where hardly anything travels nobody is to wait for the kernels.
  return all - own.rows.count * own.cols.count > all / 10 ? kBesideCopies : 0;
}

}  // namespace stridewise
