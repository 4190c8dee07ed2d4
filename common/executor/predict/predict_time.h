// Predicts how long a launch takes on a machine, and what limits it.
//
// Each multiprocessor is a closed queueing network. Its customers are the warps that it holds at a
// time; each visits the stations below, one after the other, and then spends the latency that
// nobody else lengthens. Mean value analysis gives the number of warps that end in a cycle. Where a
// station is busy all the time, it limits; where there are too few warps to keep one busy, latency
// does; between the two, both cost time, as they do on a GPU. docs/predicted_time.md has the
// formulas.

#ifndef STRIDEWISE_COMMON_EXECUTOR_PREDICT_PREDICT_TIME_H_
#define STRIDEWISE_COMMON_EXECUTOR_PREDICT_PREDICT_TIME_H_

#include <array>
#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "common/executor/predict/demand.h"
#include "common/executor/predict/machine_model.h"
#include "common/executor/trace.h"

namespace stridewise::executor {

enum class Limiter {
  kDram,     // Bytes to and from DRAM.
  kL2,       // Sectors to and from L2.
  kL1,       // Cache lines of requests to global memory.
  kShared,   // Wavefronts of shared memory, bank conflicts among them.
  kIssue,    // Instructions, or the multiply-add units.
  kBlocks,   // Blocks that the GPU starts.
  kLatency,  // Waiting for memory, barriers and the start of blocks with too few warps.
  kLaunch,   // What a kernel that does nothing takes.
};
inline constexpr int kLimiters = 8;

absl::string_view LimiterName(Limiter limiter);  // "DRAM", "shared memory" and so on.

struct Prediction {
  double ms = 0;
  std::array<double, kLimiters> ms_of = {};  // Add up to `ms`.
  std::map<Site, double> ms_of_site;         // Of DRAM, L2, L1 and shared memory, by instruction.

  double operator[](Limiter limiter) const { return ms_of[static_cast<int>(limiter)]; }
  Limiter limiter() const;  // What most of the time goes to.
  double share() const;     // The fraction of the time that goes to it, from 0 to 1.
};

// A demand without blocks costs the launch.
Prediction PredictTime(const Demand& demand, const MachineModel& machine,
                       const CommonRates& rates = CommonRates());

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_PREDICT_PREDICT_TIME_H_
