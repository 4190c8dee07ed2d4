// gpu_peer_memory.h in a build without a CUDA toolkit.

// gpu_peer_memory.h in a build without a CUDA toolkit.

#include "common/distributed/gpu_peer_memory.h"

namespace stridewise {
namespace {

class NoPeerMemory : public PeerMemory {
 public:
  absl::StatusOr<Name> Export(void*) override { return NoCuda(); }
  absl::StatusOr<void*> Import(const Name&) override { return NoCuda(); }
  absl::Status Leave() override { return absl::OkStatus(); }

 private:
  static absl::Status NoCuda() { return absl::UnavailableError("built without CUDA"); }
};

}  // namespace

std::unique_ptr<PeerMemory> MakeGpuPeerMemory() { return std::make_unique<NoPeerMemory>(); }

}  // namespace stridewise
