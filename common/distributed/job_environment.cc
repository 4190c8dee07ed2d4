#include "common/distributed/job_environment.h"

#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"

namespace stridewise {
namespace {

using Get = std::function<const char*(const char*)>;

absl::StatusOr<int> ReadNumber(const Get& get, const std::string& name, int low, int high) {
  const char* text = get(name.c_str());
  int value = 0;
  if (text != nullptr && absl::SimpleAtoi(text, &value) && value >= low && value <= high) {
    return value;
  }
  const std::string found = text == nullptr ? "not set" : absl::StrCat("\"", text, "\"");
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": ", found, " is not allowed; allowed is ", low, " to ", high));
}

}  // namespace

absl::StatusOr<JobEnvironment> ReadJobEnvironment(const Get& get) {
  const bool is_mpirun = get("RANK") == nullptr && get("OMPI_COMM_WORLD_RANK") != nullptr;
  const std::string prefix = is_mpirun ? "OMPI_COMM_WORLD_" : "";
  JobEnvironment job;
  ASSIGN_OR_RETURN(
      job.size, ReadNumber(get, is_mpirun ? "OMPI_COMM_WORLD_SIZE" : "WORLD_SIZE", 1, kMaxJobSize));
  ASSIGN_OR_RETURN(job.rank, ReadNumber(get, prefix + "RANK", 0, job.size - 1));
  const std::string local = prefix + "LOCAL_RANK";
  if (get(local.c_str()) != nullptr) {
    ASSIGN_OR_RETURN(job.local_rank, ReadNumber(get, local, 0, job.size - 1));
  }
  if (job.size == 1) return job;

  const char* address = get("MASTER_ADDR");
  if (address == nullptr || *address == '\0') {
    return absl::InvalidArgumentError(
        absl::StrCat("MASTER_ADDR: ", address == nullptr ? "not set" : "\"\"",
                     " is not allowed; allowed is the address of rank 0's machine"));
  }
  job.master_address = address;
  // On MASTER_PORT torchrun itself listens for as long as the job lasts.
  const char* const agent = get("TORCHELASTIC_USE_AGENT_STORE");
  const int behind = agent != nullptr && std::string_view(agent) == "True" ? 1 : 0;
  ASSIGN_OR_RETURN(job.master_port, ReadNumber(get, "MASTER_PORT", 1, 65535 - behind));
  job.master_port += behind;
  const char* token = get("STRIDEWISE_JOB_TOKEN");
  job.token = token == nullptr ? "" : token;
  const auto bytes = static_cast<int>(job.token.size());
  if (bytes < kMinTokenBytes || bytes > kMaxTokenBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("STRIDEWISE_JOB_TOKEN: ", bytes, " characters are not allowed; allowed are ",
                     kMinTokenBytes, " to ", kMaxTokenBytes, ", the same on all ranks"));
  }
  return job;
}

}  // namespace stridewise
