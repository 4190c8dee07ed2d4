#include "common/executor/predict/store_combiner.h"

#include <algorithm>

namespace stridewise::executor {
namespace {

// Sectors of the block's stores that may lie between two that are combined. From 16 to 31 is the
// same for blocks of 16 and of 32 threads a row.
constexpr uint64_t kWindow = 16;

bool HaveOneInCommon(const std::set<uint64_t>& a, const std::set<uint64_t>& b) {
  return std::any_of(a.begin(), a.end(), [&](uint64_t sector) { return b.count(sector) != 0; });
}

}  // namespace

void StoreCombiner::Load(const AccessRequest& request, const Sectors& sectors) {
  auto waited = std::make_shared<std::set<uint64_t>>();
  for (const auto& [sector, bytes] : sectors) waited->insert(sector);
  waited_[{request.block, request.warp}] = std::move(waited);
}

StoreCombiner::Sectors StoreCombiner::Store(const AccessRequest& request, const Sectors& sectors) {
  const Waited waited = waited_[{request.block, request.warp}];
  uint64_t& stored = stored_[request.block];
  Sectors before;
  for (const auto& [sector, bytes] : sectors) {
    const auto found = pending_.find(sector);
    if (found != pending_.end() && found->second.block == request.block &&
        found->second.warp != request.warp && stored - found->second.at <= kWindow &&
        found->second.waited && waited && HaveOneInCommon(*found->second.waited, *waited)) {
      before[sector] = found->second.bytes;
      found->second.bytes |= bytes;
    } else {
      before[sector] = 0;
      pending_[sector] = {request.block, request.warp, stored, bytes, waited};
    }
  }
  stored += sectors.size();
  return before;
}

}  // namespace stridewise::executor
