// What callers of streamed operations choose, watch and keep.

#ifndef STRIDEWISE_COMMON_STREAMING_STREAM_OPTIONS_H_
#define STRIDEWISE_COMMON_STREAMING_STREAM_OPTIONS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace stridewise {

// Which tiles of a result are in host memory. A call that was cancelled leaves it with those that
// are finished; the next call of the same problem computes the others. It may be stored anywhere in
// between, as long as the result is.
struct StreamCheckpoint {
  int64_t tile_rows = 0;  // 0: the call chooses.
  int64_t tile_cols = 0;
  std::vector<bool> done;  // By tile, along the rows of tiles.
};

// Rates that plans and predictions are computed from. The defaults are those of an H200, FP32, with
// pinned memory; StreamedMatMul() puts the rate of other types and precisions in place of `flops`.
struct StreamRates {
  double flops = 57e12;     // Of a product; a multiply-add counts as two.
  double bytes_in = 48e9;   // From the host, each second and device, while others go out.
  double bytes_out = 48e9;  // To the host.
  // Of the host's memory, for all devices together, each way while copies go both ways.
  double host_bytes = 77e9;
};

// The same with pageable memory.
inline constexpr StreamRates kPageableRates = {57e12, 4.5e9, 4.5e9};

struct StreamOptions {
  std::vector<int> devices;          // Each takes tile after tile. Empty: the current device.
  int64_t device_bytes = 0;          // The most that is allocated on each; 0: 90 % of what is free.
  std::optional<StreamRates> rates;  // None: by whether the matrices are pinned.

  // Called when a tile is in host memory, by one thread at a time; not necessarily the caller's.
  std::function<void(int64_t done, int64_t tiles)> progress;

  // Borrowed, null for none. Once it is true, no step of a tile begins; those that run end.
  const std::atomic<bool>* cancel = nullptr;

  // Borrowed, null for none. Read at first, and written by the call.
  StreamCheckpoint* checkpoint = nullptr;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_STREAMING_STREAM_OPTIONS_H_
