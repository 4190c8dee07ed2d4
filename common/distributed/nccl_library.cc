#include "common/distributed/nccl_library.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/shared_library.h"

namespace stridewise {
namespace {

constexpr char kVariable[] = "STRIDEWISE_NCCL";
constexpr int kOldest = 21400;

absl::StatusOr<NcclLibrary> Load() {
  const SharedLibrary library(kVariable, {"libnccl.so.2", "/usr/local/cuda/lib64/libnccl.so.2"});
  if (!library.is_loaded()) {
    return absl::UnavailableError(absl::StrCat("NCCL: ", library.error()));
  }
  NcclLibrary nccl = {};
  const char* missing = nullptr;
  const auto find = [&](const char* name, auto* function) {
    library.Find(name, function, &missing);
  };
  find("ncclGetVersion", &nccl.GetVersion);
  find("ncclGetUniqueId", &nccl.GetUniqueId);
  find("ncclCommInitRankConfig", &nccl.CommInitRankConfig);
  find("ncclCommGetAsyncError", &nccl.CommGetAsyncError);
  find("ncclCommFinalize", &nccl.CommFinalize);
  find("ncclCommDestroy", &nccl.CommDestroy);
  find("ncclCommAbort", &nccl.CommAbort);
  find("ncclGroupStart", &nccl.GroupStart);
  find("ncclGroupEnd", &nccl.GroupEnd);
  find("ncclBroadcast", &nccl.Broadcast);
  find("ncclSend", &nccl.Send);
  find("ncclRecv", &nccl.Recv);
  find("ncclGetErrorString", &nccl.GetErrorString);
  int version = 0;
  if (missing == nullptr && (nccl.GetVersion(&version) != kNcclSuccess || version < kOldest)) {
    missing = "what NCCL 2.14 brought";
  }
  if (missing == nullptr) return nccl;
  return absl::UnavailableError(
      absl::StrCat("NCCL: the library has not ", missing, "; set ", kVariable, " to another"));
}

}  // namespace

absl::StatusOr<const NcclLibrary*> LoadNccl() {
  static const auto& loaded = *new absl::StatusOr<NcclLibrary>(Load());
  if (!loaded.ok()) return loaded.status();
  return &*loaded;
}

}  // namespace stridewise
