#include "common/streaming/tile_list.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace stridewise {

TileList::TileList(std::vector<bool> done, const StreamOptions& options)
    : options_(options),
      done_(std::move(done)),
      finished_(std::count(done_.begin(), done_.end(), true)) {}

std::optional<int64_t> TileList::Take() {
  if (Stopped()) return std::nullopt;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto tiles = static_cast<int64_t>(done_.size());
  while (next_ < tiles && done_[next_]) ++next_;
  if (next_ == tiles) return std::nullopt;
  return next_++;
}

void TileList::Finish(int64_t tile) {
  const std::lock_guard<std::mutex> lock(mutex_);
  done_[tile] = true;
  ++finished_;
  if (options_.checkpoint != nullptr) options_.checkpoint->done[tile] = true;
  if (options_.progress) options_.progress(finished_, static_cast<int64_t>(done_.size()));
}

void TileList::Fail(const absl::Status& error) {
  const std::lock_guard<std::mutex> lock(mutex_);
  error_.Update(error);
}

bool TileList::Stopped() const {
  if (options_.cancel != nullptr && options_.cancel->load()) return true;
  const std::lock_guard<std::mutex> lock(mutex_);
  return !error_.ok();
}

absl::Status TileList::Result() const {
  const auto tiles = static_cast<int64_t>(done_.size());
  if (!error_.ok() || finished_ == tiles) return error_;
  return absl::CancelledError(absl::StrCat("cancelled after ", finished_, " of ", tiles, " tiles"));
}

}  // namespace stridewise
