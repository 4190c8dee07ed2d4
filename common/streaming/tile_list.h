// The tiles of a streamed operation that devices take, one after the other.

#ifndef STRIDEWISE_COMMON_STREAMING_TILE_LIST_H_
#define STRIDEWISE_COMMON_STREAMING_TILE_LIST_H_

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "common/streaming/stream_options.h"

namespace stridewise {

// Calls may be made from any thread. Borrows the options.
class TileList {
 public:
  // `done` says what need not be computed.
  TileList(std::vector<bool> done, const StreamOptions& options);

  // Returns a tile that nobody has taken; nothing where there is none left or work has stopped.
  std::optional<int64_t> Take();

  // Says that a tile is in host memory.
  void Finish(int64_t tile);

  // Stops all work. The first error is kept.
  void Fail(const absl::Status& error);

  // Returns whether to begin nothing more.
  bool Stopped() const;

  // Returns the error, Cancelled where tiles are left, or OK. REQUIRES: nobody is at work.
  absl::Status Result() const;

  const std::vector<bool>& done() const { return done_; }

 private:
  const StreamOptions& options_;
  mutable std::mutex mutex_;
  std::vector<bool> done_;
  int64_t finished_ = 0;
  int64_t next_ = 0;
  absl::Status error_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_STREAMING_TILE_LIST_H_
