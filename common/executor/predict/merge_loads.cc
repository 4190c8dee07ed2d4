#include "common/executor/predict/merge_loads.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>

#include "common/executor/trace.h"

namespace stridewise::executor {
namespace {

// Loads of a warp that may still grow. As many as a compiler has in flight: those of an unrolled
// loop over a tile's row, each with a load from another tile beside it.
constexpr size_t kWindow = 16;

struct Open {
  size_t at;  // Its index in the result.
  int bytes;  // Of a lane, so far.
};

unsigned Log2(int bytes) {
  unsigned log2 = 0;
  while (1 << log2 < bytes) ++log2;
  return log2;
}

bool Follows(const AccessRequest& first, int bytes, const AccessRequest& next) {
  if (first.lanes != next.lanes || first.barriers != next.barriers) return false;
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if ((first.lanes >> lane & 1) != 0 && next.offset[lane] != first.offset[lane] + bytes) {
      return false;
    }
  }
  return true;
}

bool IsAligned(const AccessRequest& request, int bytes) {
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if ((request.lanes >> lane & 1) != 0 && request.offset[lane] % bytes != 0) return false;
  }
  return true;
}

}  // namespace

std::vector<AccessRequest> MergeSharedLoads(absl::Span<const AccessRequest> requests,
                                            int most_bytes) {
  std::vector<AccessRequest> merged;
  std::map<std::pair<uint64_t, int>, std::deque<Open>> open_of;  // By block and warp.
  std::vector<std::pair<size_t, int>> grown;                     // Index in `merged`, bytes.
  for (const AccessRequest& request : requests) {
    const int own = SiteBytes(request.site);
    if (SiteKind(request.site) != EventKind::kSharedLoad || own >= most_bytes) {
      merged.push_back(request);
      continue;
    }
    std::deque<Open>& open = open_of[{request.block, request.warp}];
    const auto found = std::find_if(open.begin(), open.end(), [&](const Open& o) {
      return o.bytes + own <= most_bytes && Follows(merged[o.at], o.bytes, request);
    });
    if (found != open.end()) {
      found->bytes += own;
      grown.emplace_back(found->at, found->bytes);
      continue;
    }
    if (IsAligned(request, most_bytes)) {
      if (open.size() == kWindow) open.pop_front();
      open.push_back({merged.size(), own});
    }
    merged.push_back(request);
  }
  for (const auto& [at, bytes] : grown) {
    Site& site = merged[at].site;
    site = MakeSite(SitePc(site), EventKind::kSharedLoad, Log2(bytes));
  }
  return merged;
}

}  // namespace stridewise::executor
