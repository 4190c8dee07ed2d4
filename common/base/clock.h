// Clocks as an interface, so that a test can run timing code on a clock that it sets itself.

#ifndef STRIDEWISE_COMMON_BASE_CLOCK_H_
#define STRIDEWISE_COMMON_BASE_CLOCK_H_

#include <chrono>

namespace stridewise {

class Clock {
 public:
  virtual ~Clock() = default;

  // Returns the seconds since an arbitrary moment; never decreases.
  virtual double Now() const = 0;
};

// The machine's monotonic clock.
class SteadyClock : public Clock {
 public:
  double Now() const override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
};

// A clock that moves only by Advance().
class FakeClock : public Clock {
 public:
  double Now() const override { return now_; }
  void Advance(double seconds) { now_ += seconds; }

 private:
  double now_ = 0;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_CLOCK_H_
