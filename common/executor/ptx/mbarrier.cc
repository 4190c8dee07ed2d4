#include "common/executor/ptx/mbarrier.h"

#include "absl/strings/str_cat.h"

namespace stridewise::executor {

std::string Mbarrier::Arrive(uint32_t count, int64_t expect_bytes, bool drop) {
  if (count == 0 || count > pending_) {
    return absl::StrCat(count, " arrivals where ", PendingText());
  }
  const std::string error = ExpectBytes(expect_bytes);
  if (!error.empty()) return error;
  pending_ -= count;
  if (drop) expected_ -= count;
  CompleteIfNothingIsPending();
  return "";
}

std::string Mbarrier::ExpectBytes(int64_t bytes) {
  if (bytes < 0 || bytes_ + bytes > kMaxBytes) {
    return absl::StrCat("the phase would wait for ", bytes_ + bytes, " bytes; it can wait for ",
                        kMaxBytes);
  }
  bytes_ += bytes;
  CompleteIfNothingIsPending();
  return "";
}

std::string Mbarrier::CompleteBytes(int64_t bytes) {
  if (bytes < 0 || bytes_ - bytes < -kMaxBytes) {
    return absl::StrCat(bytes, " bytes arrive where ", PendingText());
  }
  bytes_ -= bytes;
  CompleteIfNothingIsPending();
  return "";
}

std::string Mbarrier::PendingText() const {
  return absl::StrCat(pending_, " of ", expected_, " arrivals and ", bytes_, " bytes are pending");
}

void Mbarrier::CompleteIfNothingIsPending() {
  if (pending_ != 0 || bytes_ != 0) return;
  ++phase_;
  pending_ = expected_;
  acquired_ = released_;
}

}  // namespace stridewise::executor
