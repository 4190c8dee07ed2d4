// What the fake libraries of tests tell each other: which rank of which communicator is meant.

#ifndef STRIDEWISE_COMMON_DISTRIBUTED_FAKE_NCCL_WORLD_H_
#define STRIDEWISE_COMMON_DISTRIBUTED_FAKE_NCCL_WORLD_H_

#include "common/distributed/nccl_library.h"

namespace stridewise {

struct FakeNcclRank {
  int rank = 0;
  int size = 0;
  const void* world = nullptr;  // The same for all ranks of a communicator, and no other's.
};

FakeNcclRank RankOfFakeNccl(NcclComm comm);

// Returns whether the communicator was neither destroyed nor aborted.
bool IsFakeNcclAlive(NcclComm comm);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_DISTRIBUTED_FAKE_NCCL_WORLD_H_
