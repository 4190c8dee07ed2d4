// Which implementation a row is sampled in turn with.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_ROW_PAIR_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_ROW_PAIR_H_

#include "benchmarks/harness/operation.h"
#include "common/gpu/implementation.h"

namespace stridewise {

struct RowPair {
  const Implementation* implementation = nullptr;  // Null: there is none.
  const Peer* peer = nullptr;                      // Whose column gets the ratio.
};

// Returns what the row is sampled in turn with: the peer, or what stands in for it, where that
// takes the point and runs on the same processor; nothing for a null peer.
RowPair PairedWith(const Config& config, const Peer* peer);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_ROW_PAIR_H_
