// NCCL, found when it is first asked for: neither the build nor other runs need it.
//
// The declarations are those of nccl.h, of what nccl_communicator.cc calls; they are the same from
// NCCL 2.14 on.

#ifndef STRIDEWISE_COMMON_DISTRIBUTED_NCCL_LIBRARY_H_
#define STRIDEWISE_COMMON_DISTRIBUTED_NCCL_LIBRARY_H_

#include <climits>
#include <cstddef>

#include "absl/status/statusor.h"
#include "common/gpu/cuda_handles.h"

namespace stridewise {

struct NcclCommState;  // ncclComm
using NcclComm = NcclCommState*;

struct NcclUniqueId {
  char bytes[128];
};

enum NcclResult : int { kNcclSuccess = 0, kNcclInProgress = 7 };
enum NcclType : int { kNcclChar = 0 };

// ncclConfig_t as NCCL 2.14 had it. The version tells later ones which fields are there.
struct NcclConfig {
  size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = 21400;
  int blocking = 0;
  int padding = INT_MIN;  // Undefined.
};

struct NcclLibrary {
  NcclResult (*GetVersion)(int* version);
  NcclResult (*GetUniqueId)(NcclUniqueId* id);
  NcclResult (*CommInitRankConfig)(NcclComm* comm, int size, NcclUniqueId id, int rank,
                                   NcclConfig* config);
  NcclResult (*CommGetAsyncError)(NcclComm comm, NcclResult* error);
  NcclResult (*CommFinalize)(NcclComm comm);
  NcclResult (*CommDestroy)(NcclComm comm);
  NcclResult (*CommAbort)(NcclComm comm);
  NcclResult (*GroupStart)();
  NcclResult (*GroupEnd)();
  NcclResult (*Broadcast)(const void* send, void* receive, size_t count, NcclType type, int root,
                          NcclComm comm, cudaStream_t stream);
  NcclResult (*Send)(const void* data, size_t count, NcclType type, int peer, NcclComm comm,
                     cudaStream_t stream);
  NcclResult (*Recv)(void* data, size_t count, NcclType type, int peer, NcclComm comm,
                     cudaStream_t stream);
  const char* (*GetErrorString)(NcclResult result);
};

// Returns the library, loaded at the first call: the file that STRIDEWISE_NCCL names (that of
// NVIDIA's wheel nvidia-nccl-cu13, for example), else libnccl.so.2 where the system or the CUDA
// toolkit has it. Unavailable, naming STRIDEWISE_NCCL, where there is none or it is older
// than 2.14.
absl::StatusOr<const NcclLibrary*> LoadNccl();

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_DISTRIBUTED_NCCL_LIBRARY_H_
