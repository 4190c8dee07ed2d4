#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/distributed/job_environment.h"
#include "common/distributed/local_ranks.h"
#include "common/distributed/rendezvous.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

constexpr double kSeconds = 20;

void ExpectAllOk(const std::vector<absl::Status>& results) {
  for (const absl::Status& status : results) EXPECT_TRUE(status.ok()) << status;
}

// Larger than what sockets buffer, so that both directions must move at once.
TEST(CommunicatorTest, ExchangesInBothDirections) {
  constexpr int64_t kCount = 1 << 20;
  ExpectAllOk(RunLocalRanks(2, kSeconds, [](TcpCommunicator* ranks) {
    const std::vector<int32_t> mine(kCount + ranks->rank(), ranks->rank() + 1);
    const int partner = 1 - ranks->rank();
    std::vector<int32_t> theirs(kCount + partner, -1);
    const absl::Status status =
        ranks->Exchange(partner, mine.data(), mine.size() * 4, theirs.data(), theirs.size() * 4);
    EXPECT_EQ(theirs, std::vector<int32_t>(kCount + partner, partner + 1));
    return status;
  }));
}

TEST(CommunicatorTest, BroadcastsFromEveryRootAndSums) {
  for (const int size : {1, 2, 3, 5, 8}) {
    ExpectAllOk(RunLocalRanks(size, kSeconds, [size](TcpCommunicator* ranks) {
      std::vector<int> all;
      for (int rank = size - 1; rank >= 0; --rank) all.push_back(rank);
      for (int root = 0; root < size; ++root) {
        int64_t value = ranks->rank();
        EXPECT_TRUE(ranks->Broadcast(all, root, &value, sizeof(value)).ok());
        EXPECT_EQ(value, root);
      }
      std::vector<double> values = {1, ranks->rank() + 0.5};
      EXPECT_TRUE(ranks->Sum(absl::MakeSpan(values)).ok());
      EXPECT_EQ(values, (std::vector<double>{1.0 * size, size * (size - 1) / 2 + 0.5 * size}));
      return ranks->Barrier();
    }));
  }
}

TEST(CommunicatorTest, ALostRankIsNamedByAllOthers) {
  const auto results = RunLocalRanks(5, kSeconds, [](TcpCommunicator* ranks) {
    if (ranks->rank() == 3) return absl::OkStatus();  // Ends before the others do.
    const absl::Status first = ranks->Barrier();
    EXPECT_EQ(ranks->Barrier(), first);
    return first;
  });
  for (const int rank : {0, 1, 2, 4}) {
    EXPECT_EQ(results[rank].code(), absl::StatusCode::kUnavailable) << rank;
    EXPECT_NE(results[rank].message().find("rank 3"), absl::string_view::npos) << results[rank];
  }
}

TEST(CommunicatorTest, ARankThatDoesNotAnswerIsNamedInTime) {
  const auto results = RunLocalRanks(3, 0.2, [](TcpCommunicator* ranks) {
    if (ranks->rank() == 2) {
      std::this_thread::sleep_for(std::chrono::milliseconds(600));
      return absl::OkStatus();
    }
    return ranks->rank() == 0 ? ranks->Exchange(2, nullptr, 0, nullptr, 0) : absl::OkStatus();
  });
  EXPECT_EQ(results[0].code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(results[0].message(), "rank 2 did not answer in time");
}

TEST(CommunicatorTest, SizesThatDifferAreAnError) {
  const auto results = RunLocalRanks(2, kSeconds, [](TcpCommunicator* ranks) {
    int64_t values[2] = {};
    return ranks->Broadcast({0, 1}, 0, values, ranks->rank() == 0 ? 16 : 8);
  });
  EXPECT_TRUE(results[0].ok());  // It has sent, and learns of it at its next operation.
  EXPECT_EQ(results[1].code(), absl::StatusCode::kInternal) << results[1];
}

TEST(RendezvousTest, ComparesTokens) {
  EXPECT_TRUE(SameInConstantTime("", ""));
  EXPECT_TRUE(SameInConstantTime("secret", "secret"));
  EXPECT_FALSE(SameInConstantTime("secret", "secreT"));
  EXPECT_FALSE(SameInConstantTime("secret", "secre"));
  EXPECT_FALSE(SameInConstantTime("", "s"));
}

using Variables = std::map<std::string, std::string>;

absl::StatusOr<JobEnvironment> Read(const Variables& variables) {
  return ReadJobEnvironment([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

const Variables& Good() {
  static const auto& good = *new Variables{
      {"RANK", "3"},           {"WORLD_SIZE", "4"},      {"LOCAL_RANK", "1"},
      {"MASTER_ADDR", "host"}, {"MASTER_PORT", "29500"}, {"STRIDEWISE_JOB_TOKEN", "12345678"}};
  return good;
}

TEST(JobEnvironmentTest, ReadsWhatLaunchersSay) {
  const auto job = Read(Good());
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->rank, 3);
  EXPECT_EQ(job->size, 4);
  EXPECT_EQ(job->local_rank, 1);
  EXPECT_EQ(job->master_address, "host");
  EXPECT_EQ(job->master_port, 29500);
  EXPECT_EQ(job->token, "12345678");

  // srun sets Slurm's variables for ranks of mpirun, too, each of which is the only one of its node
  // there.
  Variables launcher = {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}, {"SLURM_LOCALID", "0"}};
  for (const char* name : {"MASTER_ADDR", "MASTER_PORT", "STRIDEWISE_JOB_TOKEN"}) {
    launcher[name] = Good().at(name);
  }
  int rank = 0;
  for (const std::vector<std::string>& names : std::vector<std::vector<std::string>>{
           {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
           {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
           {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
           {"RANK", "WORLD_SIZE", "LOCAL_RANK"}}) {
    launcher[names[0]] = absl::StrCat(++rank);
    launcher[names[1]] = absl::StrCat(10 + rank);
    launcher[names[2]] = absl::StrCat(rank - 1);
    const auto of_launcher = Read(launcher);
    ASSERT_TRUE(of_launcher.ok()) << of_launcher.status();
    EXPECT_EQ(of_launcher->rank, rank) << names[0];
    EXPECT_EQ(of_launcher->size, 10 + rank);
    EXPECT_EQ(of_launcher->local_rank, rank - 1);
  }

  EXPECT_TRUE(Read({{"RANK", "0"}, {"WORLD_SIZE", "1"}}).ok());

  Variables torchrun = Good();
  torchrun["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  EXPECT_EQ(Read(torchrun)->master_port, 29501);
  torchrun["TORCHELASTIC_USE_AGENT_STORE"] = "False";
  EXPECT_EQ(Read(torchrun)->master_port, 29500);
}

TEST(JobEnvironmentTest, NamesWhatIsWrong) {
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
           {"RANK", "4"},
           {"RANK", "-1"},
           {"RANK", "x"},
           {"WORLD_SIZE", "0"},
           {"WORLD_SIZE", "4097"},
           {"LOCAL_RANK", "4"},
           {"MASTER_ADDR", ""},
           {"MASTER_PORT", "65536"},
           {"STRIDEWISE_JOB_TOKEN", "short"},
           {"STRIDEWISE_JOB_TOKEN", std::string(129, 'x')}}) {
    Variables variables = Good();
    variables[name] = value;
    const absl::Status status = Read(variables).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(status.message().find(absl::StrCat(name, ": ")), 0u) << status;
    EXPECT_EQ(status.message().find('\n'), absl::string_view::npos);
  }
  for (const char* name :
       {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "STRIDEWISE_JOB_TOKEN"}) {
    Variables variables = Good();
    variables.erase(name);
    const absl::Status status = Read(variables).status();
    EXPECT_EQ(status.message().find(absl::StrCat(name, " is not set; allowed is ")), 0u) << status;
  }
}

TEST(RendezvousTest, ListensOnOneAddressOnly) {
  for (const char* address : {"0.0.0.0", "::"}) {
    JobEnvironment job = *Read(Good());
    job.rank = 0;
    job.master_address = address;
    const absl::Status status = Rendezvous(job, 1).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_EQ(status.message().find("MASTER_ADDR: "), 0u) << status;
  }
}

}  // namespace
}  // namespace stridewise
