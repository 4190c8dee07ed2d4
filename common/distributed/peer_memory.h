// Memory of the other ranks' devices, which a rank's own device reads and writes over the link
// between them (NVLink), without packing, messages or multiprocessors of the other side.
//
// gpu_peer_memory.h has that of GPUs of one machine, for ranks that are threads or processes.

#ifndef STRIDEWISE_COMMON_DISTRIBUTED_PEER_MEMORY_H_
#define STRIDEWISE_COMMON_DISTRIBUTED_PEER_MEMORY_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/distributed/communicator.h"

namespace stridewise {

class PeerMemory {
 public:
  // What a rank says of its memory to the others.
  struct Name {
    char bytes[128] = {};
  };

  // Ends what Import() returned.
  virtual ~PeerMemory() = default;

  // Names memory of this rank's device, which must last as long as others use it.
  virtual absl::StatusOr<Name> Export(void* memory) = 0;

  // Returns where this rank's device reaches memory that another rank named. Unavailable where it
  // does not.
  virtual absl::StatusOr<void*> Import(const Name& name) = 0;

  // Ends what Import() returned, which nothing may use any more.
  virtual absl::Status Leave() = 0;
};

// Returns where this rank's device reaches the memory of each rank, by rank; that of this rank is
// `mine`. All ranks make the call. Unavailable on all of them, naming the rank, where one does not
// reach another's.
absl::StatusOr<std::vector<void*>> ReachMemoryOfRanks(void* mine, PeerMemory* memory,
                                                      Communicator* ranks);

// Ends what ReachMemoryOfRanks() returned. All ranks make the call, when nothing that they queued
// uses it any more; behind it each may free its memory, which it may not while others reach it.
absl::Status LeaveMemoryOfRanks(PeerMemory* memory, Communicator* ranks);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_DISTRIBUTED_PEER_MEMORY_H_
