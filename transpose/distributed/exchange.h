// Transposes of matrices that are spread over the ranks of a grid, and changes of their layout.
//
// Ranks meet in pairs (pairs.h). A rank gathers the elements that its partner will own,
// transposes them with a local transpose, and sends one message. It sends and receives each element
// that changes ranks once, and needs memory for the largest two messages and the gathered elements.
// Blocks of the result may have other sizes than those of the operand.

#ifndef STRIDEWISE_TRANSPOSE_DISTRIBUTED_EXCHANGE_H_
#define STRIDEWISE_TRANSPOSE_DISTRIBUTED_EXCHANGE_H_

#include <functional>

#include "absl/status/status.h"
#include "common/distributed/block_cyclic.h"
#include "common/distributed/communicator.h"
#include "transpose/transpose.h"

namespace stridewise {

// Transposes matrices of this rank: TransposeOnHost(), or another with its contract that returns
// when the result is written.
using LocalTranspose = std::function<absl::Status(const MatrixView&, const MutableMatrixView&)>;

// out(c, r) = in(r, c). `in` and `out` are the parts of the calling rank, with a batch of 1, in
// different memory. All ranks of the communicator make the call.
//
// Returns InvalidArgument, naming the argument, for layouts or parts that do not fit each other or
// the communicator, ResourceExhausted where there is no memory for the messages, and what the
// communicator and the local transpose return. `out` is then unspecified.
absl::Status DistributedTranspose(const BlockCyclicLayout& in_layout, const MatrixView& in,
                                  const BlockCyclicLayout& out_layout, const MutableMatrixView& out,
                                  const LocalTranspose& transpose, Communicator* communicator);

// out(r, c) = in(r, c): the same matrix in other blocks or on another grid of as many ranks, such
// as the layout that a product asks for. Otherwise as DistributedTranspose(), without the
// transpose.
absl::Status Redistribute(const BlockCyclicLayout& in_layout, const MatrixView& in,
                          const BlockCyclicLayout& out_layout, const MutableMatrixView& out,
                          Communicator* communicator);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DISTRIBUTED_EXCHANGE_H_
