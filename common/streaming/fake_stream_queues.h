// A device of tests: its memory is the host's, and its queues run in any order that their events
// allow, drawn from a seed. With three seeds of four one of the queues is slow: it does nothing
// that nobody waits for. What an event fails to order goes wrong for some of the seeds.

#ifndef STRIDEWISE_COMMON_STREAMING_FAKE_STREAM_QUEUES_H_
#define STRIDEWISE_COMMON_STREAMING_FAKE_STREAM_QUEUES_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/streaming/stream_queues.h"

namespace stridewise {

class FakeStreamQueues : public StreamQueues {
 public:
  // `bytes` is the memory of the device. The copy or computation number `fails_at` fails, as all
  // work behind it.
  explicit FakeStreamQueues(uint64_t seed, int64_t bytes = std::numeric_limits<int64_t>::max(),
                            int64_t fails_at = -1)
      : random_(seed), slow_(seed % 4), bytes_left_(bytes), fails_at_(fails_at) {}

  ~FakeStreamQueues() override { Finish().IgnoreError(); }

  absl::Status Enter() override { return absl::OkStatus(); }

  absl::StatusOr<void*> Allocate(int64_t bytes) override {
    if (bytes > bytes_left_) {
      return absl::ResourceExhaustedError(absl::StrCat("device memory: ", bytes, " requested"));
    }
    bytes_left_ -= bytes;
    // NaN, to be read by nobody.
    memory_.push_back(std::make_unique<std::vector<uint8_t>>(bytes + kCanaryBytes, 0xff));
    return memory_.back()->data();
  }

  absl::Status Copy(StreamQueue queue, const BlockCopy& copy) override {
    return Push(queue, {[copy] {
                  for (int64_t row = 0; row < copy.rows; ++row) {
                    std::memcpy(static_cast<uint8_t*>(copy.to) + row * copy.to_pitch,
                                static_cast<const uint8_t*>(copy.from) + row * copy.from_pitch,
                                copy.row_bytes);
                  }
                  return absl::OkStatus();
                }});
  }

  absl::Status RunOn(StreamQueue queue, std::function<absl::Status(cudaStream_t)> work) override {
    return Push(queue, {[work = std::move(work)] { return work(nullptr); }});
  }

  absl::Status Record(StreamQueue queue, int event) override {
    return Push(queue, {nullptr, event, ++recorded_[event], false});
  }

  absl::Status Wait(StreamQueue queue, int event) override {
    return Push(queue, {nullptr, event, recorded_[event], true});
  }

  absl::Status WaitOnHost(int event) override {
    const int64_t ticket = recorded_[event];
    while (reached_[event] < ticket) RETURN_IF_ERROR(RunOne());
    return error_;
  }

  absl::StatusOr<bool> IsDone(int event) override {
    RETURN_IF_ERROR(error_);
    return reached_[event] >= recorded_[event];
  }

  absl::Status Finish() override {
    while (error_.ok() && !Idle()) RunOne().IgnoreError();
    return error_;
  }

  // Returns whether nobody wrote behind the buffers.
  bool CanariesAreWhole() const {
    for (const auto& buffer : memory_) {
      for (size_t i = buffer->size() - kCanaryBytes; i < buffer->size(); ++i) {
        if ((*buffer)[i] != 0xff) return false;
      }
    }
    return true;
  }

 private:
  static constexpr int64_t kCanaryBytes = 64;

  struct Item {
    std::function<absl::Status()> work;  // Null for an event.
    int event = 0;
    int64_t ticket = 0;
    bool is_wait = false;
  };

  absl::Status Push(StreamQueue queue, Item item) {
    queues_[static_cast<int>(queue)].push_back(std::move(item));
    // Anything from nothing to all of the work is done before the host goes on.
    for (uint64_t left = random_() % 4; left > 0 && error_.ok(); --left) {
      if (!RunOneOf(false)) break;
    }
    return error_;
  }

  bool Idle() const {
    for (const auto& queue : queues_) {
      if (!queue.empty()) return false;
    }
    return true;
  }

  bool CanRun(const std::deque<Item>& queue) const {
    return !queue.empty() &&
           (!queue.front().is_wait || reached_[queue.front().event] >= queue.front().ticket);
  }

  // Runs the head of a queue that need not wait, beginning with any of the three. Returns false
  // where there is none. The slow one takes part only if asked for.
  bool RunOneOf(bool with_slow) {
    const uint64_t first = random_();
    for (uint64_t i = 0; i < kStreamQueues; ++i) {
      const uint64_t number = (first + i) % kStreamQueues;
      std::deque<Item>& queue = queues_[number];
      if ((number == slow_ && !with_slow) || !CanRun(queue)) continue;
      const Item item = std::move(queue.front());
      queue.pop_front();
      if (item.work) {
        if (error_.ok() && work_done_++ == fails_at_) error_ = absl::InternalError("told to fail");
        if (error_.ok()) error_.Update(item.work());
      } else if (!item.is_wait) {
        reached_[item.event] = item.ticket;
      }
      return true;
    }
    return false;
  }

  absl::Status RunOne() {
    if (!RunOneOf(false) && !RunOneOf(true)) {
      error_ = absl::InternalError("every queue waits for another, or the host for no record");
    }
    return error_;
  }

  std::mt19937_64 random_;
  uint64_t slow_;  // The number of a queue, or more.
  int64_t bytes_left_;
  int64_t fails_at_;
  int64_t work_done_ = 0;
  std::vector<std::unique_ptr<std::vector<uint8_t>>> memory_;
  std::array<std::deque<Item>, kStreamQueues> queues_;
  std::array<int64_t, kEvents> recorded_{};
  std::array<int64_t, kEvents> reached_{};
  absl::Status error_;
};

// Devices of tests that work together, each with a seed of its own.
class FakeDevices {
 public:
  // As FakeStreamQueues() of seeds from `seed` on.
  FakeDevices(int64_t count, uint64_t seed, int64_t bytes, int64_t fails_at = -1) {
    for (int64_t i = 0; i < count; ++i) {
      owned_.push_back(std::make_unique<FakeStreamQueues>(seed + i, bytes, fails_at));
      queues_.push_back(owned_.back().get());
    }
  }

  const std::vector<StreamQueues*>& queues() const { return queues_; }
  bool CanariesAreWhole() const {
    for (const auto& device : owned_) {
      if (!device->CanariesAreWhole()) return false;
    }
    return true;
  }

 private:
  std::vector<std::unique_ptr<FakeStreamQueues>> owned_;
  std::vector<StreamQueues*> queues_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_STREAMING_FAKE_STREAM_QUEUES_H_
