// What a transpose by copies does with parts of several GB, without any: each copy and permutation
// that it queues is inside the memory that it was given, and together they write each element once.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/distributed/block_cyclic.h"
#include "common/distributed/measured_communicator.h"
#include "common/streaming/stream_queues.h"
#include "gtest/gtest.h"
#include "transpose/distributed/device_exchange.h"
#include "transpose/permute.h"
#include "transpose/transpose.h"

namespace stridewise {
namespace {

// A range of addresses, none of which is used.
struct Range {
  uintptr_t begin = 0;
  int64_t bytes = 0;

  void* data() const { return reinterpret_cast<void*>(begin); }
  bool Contains(const void* first, int64_t count) const {
    const auto address = reinterpret_cast<uintptr_t>(first);
    return address >= begin && count >= 0 &&
           address - begin + static_cast<uint64_t>(count) <= static_cast<uint64_t>(bytes);
  }
};

// Takes a rank's work, checks it and does nothing.
class CheckingQueues : public StreamQueues {
 public:
  // Reads `in`, packs into `messages`, writes to the parts of all ranks.
  CheckingQueues(const Range& in, const Range& messages, std::vector<Range> parts)
      : in_(in), messages_(messages), parts_(std::move(parts)), written_(parts_.size()) {}

  // Returns the bytes that were written to a rank's part.
  int64_t written(size_t part) const { return written_[part]; }

  absl::Status Enter() override { return absl::OkStatus(); }
  absl::StatusOr<void*> Allocate(int64_t bytes) override {
    return absl::InternalError(absl::StrCat("allocates ", bytes, " bytes"));
  }
  absl::Status Copy(StreamQueue /*queue*/, const BlockCopy& copy) override {
    const int64_t last = copy.rows - 1;
    EXPECT_TRUE(messages_.Contains(copy.from, last * copy.from_pitch + copy.row_bytes));
    return Write(copy.to, last * copy.to_pitch + copy.row_bytes, copy.rows * copy.row_bytes);
  }
  absl::Status RunOn(StreamQueue /*queue*/,
                     std::function<absl::Status(cudaStream_t)> work) override {
    return work(nullptr);
  }
  absl::Status Record(StreamQueue /*queue*/, int event) override { return Event(event); }
  absl::Status Wait(StreamQueue /*queue*/, int event) override { return Event(event); }
  absl::Status WaitOnHost(int event) override { return Event(event); }
  absl::StatusOr<bool> IsDone(int /*event*/) override { return true; }
  absl::Status Finish() override { return absl::OkStatus(); }

  // What Permute() checks, and where it reads and writes.
  absl::Status Permute(const PermuteProblem& problem) {
    RETURN_IF_ERROR(CheckedPermuteArgs(problem).status());
    int64_t elements = 1, last_in = 0, last_out = 0;
    for (int64_t i = 0; i < problem.rank; ++i) {
      const auto dimension = static_cast<size_t>(i);
      const int64_t extent = problem.extents[dimension];
      elements *= extent;
      last_in += (extent - 1) * problem.strides_in[dimension];
      last_out += (problem.extents[static_cast<size_t>(problem.order[dimension])] - 1) *
                  problem.strides_out[dimension];
    }
    const int64_t size = problem.element_bytes;
    EXPECT_TRUE(in_.Contains(problem.in, (last_in + 1) * size));
    if (messages_.Contains(problem.out, (last_out + 1) * size)) return absl::OkStatus();
    return Write(problem.out, (last_out + 1) * size, elements * size);
  }

 private:
  static absl::Status Event(int event) {
    if (event >= 0 && event < kEvents) return absl::OkStatus();
    return absl::InternalError(absl::StrCat("event ", event));
  }
  absl::Status Write(const void* to, int64_t span, int64_t bytes) {
    for (size_t part = 0; part < parts_.size(); ++part) {
      if (!parts_[part].Contains(to, span)) continue;
      written_[part] += bytes;
      return absl::OkStatus();
    }
    return absl::InternalError(absl::StrCat("writes ", span, " bytes outside of all parts"));
  }

  Range in_, messages_;
  std::vector<Range> parts_;
  std::vector<int64_t> written_;
};

void ExpectAllIsWritten(int64_t rows, int64_t cols, int64_t block, int64_t element_bytes,
                        const RankGrid& grid, int copies_at_once = 1) {
  SCOPED_TRACE(absl::StrCat(rows, "x", cols, " of ", element_bytes, " bytes, blocks of ", block,
                            " on ", grid.rows, "x", grid.cols));
  const auto in_layout = *BlockCyclicLayout::Create(rows, cols, block, block, grid);
  const auto out_layout = *BlockCyclicLayout::Create(cols, rows, block, block, grid);
  uintptr_t next = uintptr_t{1} << 40;
  const auto place = [&](int64_t bytes) {
    const Range range = {next, bytes};
    next += static_cast<uintptr_t>((bytes + 4095) / 4096 * 4096 + (int64_t{1} << 30));
    return range;
  };
  std::vector<Range> parts;
  DeviceTransposeOptions options;
  options.copies_at_once = copies_at_once;
  for (int rank = 0; rank < grid.size(); ++rank) {
    const int64_t out_rows = out_layout.LocalRows(rank), out_cols = out_layout.LocalCols(rank);
    parts.push_back(place(out_rows * out_cols * element_bytes));
    options.parts_of_out.push_back(
        {parts.back().data(), out_rows, out_cols, out_cols, element_bytes});
  }
  std::vector<int64_t> written(parts.size());
  for (int rank = 0; rank < grid.size(); ++rank) {
    const int64_t in_rows = in_layout.LocalRows(rank), in_cols = in_layout.LocalCols(rank);
    const Range in = place(in_rows * in_cols * element_bytes);
    // As a sweep does, which takes the memory before it knows the other ranks' parts.
    const Range messages = place(TransposeMessageBytes(
        in_layout, out_layout, element_bytes, DeviceTransposeOptions(), rank, grid.size()));
    CheckingQueues queues(in, messages, parts);
    SilentCommunicator ranks(rank, grid.size());
    const absl::Status status = DistributedTransposeOnDevice(
        in_layout, {in.data(), in_rows, in_cols, in_cols, element_bytes}, out_layout,
        options.parts_of_out[static_cast<size_t>(rank)], options,
        [&](const PermuteProblem& problem, cudaStream_t) { return queues.Permute(problem); },
        &queues, &ranks, messages.data());
    EXPECT_TRUE(status.ok()) << "rank " << rank << ": " << status;
    for (size_t part = 0; part < parts.size(); ++part) written[part] += queues.written(part);
  }
  for (size_t part = 0; part < parts.size(); ++part) EXPECT_EQ(written[part], parts[part].bytes);
}

TEST(ExchangeGeometryTest, PartsOfSeveralGigabytesAreWrittenOnce) {
  for (const RankGrid& grid : {RankGrid{1, 1}, RankGrid{1, 2}, RankGrid{2, 1}, RankGrid{2, 2}}) {
    for (const int64_t n : {32768, 65536, 131072}) {
      for (const int64_t element_bytes : {4, 8}) {
        ExpectAllIsWritten(n, n, 2048, element_bytes, grid, 1);
        ExpectAllIsWritten(n, n, 2048, element_bytes, grid, 2);
      }
    }
    ExpectAllIsWritten(32769, 65535, 2048, 8, grid);  // Cut at the ends.
    ExpectAllIsWritten(40000, 50000, 3000, 8, grid);
    ExpectAllIsWritten(32768, 32768, 100, 8, grid);  // Rows of blocks that kernels write.
  }
}

}  // namespace
}  // namespace stridewise
