// Writes runs of bytes, past the caches where they are not to stay there. Runs that follow each
// other are gathered in a block first: a line that two runs share is then stored once.

#ifndef STRIDEWISE_TRANSPOSE_CPU_RUN_WRITER_H_
#define STRIDEWISE_TRANSPOSE_CPU_RUN_WRITER_H_

#include <cstdint>
#include <cstring>

#include "transpose/cpu/block.h"
#include "transpose/cpu/square.h"

namespace stridewise {

class RunWriter {
 public:
  explicit RunWriter(bool streams) : streams_(streams) {}
  RunWriter(const RunWriter&) = delete;
  RunWriter& operator=(const RunWriter&) = delete;
  ~RunWriter() {
    Flush();
    if (streams_) EndStreaming();
  }

  void Write(const uint8_t* from, uint8_t* to, int64_t bytes) {
    if (!streams_) {
      std::memcpy(to, from, static_cast<size_t>(bytes));
    } else if (bytes > kLongRun) {
      Flush();
      StreamCopy(from, to, bytes);
    } else {
      std::memcpy(Place(to, bytes), from, static_cast<size_t>(bytes));
    }
  }

  // Returns where the caller stores up to 64 KB, which are then written to `to`.
  uint8_t* Place(uint8_t* to, int64_t bytes) {
    if (to != to_ + used_ || used_ + bytes > kBlockBytes) {
      Flush();
      to_ = to;
    }
    // Lines of the block are those of the destination.
    uint8_t* const place = block_ + reinterpret_cast<uintptr_t>(to_) % kLineBytes + used_;
    used_ += bytes;
    return place;
  }

 private:
  static constexpr int64_t kBlockBytes = 64 << 10;
  static constexpr int64_t kLongRun = 512;

  void Flush() {
    if (used_ > 0) {
      StreamCopy(block_ + reinterpret_cast<uintptr_t>(to_) % kLineBytes, to_, used_);
    }
    to_ = nullptr;
    used_ = 0;
  }

  const bool streams_;
  uint8_t* to_ = nullptr;
  int64_t used_ = 0;
  alignas(64) uint8_t block_[kBlockBytes + kLineBytes];
};

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_CPU_RUN_WRITER_H_
