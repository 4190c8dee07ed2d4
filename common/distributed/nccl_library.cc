#include "common/distributed/nccl_library.h"

#include "common/base/shared_library.h"
#include "common/base/status_macros.h"

namespace stridewise {
namespace {

constexpr int kOldest = 21400;

absl::StatusOr<NcclLibrary> Load() {
  RequiredLibrary library("NCCL", "STRIDEWISE_NCCL",
                          {"libnccl.so.2", "/usr/local/cuda/lib64/libnccl.so.2"});
  NcclLibrary nccl = {};
  library.Find("ncclGetVersion", &nccl.GetVersion);
  library.Find("ncclGetUniqueId", &nccl.GetUniqueId);
  library.Find("ncclCommInitRankConfig", &nccl.CommInitRankConfig);
  library.Find("ncclCommGetAsyncError", &nccl.CommGetAsyncError);
  library.Find("ncclCommFinalize", &nccl.CommFinalize);
  library.Find("ncclCommDestroy", &nccl.CommDestroy);
  library.Find("ncclCommAbort", &nccl.CommAbort);
  library.Find("ncclGroupStart", &nccl.GroupStart);
  library.Find("ncclGroupEnd", &nccl.GroupEnd);
  library.Find("ncclBroadcast", &nccl.Broadcast);
  library.Find("ncclSend", &nccl.Send);
  library.Find("ncclRecv", &nccl.Recv);
  library.Find("ncclGetErrorString", &nccl.GetErrorString);
  RETURN_IF_ERROR(library.status());
  int version = 0;
  if (nccl.GetVersion(&version) != kNcclSuccess || version < kOldest) {
    return library.Lacks("what NCCL 2.14 brought");
  }
  return nccl;
}

}  // namespace

absl::StatusOr<const NcclLibrary*> LoadNccl() { return LoadedOnce<NcclLibrary, Load>(); }

}  // namespace stridewise
