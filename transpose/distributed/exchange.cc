#include "transpose/distributed/exchange.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"

namespace stridewise {
namespace {

// Neighbouring local indices.
struct Run {
  int64_t first = 0;
  int64_t count = 0;
};

// Some of a part's indices of one dimension, ascending.
struct Selection {
  std::vector<Run> runs;
  int64_t count = 0;
};

// Returns the indices of a part of `mine` that a part of `theirs` owns in its layout of the same
// dimension. Goes from block to block.
Selection Common(const BlockCyclicDimension& mine, int64_t part, const BlockCyclicDimension& theirs,
                 int64_t their_part) {
  Selection selection;
  const int64_t extent = mine.LocalExtent(part);
  int64_t local = 0;
  while (local < extent) {
    const int64_t global = mine.GlobalIndex(part, local);
    // Both owners are the same up to the end of the nearer of the two blocks.
    const int64_t step = std::min(
        {extent - local, mine.block - global % mine.block, theirs.block - global % theirs.block});
    if (theirs.Owner(global) == their_part) {
      std::vector<Run>& runs = selection.runs;
      if (!runs.empty() && runs.back().first + runs.back().count == local) {
        runs.back().count += step;
      } else {
        runs.push_back({local, step});
      }
      selection.count += step;
    }
    local += step;
  }
  return selection;
}

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

template <typename View>
absl::Status CheckView(const char* name, const View& view, const BlockCyclicLayout& layout,
                       const Communicator& communicator) {
  if (view.batch != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": a batch of ", view.batch, " is not allowed; allowed is 1"));
  }
  if (view.element_bytes < 1) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": elements of ", view.element_bytes,
                                                   " bytes are not allowed; they have 1 or more"));
  }
  return CheckPart(name, view.rows, view.cols, view.ld, layout, communicator.rank(),
                   communicator.size());
}

}  // namespace

absl::Status DistributedTranspose(const BlockCyclicLayout& in_layout, const MatrixView& in,
                                  const BlockCyclicLayout& out_layout, const MutableMatrixView& out,
                                  const LocalTranspose& transpose, Communicator* communicator) {
  RETURN_IF_ERROR(CheckView("in", in, in_layout, *communicator));
  RETURN_IF_ERROR(CheckView("out", out, out_layout, *communicator));
  if (in_layout.rows.extent != out_layout.cols.extent ||
      in_layout.cols.extent != out_layout.rows.extent || in.element_bytes != out.element_bytes) {
    return absl::InvalidArgumentError("out: is not of the shape and elements of in's transpose");
  }
  const int rank = communicator->rank();
  const RankGrid& from = in_layout.grid;
  const RankGrid& to = out_layout.grid;
  const int64_t bytes = in.element_bytes;
  for (int step = 0; step < communicator->size(); ++step) {
    const int partner = (step - rank + communicator->size()) % communicator->size();
    const Selection rows = Common(in_layout.rows, from.Row(rank), out_layout.cols, to.Col(partner));
    const Selection cols = Common(in_layout.cols, from.Col(rank), out_layout.rows, to.Row(partner));
    const Selection out_rows =
        Common(out_layout.rows, to.Row(rank), in_layout.cols, from.Col(partner));
    const Selection out_cols =
        Common(out_layout.cols, to.Col(rank), in_layout.rows, from.Row(partner));
    const int64_t send_bytes = rows.count * cols.count * bytes;
    const int64_t receive_bytes = out_rows.count * out_cols.count * bytes;
    // new[] of bytes is aligned for elements of up to 16.
    const std::unique_ptr<char[]> gathered(new (std::nothrow) char[send_bytes]);
    const std::unique_ptr<char[]> send(new (std::nothrow) char[send_bytes]);
    const std::unique_ptr<char[]> receive(new (std::nothrow) char[receive_bytes]);
    if (gathered == nullptr || send == nullptr || receive == nullptr) {
      return absl::ResourceExhaustedError(
          absl::StrCat("no memory for messages of ", send_bytes, " and ", receive_bytes, " bytes"));
    }
    ForPieces(static_cast<const char*>(in.data), in.ld, bytes, rows, cols, gathered.get(),
              [](const char* part, char* packed, int64_t n) { std::memcpy(packed, part, n); });
    RETURN_IF_ERROR(transpose({gathered.get(), rows.count, cols.count, cols.count, bytes},
                              {send.get(), cols.count, rows.count, rows.count, bytes}));
    RETURN_IF_ERROR(
        communicator->Exchange(partner, send.get(), send_bytes, receive.get(), receive_bytes));
    ForPieces(static_cast<char*>(out.data), out.ld, bytes, out_rows, out_cols, receive.get(),
              [](char* part, const char* packed, int64_t n) { std::memcpy(part, packed, n); });
  }
  return absl::OkStatus();
}

}  // namespace stridewise
