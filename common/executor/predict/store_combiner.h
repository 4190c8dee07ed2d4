// Finds stores of different warps that reach L2 as one write of a sector.
//
// L1 passes stores on, and combines two to the same sector where one follows closely on the other.
// So it is with warps that waited for the same sectors. Of copy_col with blocks of 16x16 an H200
// writes 46 % of the sectors that its warps store in parts, of naive_row, whose warps wait for rows
// of their own, 93 % (docs/results/h200/transpose_profile.csv: l2_write_sectors over
// store_transactions, in proportion to copy_row's); with blocks of 32x8, where a store goes to 32
// lines, copy_col takes as long as if none were combined.

#ifndef STRIDEWISE_COMMON_EXECUTOR_PREDICT_STORE_COMBINER_H_
#define STRIDEWISE_COMMON_EXECUTOR_PREDICT_STORE_COMBINER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

#include "common/executor/access_record.h"

namespace stridewise::executor {

class StoreCombiner {
 public:
  // The sectors of a request to global memory, each with a bit for each byte.
  using Sectors = std::map<uint64_t, uint32_t>;

  // A warp waits for these sectors before it stores.
  void Load(const AccessRequest& request, const Sectors& sectors);

  // Returns the sectors of a store, each with the bytes that another warp of the block has written
  // just before and that go to L2 in one write with it; 0 if there are none.
  Sectors Store(const AccessRequest& request, const Sectors& sectors);

 private:
  using Waited = std::shared_ptr<const std::set<uint64_t>>;

  // A write of a sector to which more may come.
  struct Pending {
    uint64_t block;
    int warp;
    uint64_t at;  // Sectors that the block had stored before.
    uint32_t bytes;
    Waited waited;  // By its first warp.
  };

  std::map<std::pair<uint64_t, int>, Waited> waited_;  // By block and warp.
  std::unordered_map<uint64_t, Pending> pending_;      // By sector.
  std::unordered_map<uint64_t, uint64_t> stored_;      // By block: its sectors so far.
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_PREDICT_STORE_COMBINER_H_
