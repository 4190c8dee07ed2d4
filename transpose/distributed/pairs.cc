#include "transpose/distributed/pairs.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"

namespace stridewise {
namespace {

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

Selection CommonIndices(const BlockCyclicDimension& mine, int64_t part,
                        const BlockCyclicDimension& theirs, int64_t their_part) {
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

Selection Slice(const Selection& selection, int64_t first, int64_t count) {
  Selection slice;
  int64_t begin = 0;  // The number of the run's first index.
  for (const Run& run : selection.runs) {
    const int64_t from = std::max(first, begin);
    const int64_t to = std::min(first + count, begin + run.count);
    if (from < to) {
      slice.runs.push_back({run.first + from - begin, to - from});
      slice.count += to - from;
    }
    begin += run.count;
  }
  return slice;
}

std::vector<RunGroup> GroupRuns(const Selection& selection) {
  std::vector<RunGroup> groups;
  int64_t packed = 0;
  for (const Run& run : selection.runs) {
    RunGroup* const last = groups.empty() ? nullptr : &groups.back();
    if (last != nullptr && last->count == run.count &&
        (last->runs == 1 || last->first + last->runs * last->stride == run.first)) {
      if (last->runs == 1) last->stride = run.first - last->first;
      ++last->runs;
    } else {
      groups.push_back({run.first, run.count, run.count, 1, packed});
    }
    packed += run.count;
  }
  return groups;
}

std::vector<SharedRunGroup> GroupSharedRuns(const Selection& selection, const Selection& other) {
  std::vector<SharedRunGroup> groups;
  size_t run = 0, other_run = 0;
  int64_t used = 0, other_used = 0;  // Of the two runs.
  while (run < selection.runs.size() && other_run < other.runs.size()) {
    const Run& a = selection.runs[run];
    const Run& b = other.runs[other_run];
    const int64_t count = std::min(a.count - used, b.count - other_used);
    const int64_t first = a.first + used;
    const int64_t other_first = b.first + other_used;
    SharedRunGroup* const last = groups.empty() ? nullptr : &groups.back();
    if (last != nullptr && last->count == count &&
        (last->runs == 1 || (last->first + last->runs * last->stride == first &&
                             last->other_first + last->runs * last->other_stride == other_first))) {
      if (last->runs == 1) {
        last->stride = first - last->first;
        last->other_stride = other_first - last->other_first;
      }
      ++last->runs;
    } else {
      groups.push_back({first, count, other_first, count, count, 1});
    }
    used += count;
    other_used += count;
    if (used == a.count) ++run, used = 0;
    if (other_used == b.count) ++other_run, other_used = 0;
  }
  return groups;
}

namespace {

// A layout as the other side of the exchange sees it: a transpose changes rows for columns.
class Facing {
 public:
  Facing(const BlockCyclicLayout& layout, bool transposed)
      : layout_(layout), transposed_(transposed) {}

  const BlockCyclicDimension& rows() const { return transposed_ ? layout_.cols : layout_.rows; }
  const BlockCyclicDimension& cols() const { return transposed_ ? layout_.rows : layout_.cols; }
  // Returns a rank's part of these.
  int Row(int rank) const { return transposed_ ? layout_.grid.Col(rank) : layout_.grid.Row(rank); }
  int Col(int rank) const { return transposed_ ? layout_.grid.Row(rank) : layout_.grid.Col(rank); }

 private:
  const BlockCyclicLayout& layout_;
  const bool transposed_;
};

ExchangedPair PairOf(const BlockCyclicLayout& in, const BlockCyclicLayout& out, bool transposed,
                     int rank, int size, int step) {
  const Facing of_in(in, transposed);
  const Facing of_out(out, transposed);
  const int partner = (step - rank + size) % size;
  return {partner, CommonIndices(in.rows, in.grid.Row(rank), of_out.rows(), of_out.Row(partner)),
          CommonIndices(in.cols, in.grid.Col(rank), of_out.cols(), of_out.Col(partner)),
          CommonIndices(out.rows, out.grid.Row(rank), of_in.rows(), of_in.Row(partner)),
          CommonIndices(out.cols, out.grid.Col(rank), of_in.cols(), of_in.Col(partner))};
}

absl::Status CheckParts(const BlockCyclicLayout& in_layout, const MatrixView& in,
                        const BlockCyclicLayout& out_layout, const MutableMatrixView& out,
                        bool transposed, const Communicator& communicator) {
  RETURN_IF_ERROR(CheckView("in", in, in_layout, communicator));
  RETURN_IF_ERROR(CheckView("out", out, out_layout, communicator));
  const Facing of_out(out_layout, transposed);
  if (in_layout.rows.extent != of_out.rows().extent ||
      in_layout.cols.extent != of_out.cols().extent || in.element_bytes != out.element_bytes) {
    return absl::InvalidArgumentError(
        transposed ? "out: is not of the shape and elements of in's transpose"
                   : "out: is not of in's shape and elements");
  }
  return absl::OkStatus();
}

}  // namespace

ExchangedPair PairOfStep(const BlockCyclicLayout& in_layout, const BlockCyclicLayout& out_layout,
                         int rank, int size, int step) {
  return PairOf(in_layout, out_layout, /*transposed=*/true, rank, size, step);
}

ExchangedPair RedistributedPairOfStep(const BlockCyclicLayout& in_layout,
                                      const BlockCyclicLayout& out_layout, int rank, int size,
                                      int step) {
  return PairOf(in_layout, out_layout, /*transposed=*/false, rank, size, step);
}

absl::Status CheckTransposedParts(const BlockCyclicLayout& in_layout, const MatrixView& in,
                                  const BlockCyclicLayout& out_layout, const MutableMatrixView& out,
                                  const Communicator& communicator) {
  return CheckParts(in_layout, in, out_layout, out, /*transposed=*/true, communicator);
}

absl::Status CheckRedistributedParts(const BlockCyclicLayout& in_layout, const MatrixView& in,
                                     const BlockCyclicLayout& out_layout,
                                     const MutableMatrixView& out,
                                     const Communicator& communicator) {
  return CheckParts(in_layout, in, out_layout, out, /*transposed=*/false, communicator);
}

}  // namespace stridewise
