// Replays recorded requests in the order in which resident blocks would issue them, through the
// caches of the multiprocessors that they run on.

#ifndef STRIDEWISE_COMMON_EXECUTOR_PREDICT_REPLAY_H_
#define STRIDEWISE_COMMON_EXECUTOR_PREDICT_REPLAY_H_

#include <cstdint>
#include <map>

#include "absl/types/span.h"
#include "common/executor/access_record.h"
#include "common/executor/predict/demand.h"
#include "common/executor/trace.h"

namespace stridewise::executor {

struct ReplayOptions {
  uint64_t multiprocessors = 1;  // Block i runs on multiprocessor i modulo this.
  uint64_t resident_blocks = 1;  // That a multiprocessor holds at a time.
  double l1_bytes = 0;           // Of each multiprocessor; 0 where L1 keeps no global memory.
  double l2_bytes = 0;
  int loads_together = 8;  // Of a warp, of global memory, before it waits; 0: it never waits.
};

struct ReplayCounts {
  std::map<Site, Totals> sites;
  Totals rounds;  // kL1Rounds, kL2Rounds and kDramRounds.
};

// Counts what the requests ask of each part of the memory. Warps of the blocks that are resident
// together issue their n-th requests together. A store leaves its sectors in L2 and not in L1.
ReplayCounts Replay(absl::Span<const AccessRequest> requests, const ReplayOptions& options);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_PREDICT_REPLAY_H_
