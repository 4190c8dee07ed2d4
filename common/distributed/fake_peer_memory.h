// Memory of other ranks for tests, whose ranks are threads and whose devices are the host.

#ifndef STRIDEWISE_COMMON_DISTRIBUTED_FAKE_PEER_MEMORY_H_
#define STRIDEWISE_COMMON_DISTRIBUTED_FAKE_PEER_MEMORY_H_

#include <atomic>
#include <cstring>

#include "common/distributed/peer_memory.h"

namespace stridewise {

class FakePeerMemory : public PeerMemory {
 public:
  // Told to, reaches no other's.
  explicit FakePeerMemory(bool reaches = true) : reaches_(reaches) {}

  absl::StatusOr<Name> Export(void* memory) override {
    Name name;
    std::memcpy(name.bytes, &memory, sizeof(memory));
    return name;
  }
  absl::StatusOr<void*> Import(const Name& name) override {
    if (!reaches_) return absl::UnavailableError("told to reach nothing");
    void* memory = nullptr;
    std::memcpy(&memory, name.bytes, sizeof(memory));
    ++reached_;
    return memory;
  }
  absl::Status Leave() override {
    reached_ = 0;
    return absl::OkStatus();
  }

  // Returns how many memories of others are reached.
  int reached() const { return reached_; }

 private:
  bool reaches_;
  std::atomic<int> reached_{0};
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_DISTRIBUTED_FAKE_PEER_MEMORY_H_
