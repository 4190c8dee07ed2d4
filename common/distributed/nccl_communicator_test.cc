// NCCL's ranks as threads, on a libnccl.so that moves host memory.

#include "common/distributed/nccl_communicator.h"

#include <dlfcn.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/base/status_macros.h"
#include "common/distributed/fake_communication_queue.h"
#include "common/distributed/local_ranks.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

constexpr double kSeconds = 20;
constexpr char kLibrary[] = "common/distributed/libfake_nccl.so";

class NcclCommunicatorTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("STRIDEWISE_NCCL", kLibrary, 1); }
  void TearDown() override {
    FailFrom(1 << 30);
    AbortTakes(0);
  }

  static void FailFrom(int operation) { Tell("FakeNcclFailFrom", operation); }
  static void AbortTakes(int milliseconds) { Tell("FakeNcclAbortTakes", milliseconds); }

  static void Tell(const char* function, int value) {
    void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    reinterpret_cast<void (*)(int)>(dlsym(library, function))(value);
    dlclose(library);
  }

  // Runs the ranks of a job, each with a queue of its own.
  static std::vector<absl::Status> Run(int size, double seconds,
                                       const std::function<absl::Status(Communicator*)>& run) {
    return RunLocalRanks(size, seconds, [&](TcpCommunicator* control) -> absl::Status {
      ASSIGN_OR_RETURN(const NcclLibrary* const nccl, LoadNccl());
      FakeCommunicationQueue queue;
      ASSIGN_OR_RETURN(const auto ranks, NcclCommunicator::Create(nccl, control, &queue, seconds));
      const absl::Status status = run(ranks.get());
      if (!status.ok()) ranks->Abandon();
      return status;
    });
  }
};

void ExpectAllOk(const std::vector<absl::Status>& results) {
  for (const absl::Status& status : results) EXPECT_TRUE(status.ok()) << status;
}

TEST_F(NcclCommunicatorTest, ExchangesBroadcastsAndSums) {
  for (const int size : {1, 2, 3, 5}) {
    ExpectAllOk(Run(size, kSeconds, [size](Communicator* ranks) -> absl::Status {
      const int me = ranks->rank();
      EXPECT_EQ(ranks->size(), size);
      for (int step = 0; step < size; ++step) {
        const int partner = (step - me + size) % size;
        const std::vector<int> mine(100 + me, me);
        std::vector<int> theirs(100 + partner, -1);
        RETURN_IF_ERROR(ranks->Exchange(partner, mine.data(), 4 * (100 + me), theirs.data(),
                                        4 * (100 + partner)));
        EXPECT_EQ(theirs, std::vector<int>(100 + partner, partner));
      }
      std::vector<int> all(size);
      std::iota(all.rbegin(), all.rend(), 0);
      for (int repeat = 0; repeat < 2; ++repeat) {
        for (int root = 0; root < size; ++root) {
          int64_t value = me;
          RETURN_IF_ERROR(ranks->Broadcast(all, root, &value, sizeof(value)));
          EXPECT_EQ(value, root);
        }
      }
      // Pairs of neighbours that only they know of.
      if (me / 2 * 2 + 1 < size) {
        const std::vector<int> pair = {me / 2 * 2, me / 2 * 2 + 1};
        int value = me;
        RETURN_IF_ERROR(ranks->Broadcast(pair, pair[1], &value, sizeof(value)));
        EXPECT_EQ(value, pair[1]);
        RETURN_IF_ERROR(ranks->Broadcast(pair, pair[0], nullptr, 0));
      }
      double values[2] = {1, me + 0.5};
      RETURN_IF_ERROR(ranks->Sum(values));
      EXPECT_EQ(values[0], size);
      EXPECT_EQ(values[1], size * (size - 1) / 2 + 0.5 * size);
      return ranks->Barrier();
    }));
  }
}

void ExpectNamed(const std::vector<absl::Status>& results, std::vector<int> ranks, int lost) {
  const std::string name = "rank " + std::to_string(lost);
  for (const int rank : ranks) {
    EXPECT_TRUE(absl::IsUnavailable(results[rank])) << rank << ": " << results[rank];
    EXPECT_NE(results[rank].message().find(name), absl::string_view::npos) << results[rank];
  }
}

// NCCL itself does not notice; long before the deadline the connection tells.
TEST_F(NcclCommunicatorTest, ALostRankIsNamedByAllOthers) {
  const auto begin = std::chrono::steady_clock::now();
  const auto results = Run(4, /*seconds=*/50, [](Communicator* ranks) -> absl::Status {
    if (ranks->rank() == 2) return absl::UnavailableError("gone");
    int64_t value = 0;
    const absl::Status status = ranks->Broadcast({0, 1, 2, 3}, 2, &value, sizeof(value));
    EXPECT_EQ(ranks->Broadcast({0, 1, 2, 3}, 1, &value, sizeof(value)), status);
    EXPECT_EQ(ranks->Barrier(), status);
    return status;
  });
  ExpectNamed(results, {0, 1, 3}, 2);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(40));
}

TEST_F(NcclCommunicatorTest, ARankThatNeverAnswersIsNamed) {
  for (const int silent : {0, 1, 2}) {
    const auto results = Run(3, /*seconds=*/0.5, [silent](Communicator* ranks) {
      if (ranks->rank() == silent) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1700));
        return absl::OkStatus();
      }
      int64_t value = 0;
      return ranks->Broadcast({0, 1, 2}, silent, &value, sizeof(value));
    });
    for (int rank = 0; rank < 3; ++rank) {
      if (rank == silent) continue;
      EXPECT_TRUE(absl::IsUnavailable(results[rank])) << rank << ": " << results[rank];
    }
    // Rank 0 asks the others in turn; one that asks rank 0 in vain names it.
    ExpectNamed(results, {silent == 0 ? 1 : 0}, silent);
  }
}

// As NCCL may do whose other rank's process was stopped.
TEST_F(NcclCommunicatorTest, NobodyWaitsForAnAbortThatDoesNotEnd) {
  AbortTakes(60'000);
  const auto begin = std::chrono::steady_clock::now();
  const auto results = Run(2, /*seconds=*/0.5, [](Communicator* ranks) {
    double value = 1;
    if (ranks->rank() == 0) return ranks->Sum(absl::MakeSpan(&value, 1));
    std::this_thread::sleep_for(std::chrono::milliseconds(1700));
    return absl::OkStatus();
  });
  ExpectNamed(results, {0}, 1);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST_F(NcclCommunicatorTest, ErrorsOfNcclEndAllRanks) {
  const auto results = Run(2, /*seconds=*/2, [](Communicator* ranks) -> absl::Status {
    int64_t value = ranks->rank();
    RETURN_IF_ERROR(ranks->Broadcast({0, 1}, 0, &value, sizeof(value)));
    RETURN_IF_ERROR(ranks->Barrier());
    FailFrom(0);
    RETURN_IF_ERROR(ranks->Barrier());
    const absl::Status status = ranks->Exchange(1 - ranks->rank(), &value, 8, &value, 8);
    EXPECT_EQ(ranks->Exchange(ranks->rank(), &value, 8, &value, 8), status);
    return status;
  });
  for (const absl::Status& status : results) {
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
    EXPECT_NE(status.message().find("remote error"), absl::string_view::npos) << status;
  }
}

TEST_F(NcclCommunicatorTest, RefusesWhatIsNotAllowed) {
  ExpectAllOk(Run(2, kSeconds, [](Communicator* ranks) {
    char byte = 0;
    EXPECT_TRUE(absl::IsInvalidArgument(ranks->Exchange(2, &byte, 1, &byte, 1)));
    EXPECT_TRUE(absl::IsInvalidArgument(ranks->Exchange(ranks->rank(), &byte, 1, &byte, 0)));
    EXPECT_TRUE(absl::IsInvalidArgument(ranks->Broadcast({0, 1}, 2, &byte, 1)));
    EXPECT_TRUE(absl::IsInvalidArgument(ranks->Broadcast({1 - ranks->rank()}, 0, &byte, 1)));
    return ranks->Barrier();
  }));
}

}  // namespace
}  // namespace stridewise
