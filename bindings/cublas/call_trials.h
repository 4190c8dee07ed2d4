// Which of two ways to make a call is faster, from measured times of both: what
// STRIDEWISE_CUBLAS=measure decides by. Arithmetic only; trial_timer.h measures.

#ifndef STRIDEWISE_BINDINGS_CUBLAS_CALL_TRIALS_H_
#define STRIDEWISE_BINDINGS_CUBLAS_CALL_TRIALS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace stridewise::drop_in {

enum class Way { kOurs, kCublas };

// All that the time of a call depends on: calls with equal shapes share their trials.
using CallShape = std::array<int64_t, 17>;

// Safe to call from any thread.
class CallTrials {
 public:
  // Of each way. The least time counts: others are of calls that waited for the host.
  static constexpr int kSamples = 4;
  // Calls of further shapes are made as predicted.
  static constexpr size_t kMostShapes = 1 << 16;

  struct Turn {
    Way way = Way::kOurs;
    bool timed = false;  // Add() or Abandon() is to follow.
  };

  // Returns how the next call of this shape is to be made: either way in turn until there are
  // samples of both, then the faster one. Until all times are known, calls are made as predicted.
  Turn Next(const CallShape& shape, Way predicted);

  // Returns how a call is to be made that cannot be timed.
  Way Known(const CallShape& shape, Way predicted) const;

  // Adds the time of a call that Next() had timed.
  void Add(const CallShape& shape, Way way, double us);

  // Takes the other way from now on: this one failed.
  void Abandon(const CallShape& shape, Way way);

 private:
  struct Trial {
    int started[2] = {};
    int finished[2] = {};
    double least_us[2] = {};
    bool decided = false;
    Way faster = Way::kOurs;
  };

  mutable std::mutex mutex_;
  std::map<CallShape, Trial> trials_;
};

}  // namespace stridewise::drop_in

#endif  // STRIDEWISE_BINDINGS_CUBLAS_CALL_TRIALS_H_
