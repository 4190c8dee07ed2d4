// Which rank of which job this process is, as launchers say it in the environment.

#ifndef STRIDEWISE_COMMON_DISTRIBUTED_JOB_ENVIRONMENT_H_
#define STRIDEWISE_COMMON_DISTRIBUTED_JOB_ENVIRONMENT_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"

namespace stridewise {

inline constexpr int kMaxJobSize = 4096;
inline constexpr int kMinTokenBytes = 8;
inline constexpr int kMaxTokenBytes = 128;

struct JobEnvironment {
  int rank = 0;
  int size = 1;
  int local_rank = 0;  // Among the ranks of this machine.
  std::string master_address;
  int master_port = 0;
  std::string token;  // All ranks of the job have the same, and nobody else.
};

// Reads RANK, WORLD_SIZE and LOCAL_RANK (torchrun, or a script) or, without RANK, the first that
// there are of OMPI_COMM_WORLD_RANK, _SIZE and _LOCAL_RANK (mpirun of Open MPI), PMI_RANK, PMI_SIZE
// and MPI_LOCALRANKID (of MPICH and Intel MPI), and SLURM_PROCID, SLURM_NTASKS and SLURM_LOCALID
// (srun); and MASTER_ADDR,
// MASTER_PORT and STRIDEWISE_JOB_TOKEN. `get` is std::getenv() or a test's. A job of one rank needs
// neither address nor port nor token; the local rank is 0 where it is not said. Ranks of torchrun,
// which listens on MASTER_PORT itself, meet on the port behind it.
//
// Returns InvalidArgument, in one line that names the variable, its value and what is allowed. A
// token is never repeated.
absl::StatusOr<JobEnvironment> ReadJobEnvironment(
    const std::function<const char*(const char*)>& get);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_DISTRIBUTED_JOB_ENVIRONMENT_H_
