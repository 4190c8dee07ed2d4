#include "common/streaming/stream_job.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <thread>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/streaming/tile_list.h"

namespace stridewise {
namespace {

// The events of buffer 0 or 1.
int Loaded(int buffer) { return buffer; }
int Read(int buffer) { return 2 + buffer; }      // The input buffer may be filled again.
int Computed(int buffer) { return 4 + buffer; }  // The output buffer may be stored.
int Stored(int buffer) { return 6 + buffer; }    // The output buffer may be filled again.

// Works on one device.
class Worker {
 public:
  Worker(const StreamJob& job, StreamQueues* queues, TileList* tiles)
      : job_(job), queues_(*queues), tiles_(*tiles) {}

  absl::Status RunAll() {
    RETURN_IF_ERROR(queues_.Enter());
    RETURN_IF_ERROR(Allocate());
    next_ = tiles_.Take();
    while (next_.has_value()) RETURN_IF_ERROR(RunTile(*next_));
    RETURN_IF_ERROR(queues_.Finish());
    return FinishStores();
  }

 private:
  absl::Status Allocate() {
    for (int i = 0; i < 2; ++i) {
      ASSIGN_OR_RETURN(inputs_[i], queues_.Allocate(job_.input_bytes()));
      ASSIGN_OR_RETURN(outputs_[i], queues_.Allocate(job_.output_bytes()));
    }
    ASSIGN_OR_RETURN(workspace_, queues_.Allocate(job_.workspace_bytes()));
    return absl::OkStatus();
  }

  // Computes and stores a tile, and takes the next one.
  absl::Status RunTile(int64_t tile) {
    next_.reset();
    const int out = tiles_begun_++ % 2;
    StreamStep step = {tile, 0, 0};
    while (step.first < job_.slices()) {
      if (tiles_.Stopped()) return absl::OkStatus();
      // As many as were begun before: each load lasts about as long as the step before it.
      step.slices = std::min(
          {std::max<int64_t>(1, slices_begun_), job_.slices_at_once(), job_.slices() - step.first});
      RETURN_IF_ERROR(RunStep(step, out));
      step.first += step.slices;
      slices_begun_ += step.slices;
    }
    return absl::OkStatus();
  }

  absl::Status RunStep(const StreamStep& step, int out) {
    const int in = steps_begun_++ % 2;
    // The host goes no further ahead than this, so that it can stop between two steps. The step
    // between is still to come for the device.
    RETURN_IF_ERROR(queues_.WaitOnHost(Read(in)));
    RETURN_IF_ERROR(FinishStores());
    if (step.first == 0) {
      RETURN_IF_ERROR(queues_.Wait(StreamQueue::kCompute, Stored(out)));
      const auto loads = job_.OutputLoads(step.tile, outputs_[out]);
      if (!loads.empty()) RETURN_IF_ERROR(queues_.Wait(StreamQueue::kIn, Stored(out)));
      for (const BlockCopy& load : loads) RETURN_IF_ERROR(queues_.Copy(StreamQueue::kIn, load));
    }
    for (const BlockCopy& load : job_.Loads(step, inputs_[in])) {
      RETURN_IF_ERROR(queues_.Copy(StreamQueue::kIn, load));
    }
    RETURN_IF_ERROR(queues_.Record(StreamQueue::kIn, Loaded(in)));
    RETURN_IF_ERROR(queues_.Wait(StreamQueue::kCompute, Loaded(in)));
    const StreamBuffers buffers = {inputs_[in], outputs_[out], workspace_};
    if (step.first + step.slices < job_.slices()) {
      RETURN_IF_ERROR(Compute(step, {}, buffers));
    } else {
      RETURN_IF_ERROR(FinishTile(step, buffers, out));
    }
    return queues_.Record(StreamQueue::kCompute, Read(in));
  }

  absl::Status Compute(const StreamStep& step, const StreamBand& band,
                       const StreamBuffers& buffers) {
    return queues_.Run([this, step, band, buffers](cudaStream_t stream) {
      return job_.Compute(step, band, buffers, stream);
    });
  }

  // Computes the last step of a tile and stores the tile.
  absl::Status FinishTile(const StreamStep& step, const StreamBuffers& buffers, int out) {
    next_ = tiles_.Take();
    const int64_t bands = next_.has_value() ? 1 : job_.bands();
    for (int64_t band = 0; band < bands; ++band) {
      RETURN_IF_ERROR(Compute(step, {band, bands}, buffers));
      RETURN_IF_ERROR(queues_.Record(StreamQueue::kCompute, Computed(out)));
      RETURN_IF_ERROR(queues_.Wait(StreamQueue::kOut, Computed(out)));
      if (band == 0) {
        // Which the compute queue has waited for before it began this tile.
        RETURN_IF_ERROR(queues_.WaitOnHost(Stored(out)));
        RETURN_IF_ERROR(FinishStores());
      }
      const BlockCopy store = job_.Store(step.tile, {band, bands}, outputs_[out]);
      if (store.rows > 0) RETURN_IF_ERROR(queues_.Copy(StreamQueue::kOut, store));
    }
    storing_[out] = step.tile;
    return queues_.Record(StreamQueue::kOut, Stored(out));
  }

  // Counts the tiles whose stores are done.
  absl::Status FinishStores() {
    for (int i = 0; i < 2; ++i) {
      if (!storing_[i].has_value()) continue;
      ASSIGN_OR_RETURN(const bool done, queues_.IsDone(Stored(i)));
      if (!done) continue;
      tiles_.Finish(*storing_[i]);
      storing_[i].reset();
    }
    return absl::OkStatus();
  }

  const StreamJob& job_;
  StreamQueues& queues_;
  TileList& tiles_;
  void* inputs_[2] = {};
  void* outputs_[2] = {};
  void* workspace_ = nullptr;
  int64_t tiles_begun_ = 0;
  int64_t steps_begun_ = 0;
  int64_t slices_begun_ = 0;
  std::optional<int64_t> next_;  // Tile.
  std::optional<int64_t> storing_[2];
};

// Returns what the checkpoint calls done, after giving a new one its tiles.
absl::StatusOr<std::vector<bool>> Begin(const StreamJob& job, StreamCheckpoint* checkpoint) {
  const StreamCheckpoint first = job.first_checkpoint();
  if (checkpoint == nullptr) return first.done;
  if (checkpoint->tile_rows == 0 || checkpoint->done.empty()) *checkpoint = first;
  if (checkpoint->tile_rows != first.tile_rows || checkpoint->tile_cols != first.tile_cols ||
      checkpoint->done.size() != first.done.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("checkpoint: ", checkpoint->done.size(), " tiles of ", checkpoint->tile_rows,
                     "x", checkpoint->tile_cols, "; the problem has ", first.done.size(), " of ",
                     first.tile_rows, "x", first.tile_cols));
  }
  return checkpoint->done;
}

}  // namespace

absl::Status RunStreamJob(const StreamJob& job, absl::Span<StreamQueues* const> devices,
                          const StreamOptions& options) {
  ASSIGN_OR_RETURN(std::vector<bool> done, Begin(job, options.checkpoint));
  TileList tiles(std::move(done), options);
  std::vector<std::thread> threads;
  for (StreamQueues* const queues : devices) {
    threads.emplace_back([&job, &tiles, queues] {
      const absl::Status status = Worker(job, queues, &tiles).RunAll();
      if (status.ok()) return;
      tiles.Fail(status);
      queues->Finish().IgnoreError();  // What is queued still uses the caller's matrices.
    });
  }
  for (std::thread& thread : threads) thread.join();
  return tiles.Result();
}

}  // namespace stridewise
