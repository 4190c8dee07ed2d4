// That transposes over ranks move every element, on the host and on devices of the host, whose
// queues run in any order that events allow.

#include "transpose/distributed/exchange.h"

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

#include "common/base/status_macros.h"
#include "common/distributed/block_cyclic.h"
#include "common/distributed/fake_communication_queue.h"
#include "common/distributed/fake_peer_memory.h"
#include "common/distributed/local_ranks.h"
#include "common/distributed/nccl_communicator.h"
#include "common/distributed/nccl_library.h"
#include "common/streaming/fake_stream_queues.h"
#include "gtest/gtest.h"
#include "transpose/distributed/device_exchange.h"
#include "transpose/distributed/permute_elements.h"
#include "transpose/on_host.h"

namespace stridewise {
namespace {

constexpr double kSeconds = 20;
constexpr int64_t kPadding = 2;
constexpr int kPoison = -1;

// How the parts of a rank are transposed.
using TransposeParts =
    std::function<absl::Status(const BlockCyclicLayout&, const MatrixView&,
                               const BlockCyclicLayout&, const MutableMatrixView&, Communicator*)>;

absl::Status OnHost(const BlockCyclicLayout& in_layout, const MatrixView& in,
                    const BlockCyclicLayout& out_layout, const MutableMatrixView& out,
                    Communicator* ranks) {
  return DistributedTranspose(in_layout, in, out_layout, out, TransposeOnHost, ranks);
}

TransposeParts OnDevice(uint64_t seed, int64_t message_bytes) {
  return
      [=](const BlockCyclicLayout& in_layout, const MatrixView& in,
          const BlockCyclicLayout& out_layout, const MutableMatrixView& out, Communicator* ranks) {
        // Of every second seed the memory of the messages is the caller's: the queues have none.
        DeviceTransposeOptions options;
        options.message_bytes = message_bytes;
        const int64_t bytes = TransposeMessageBytes(in_layout, out_layout, in.element_bytes,
                                                    options, ranks->rank(), ranks->size());
        constexpr int64_t kCanaryBytes = 256;
        std::vector<char> memory(bytes + kCanaryBytes, '\xff');
        const bool is_ours = seed % 2 == 1;
        FakeStreamQueues queues(seed + ranks->rank(), is_ours ? 0 : bytes);
        const absl::Status status =
            DistributedTransposeOnDevice(in_layout, in, out_layout, out, options, PermuteElements,
                                         &queues, ranks, is_ours ? memory.data() : nullptr);
        EXPECT_TRUE(queues.CanariesAreWhole());
        for (int64_t i = bytes; i < bytes + kCanaryBytes; ++i) EXPECT_EQ(memory[i], '\xff');
        return status;
      };
}

// Ranks copy pieces of `piece_bytes` to each other's parts, or write what has shorter rows.
TransposeParts Directly(uint64_t seed, int64_t piece_bytes, int64_t least_row_bytes,
                        int copies_at_once) {
  return [=](const BlockCyclicLayout& in_layout, const MatrixView& in,
             const BlockCyclicLayout& out_layout, const MutableMatrixView& out,
             Communicator* ranks) -> absl::Status {
    FakePeerMemory memory;
    ASSIGN_OR_RETURN(const auto parts, ReachMemoryOfRanks(out.data, &memory, ranks));
    DeviceTransposeOptions options;
    options.message_bytes = options.piece_bytes = piece_bytes;
    options.least_row_bytes = least_row_bytes;
    options.copies_at_once = copies_at_once;
    for (int rank = 0; rank < ranks->size(); ++rank) {
      const int64_t cols = out_layout.LocalCols(rank);
      options.parts_of_out.push_back(
          {parts[rank], out_layout.LocalRows(rank), cols, cols + kPadding, out.element_bytes});
    }
    const int64_t bytes = TransposeMessageBytes(in_layout, out_layout, in.element_bytes, options,
                                                ranks->rank(), ranks->size());
    FakeStreamQueues queues(seed + ranks->rank(), bytes);
    const absl::Status status = DistributedTransposeOnDevice(
        in_layout, in, out_layout, out, options, PermuteElements, &queues, ranks);
    EXPECT_TRUE(queues.CanariesAreWhole());
    return status;
  };
}

// Element (r, c) is r * cols + c, of which each rank checks its part of the result.
template <typename T>
absl::Status TransposeAndCheck(const BlockCyclicLayout& in, const BlockCyclicLayout& out,
                               const TransposeParts& transpose, Communicator* ranks) {
  const int rank = ranks->rank();
  const int64_t cols = in.cols.extent;
  const int64_t in_ld = in.LocalCols(rank) + kPadding;
  const int64_t out_ld = out.LocalCols(rank) + kPadding;
  std::vector<T> from(in.LocalRows(rank) * in_ld);
  std::vector<T> to(out.LocalRows(rank) * out_ld, static_cast<T>(kPoison));
  for (int64_t i = 0; i < in.LocalRows(rank); ++i) {
    for (int64_t j = 0; j < in.LocalCols(rank); ++j) {
      from[i * in_ld + j] = static_cast<T>(in.GlobalRow(rank, i) * cols + in.GlobalCol(rank, j));
    }
  }
  const absl::Status status =
      transpose(in, {from.data(), in.LocalRows(rank), in.LocalCols(rank), in_ld, sizeof(T)}, out,
                {to.data(), out.LocalRows(rank), out.LocalCols(rank), out_ld, sizeof(T)}, ranks);
  for (int64_t i = 0; i < out.LocalRows(rank); ++i) {
    for (int64_t j = 0; j < out_ld; ++j) {
      const T want = j < out.LocalCols(rank)
                         ? static_cast<T>(out.GlobalCol(rank, j) * cols + out.GlobalRow(rank, i))
                         : static_cast<T>(kPoison);
      EXPECT_EQ(to[i * out_ld + j], want) << i << ", " << j << " of rank " << rank;
    }
  }
  return status;
}

template <typename T>
void TestTranspose(const BlockCyclicLayout& in, const BlockCyclicLayout& out,
                   const TransposeParts& transpose) {
  const auto results = RunLocalRanks(in.grid.size(), kSeconds, [&](TcpCommunicator* ranks) {
    return TransposeAndCheck<T>(in, out, transpose, ranks);
  });
  for (const absl::Status& status : results) EXPECT_TRUE(status.ok()) << status;
}

// Calls test(in, out) for pairs of layouts of the same blocks, and of others on another grid.
template <typename Test>
void ForLayouts(Test test) {
  for (const RankGrid grid : {RankGrid{1, 1}, {1, 4}, {2, 2}, {4, 1}, {2, 3}}) {
    for (const auto& [rows, cols] : std::vector<std::pair<int64_t, int64_t>>{
             {0, 0}, {0, 7}, {7, 0}, {1, 1}, {1, 31}, {31, 1}, {37, 23}, {64, 64}}) {
      for (const int64_t block : {1, 5, 100}) {
        SCOPED_TRACE(testing::Message() << rows << "x" << cols << " in blocks of " << block
                                        << " on " << grid.rows << "x" << grid.cols);
        const auto in = *BlockCyclicLayout::Create(rows, cols, block, 3, grid);
        test(in, *BlockCyclicLayout::Create(cols, rows, 3, block, grid));
        test(in, *BlockCyclicLayout::Create(cols, rows, 4, 7, {grid.cols, grid.rows}));
      }
    }
  }
}

TEST(DistributedTransposeTest, MovesEveryElement) {
  ForLayouts([](const BlockCyclicLayout& in, const BlockCyclicLayout& out) {
    TestTranspose<float>(in, out, OnHost);
    TestTranspose<double>(in, out, OnHost);
  });
}

TEST(DistributedTransposeTest, MovesEveryElementOnDevicesInAnyOrderOfTheQueues) {
  uint64_t seed = 0;
  ForLayouts([&](const BlockCyclicLayout& in, const BlockCyclicLayout& out) {
    for (const int64_t message_bytes : {1, 300, 1 << 20}) {
      TestTranspose<float>(in, out, OnDevice(++seed, message_bytes));
      for (const int64_t least_row_bytes : {1, 20, 1000}) {
        for (const int copies_at_once : {1, 2}) {
          TestTranspose<float>(in, out,
                               Directly(seed, message_bytes, least_row_bytes, copies_at_once));
        }
      }
    }
    TestTranspose<uint16_t>(in, out, OnDevice(++seed, 100));
  });
}

// Element (r, c) is r * cols + c, of which each rank checks its part.
void TestRedistribution(const BlockCyclicLayout& in, const BlockCyclicLayout& out) {
  const auto results = RunLocalRanks(in.grid.size(), kSeconds, [&](TcpCommunicator* ranks) {
    const int rank = ranks->rank();
    const int64_t in_ld = in.LocalCols(rank) + kPadding, out_ld = out.LocalCols(rank) + kPadding;
    std::vector<float> from(in.LocalRows(rank) * in_ld);
    std::vector<float> to(out.LocalRows(rank) * out_ld, kPoison);
    const auto value = [&](int64_t row, int64_t col) {
      return static_cast<float>(row * in.cols.extent + col);
    };
    for (int64_t i = 0; i < in.LocalRows(rank); ++i) {
      for (int64_t j = 0; j < in.LocalCols(rank); ++j) {
        from[i * in_ld + j] = value(in.GlobalRow(rank, i), in.GlobalCol(rank, j));
      }
    }
    const absl::Status status =
        Redistribute(in, {from.data(), in.LocalRows(rank), in.LocalCols(rank), in_ld, 4}, out,
                     {to.data(), out.LocalRows(rank), out.LocalCols(rank), out_ld, 4}, ranks);
    for (int64_t i = 0; i < out.LocalRows(rank); ++i) {
      for (int64_t j = 0; j < out_ld; ++j) {
        EXPECT_EQ(to[i * out_ld + j], j < out.LocalCols(rank)
                                          ? value(out.GlobalRow(rank, i), out.GlobalCol(rank, j))
                                          : kPoison);
      }
    }
    return status;
  });
  for (const absl::Status& status : results) EXPECT_TRUE(status.ok()) << status;
}

TEST(RedistributeTest, MovesEveryElement) {
  ForLayouts([](const BlockCyclicLayout& in, const BlockCyclicLayout& out_of_transpose) {
    const int64_t rows = in.rows.extent, cols = in.cols.extent;
    const RankGrid grid = out_of_transpose.grid;
    TestRedistribution(in, *BlockCyclicLayout::Create(rows, cols, 7, 2, grid));
    TestRedistribution(in, *BlockCyclicLayout::Create(rows, cols, 100, 1, {1, grid.size()}));
    TestRedistribution(in, in);
  });
}

// NCCL's calls and their order, on a library that moves host memory.
TEST(DistributedTransposeTest, MovesEveryElementByNccl) {
  setenv("STRIDEWISE_NCCL", "common/distributed/libfake_nccl.so", 1);
  const RankGrid grid = {2, 2};
  const auto in = *BlockCyclicLayout::Create(37, 23, 5, 3, grid);
  const auto out = *BlockCyclicLayout::Create(23, 37, 3, 5, grid);
  const auto results =
      RunLocalRanks(grid.size(), kSeconds, [&](TcpCommunicator* ranks) -> absl::Status {
        ASSIGN_OR_RETURN(const NcclLibrary* const library, LoadNccl());
        FakeCommunicationQueue queue;
        ASSIGN_OR_RETURN(const auto nccl,
                         NcclCommunicator::Create(library, ranks, &queue, kSeconds));
        RETURN_IF_ERROR(TransposeAndCheck<float>(in, out, OnDevice(1, 200), nccl.get()));
        return nccl->Barrier();  // A rank that ends counts as lost.
      });
  for (const absl::Status& status : results) EXPECT_TRUE(status.ok()) << status;
}

}  // namespace
}  // namespace stridewise
