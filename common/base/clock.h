// Where time comes from, so that timing code can be tested on a clock that the test moves by hand.

#ifndef STRIDEWISE_COMMON_BASE_CLOCK_H_
#define STRIDEWISE_COMMON_BASE_CLOCK_H_

#include <chrono>

namespace stridewise {

class Clock {
 public:
  virtual ~Clock() = default;

  // Seconds since an arbitrary moment; never goes back.
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

// Stands still until told otherwise.
class FakeClock : public Clock {
 public:
  double Now() const override { return now_; }
  void Advance(double seconds) { now_ += seconds; }

 private:
  double now_ = 0;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_CLOCK_H_
