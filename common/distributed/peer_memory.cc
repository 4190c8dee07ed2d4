#include "common/distributed/peer_memory.h"

#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "common/base/status_macros.h"

namespace stridewise {

absl::StatusOr<std::vector<void*>> ReachMemoryOfRanks(void* mine, PeerMemory* memory,
                                                      Communicator* ranks) {
  const int size = ranks->size();
  std::vector<int> all(size);
  std::iota(all.begin(), all.end(), 0);
  absl::Status status;
  const absl::StatusOr<PeerMemory::Name> name = memory->Export(mine);
  status.Update(name.status());
  std::vector<void*> reached(size);
  for (int rank = 0; rank < size; ++rank) {
    PeerMemory::Name theirs = name.ok() ? *name : PeerMemory::Name();
    RETURN_IF_ERROR(ranks->Broadcast(all, rank, &theirs, sizeof(theirs)));
    if (rank == ranks->rank()) {
      reached[rank] = mine;
    } else if (status.ok()) {
      const absl::StatusOr<void*> imported = memory->Import(theirs);
      status.Update(imported.status());
      if (imported.ok()) reached[rank] = *imported;
    }
  }
  std::vector<double> failed(size);
  failed[ranks->rank()] = status.ok() ? 0 : 1;
  RETURN_IF_ERROR(ranks->Sum(absl::MakeSpan(failed)));
  for (int rank = 0; rank < size; ++rank) {
    if (failed[rank] == 0) continue;
    return absl::UnavailableError(absl::StrCat("rank ", rank,
                                               " does not reach the memory of all ranks",
                                               status.ok() ? "" : ": ", status.message()));
  }
  return reached;
}

absl::Status LeaveMemoryOfRanks(PeerMemory* memory, Communicator* ranks) {
  const absl::Status left = memory->Leave();
  const absl::Status all = ranks->Barrier();
  return left.ok() ? all : left;
}

}  // namespace stridewise
