#include "common/distributed/job_environment.h"

#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status_macros.h"

namespace stridewise {
namespace {

using Get = std::function<const char*(const char*)>;

absl::Status NotSet(absl::string_view name, absl::string_view allowed) {
  return absl::InvalidArgumentError(absl::StrCat(name, " is not set; allowed is ", allowed));
}

absl::StatusOr<int> ReadNumber(const Get& get, const char* name, int low, int high) {
  const char* text = get(name);
  int value = 0;
  if (text != nullptr && absl::SimpleAtoi(text, &value) && value >= low && value <= high) {
    return value;
  }
  if (text == nullptr) return NotSet(name, absl::StrCat(low, " to ", high));
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": \"", text, "\" is not allowed; allowed is ", low, " to ", high));
}

// What launchers call a rank, the number of ranks, and the rank among those of its machine.
struct Names {
  const char* rank;
  const char* size;
  const char* local_rank;
};

// torchrun, and whoever sets them; mpirun of Open MPI; that of MPICH and Intel MPI; srun, which
// also starts mpirun's ranks.
constexpr Names kLaunchers[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_RANK"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
};

// Returns the first launcher's that names a rank, or else torchrun's.
const Names& NamesOf(const Get& get) {
  for (const Names& names : kLaunchers) {
    if (get(names.rank) != nullptr) return names;
  }
  return kLaunchers[0];
}

}  // namespace

absl::StatusOr<JobEnvironment> ReadJobEnvironment(const Get& get) {
  const Names& names = NamesOf(get);
  JobEnvironment job;
  ASSIGN_OR_RETURN(job.size, ReadNumber(get, names.size, 1, kMaxJobSize));
  ASSIGN_OR_RETURN(job.rank, ReadNumber(get, names.rank, 0, job.size - 1));
  if (get(names.local_rank) != nullptr) {
    ASSIGN_OR_RETURN(job.local_rank, ReadNumber(get, names.local_rank, 0, job.size - 1));
  }
  if (job.size == 1) return job;

  const char* address = get("MASTER_ADDR");
  if (address == nullptr || *address == '\0') {
    constexpr char kAllowed[] = "the address of rank 0's machine";
    if (address == nullptr) return NotSet("MASTER_ADDR", kAllowed);
    return absl::InvalidArgumentError(
        absl::StrCat("MASTER_ADDR: \"\" is not allowed; allowed is ", kAllowed));
  }
  job.master_address = address;
  // On MASTER_PORT torchrun itself listens for as long as the job lasts.
  const char* const agent = get("TORCHELASTIC_USE_AGENT_STORE");
  const int behind = agent != nullptr && std::string_view(agent) == "True" ? 1 : 0;
  ASSIGN_OR_RETURN(job.master_port, ReadNumber(get, "MASTER_PORT", 1, 65535 - behind));
  job.master_port += behind;
  const char* token = get("STRIDEWISE_JOB_TOKEN");
  if (token == nullptr) {
    return NotSet("STRIDEWISE_JOB_TOKEN", absl::StrCat(kMinTokenBytes, " to ", kMaxTokenBytes,
                                                       " characters, the same on all ranks"));
  }
  job.token = token;
  const auto bytes = static_cast<int>(job.token.size());
  if (bytes < kMinTokenBytes || bytes > kMaxTokenBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("STRIDEWISE_JOB_TOKEN: ", bytes, " characters are not allowed; allowed are ",
                     kMinTokenBytes, " to ", kMaxTokenBytes, ", the same on all ranks"));
  }
  return job;
}

}  // namespace stridewise
