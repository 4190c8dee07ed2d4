#include "matmul/measure_plan.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/base/status_macros.h"
#include "common/gpu/buffer.h"
#include "common/gpu/device_ops.h"
#include "common/gpu/gpu_runtime.h"

namespace stridewise {
namespace {

// Kernels run this long between two events, so that the host's launches and the events themselves
// do not count.
constexpr double kUsOfSample = 200;
constexpr int kMostRuns = 20;

class Event {
 public:
  static absl::StatusOr<Event> Create() {
    Event event;
    ASSIGN_OR_RETURN(event.event_, gpu::CreateEvent());
    return event;
  }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&&) = delete;
  ~Event() {
    if (event_ != nullptr) gpu::DestroyEvent(event_).IgnoreError();
  }
  cudaEvent_t get() const { return event_; }

 private:
  Event() = default;
  cudaEvent_t event_ = nullptr;
};

// A matrix, or a batch, of random floats.
class Operand {
 public:
  // As large and as aligned as that at `like`, with `rows` rows as stored.
  static absl::StatusOr<Operand> Create(const void* like, int64_t rows, int64_t cols, int64_t ld,
                                        int64_t batch, int64_t stride, cudaStream_t stream) {
    constexpr int64_t kMostOffset = 16;
    const int64_t elements = (batch - 1) * stride + SpanElements(rows, cols, ld);
    Operand operand;
    operand.offset_ = static_cast<int64_t>(reinterpret_cast<uintptr_t>(like) % kMostOffset);
    const int64_t all = elements + kMostOffset;
    ASSIGN_OR_RETURN(operand.buffer_,
                     DeviceBuffer::Allocate(static_cast<size_t>(all) * sizeof(float)));
    RETURN_IF_ERROR(FillUniformOnDevice(Matrix<float>{operand.buffer_.As<float>(), 1, all, all},
                                        /*seed=*/1, stream));
    return operand;
  }
  void* data() const { return buffer_.As<char>() + offset_; }

 private:
  DeviceBuffer buffer_;
  int64_t offset_ = 0;
};

struct Candidate {
  const MatMulImplementation* kernel;
  int64_t workspace_bytes;
  int runs = 1;
  std::vector<double> us;
};

}  // namespace

absl::StatusOr<MeasuredMatMul> FastestMatMul(const MatMulArgs& args,
                                             absl::Span<const MatMulImplementation* const> kernels,
                                             int samples) {
  const auto create = [&](const auto& like, int64_t rows, int64_t cols) {
    return Operand::Create(like.data, rows, cols, like.ld, args.batch, like.stride, args.stream);
  };
  ASSIGN_OR_RETURN(const Operand a, create(args.a, args.a.transposed ? args.k : args.m,
                                           args.a.transposed ? args.m : args.k));
  ASSIGN_OR_RETURN(const Operand b, create(args.b, args.b.transposed ? args.n : args.k,
                                           args.b.transposed ? args.k : args.n));
  ASSIGN_OR_RETURN(const Operand c, create(args.c, args.m, args.n));
  MatMulArgs own = args;
  own.a.data = a.data();
  own.b.data = b.data();
  own.c.data = c.data();

  std::vector<Candidate> candidates;
  int64_t most = 0;
  for (const MatMulImplementation* kernel : kernels) {
    const int64_t bytes = std::min(MatMulWorkspaceBytes(*kernel, own), args.workspace_bytes);
    candidates.push_back({kernel, bytes, 1, {}});
    most = std::max(most, bytes);
  }
  ASSIGN_OR_RETURN(const DeviceBuffer workspace, DeviceBuffer::Allocate(static_cast<size_t>(most)));
  ASSIGN_OR_RETURN(const Event start, Event::Create());
  ASSIGN_OR_RETURN(const Event stop, Event::Create());
  for (int sample = -1; sample < samples; ++sample) {
    for (Candidate& candidate : candidates) {
      own.workspace = candidate.workspace_bytes == 0 ? nullptr : workspace.data();
      own.workspace_bytes = candidate.workspace_bytes;
      RETURN_IF_ERROR(gpu::RecordEvent(start.get(), args.stream));
      for (int run = 0; run < candidate.runs; ++run) {
        RETURN_IF_ERROR(RunMatMul(*candidate.kernel, own));
      }
      RETURN_IF_ERROR(gpu::RecordEvent(stop.get(), args.stream));
      RETURN_IF_ERROR(gpu::Synchronize(args.stream));
      ASSIGN_OR_RETURN(const double ms, gpu::ElapsedMs(start.get(), stop.get()));
      const double us = 1e3 * ms / candidate.runs;
      // The first run loads the kernel; the first sample tells how many runs make one long enough.
      if (sample >= 0) candidate.us.push_back(us);
      if (sample == 0 || (sample < 0 && us < kUsOfSample)) {
        candidate.runs =
            std::clamp(static_cast<int>(kUsOfSample / std::max(us, 1e-3)), 1, kMostRuns);
      }
    }
  }
  MeasuredMatMul best;
  for (size_t i = 0; i < candidates.size(); ++i) {
    std::vector<double>& of_samples = candidates[i].us;
    std::sort(of_samples.begin(), of_samples.end());
    const double us = of_samples[of_samples.size() / 2];
    if (i == 0 || us < best.us) best = {i, us};
  }
  return best;
}

}  // namespace stridewise
