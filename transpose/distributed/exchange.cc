#include "transpose/distributed/exchange.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "transpose/distributed/pairs.h"

namespace stridewise {
namespace {

// Calls copy(matrix, packed, bytes) for each piece of the selected rows and columns of a part, of
// which `packed` holds nothing else, row by row.
template <typename Byte, typename PackedByte, typename Copy>
void ForPieces(Byte* matrix, int64_t ld, int64_t element_bytes, const Selection& rows,
               const Selection& cols, PackedByte* packed, Copy copy) {
  for (const Run& row_run : rows.runs) {
    for (int64_t row = row_run.first; row < row_run.first + row_run.count; ++row) {
      for (const Run& run : cols.runs) {
        const int64_t bytes = run.count * element_bytes;
        copy(matrix + (row * ld + run.first) * element_bytes, packed, bytes);
        packed += bytes;
      }
    }
  }
}

// Exchanges what the pair names. With `transpose` a message is transposed on its way.
absl::Status ExchangeElements(const ExchangedPair& pair, const MatrixView& in,
                              const MutableMatrixView& out, const LocalTranspose* transpose,
                              Communicator* communicator) {
  const int64_t bytes = in.element_bytes;
  const Selection& rows = pair.rows;
  const Selection& cols = pair.cols;
  const int64_t send_bytes = rows.count * cols.count * bytes;
  const int64_t receive_bytes = pair.out_rows.count * pair.out_cols.count * bytes;
  // new[] of bytes is aligned for elements of up to 16.
  const std::unique_ptr<char[]> gathered(new (std::nothrow) char[send_bytes]);
  const std::unique_ptr<char[]> turned(
      new (std::nothrow) char[transpose != nullptr ? send_bytes : 0]);
  const std::unique_ptr<char[]> receive(new (std::nothrow) char[receive_bytes]);
  if (gathered == nullptr || turned == nullptr || receive == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for messages of ", send_bytes, " and ", receive_bytes, " bytes"));
  }
  ForPieces(static_cast<const char*>(in.data), in.ld, bytes, rows, cols, gathered.get(),
            [](const char* part, char* packed, int64_t n) { std::memcpy(packed, part, n); });
  const char* send = gathered.get();
  if (transpose != nullptr) {
    RETURN_IF_ERROR((*transpose)({gathered.get(), rows.count, cols.count, cols.count, bytes},
                                 {turned.get(), cols.count, rows.count, rows.count, bytes}));
    send = turned.get();
  }
  RETURN_IF_ERROR(
      communicator->Exchange(pair.partner, send, send_bytes, receive.get(), receive_bytes));
  ForPieces(static_cast<char*>(out.data), out.ld, bytes, pair.out_rows, pair.out_cols,
            receive.get(),
            [](char* part, const char* packed, int64_t n) { std::memcpy(part, packed, n); });
  return absl::OkStatus();
}

}  // namespace

absl::Status DistributedTranspose(const BlockCyclicLayout& in_layout, const MatrixView& in,
                                  const BlockCyclicLayout& out_layout, const MutableMatrixView& out,
                                  const LocalTranspose& transpose, Communicator* communicator) {
  RETURN_IF_ERROR(CheckTransposedParts(in_layout, in, out_layout, out, *communicator));
  const int rank = communicator->rank(), size = communicator->size();
  for (int step = 0; step < size; ++step) {
    RETURN_IF_ERROR(ExchangeElements(PairOfStep(in_layout, out_layout, rank, size, step), in, out,
                                     &transpose, communicator));
  }
  return absl::OkStatus();
}

absl::Status Redistribute(const BlockCyclicLayout& in_layout, const MatrixView& in,
                          const BlockCyclicLayout& out_layout, const MutableMatrixView& out,
                          Communicator* communicator) {
  RETURN_IF_ERROR(CheckRedistributedParts(in_layout, in, out_layout, out, *communicator));
  const int rank = communicator->rank(), size = communicator->size();
  for (int step = 0; step < size; ++step) {
    RETURN_IF_ERROR(
        ExchangeElements(RedistributedPairOfStep(in_layout, out_layout, rank, size, step), in, out,
                         /*transpose=*/nullptr, communicator));
  }
  return absl::OkStatus();
}

}  // namespace stridewise
