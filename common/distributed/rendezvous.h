// How the ranks of a job find each other: everyone asks rank 0 at MASTER_ADDR and MASTER_PORT.
//
// Rank 0 listens on this one address, the others on the address of theirs that leads to rank 0. A
// rank says who it is and shows the job's token; rank 0 answers with the addresses of all; each
// rank then connects to those before it and is connected to by those behind. Whoever does not show
// the token, or shows an impossible or a second rank, is disconnected and counts for nothing. When
// all are there, or the time is over, nobody listens any more.
//
// The token keeps jobs and strangers apart. It is not encryption: what ranks send can be read on
// the network's way. All ranks must run the same build on machines of one byte order.

#ifndef STRIDEWISE_COMMON_DISTRIBUTED_RENDEZVOUS_H_
#define STRIDEWISE_COMMON_DISTRIBUTED_RENDEZVOUS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/distributed/communicator.h"
#include "common/distributed/job_environment.h"

namespace stridewise {

// Returns whether both are the same, in a time that depends on the sizes only.
bool SameInConstantTime(absl::string_view a, absl::string_view b);

// Connects all ranks of the job, in at most `seconds`, of which rank 0 waits for the others
// for 80 %; each operation of the communicator then has `seconds` too. Returns InvalidArgument for
// an address that is none, and Unavailable, naming a rank, where one is missing, lost or does not
// answer.
absl::StatusOr<std::unique_ptr<Communicator>> Rendezvous(const JobEnvironment& job, double seconds);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_DISTRIBUTED_RENDEZVOUS_H_
