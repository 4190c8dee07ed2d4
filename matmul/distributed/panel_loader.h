// The panels of SUMMA on a device, made ready to be multiplied in two buffers by turns: sent by
// their owners, or copied from where the other ranks keep them.

#ifndef STRIDEWISE_MATMUL_DISTRIBUTED_PANEL_LOADER_H_
#define STRIDEWISE_MATMUL_DISTRIBUTED_PANEL_LOADER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/matrix.h"
#include "common/base/status_macros.h"
#include "common/distributed/block_cyclic.h"
#include "common/streaming/stream_queues.h"
#include "matmul/distributed/device_summa.h"
#include "matmul/distributed/summa_panels.h"
#include "matmul/matmul.h"

namespace stridewise {

// The events of buffer 0 or 1.
inline int PanelsPacked(int buffer) { return buffer; }
inline int PanelsMultiplied(int buffer) { return 2 + buffer; }

// A panel of A and one of B, without gaps.
template <typename T>
struct PanelBuffers {
  T* a = nullptr;
  T* b = nullptr;
};

// Two pairs of panels in one piece of memory.
template <typename T>
class PanelMemory {
 public:
  PanelMemory(int64_t rows, int64_t cols, int64_t widest)
      : a_bytes_(Aligned(rows * widest)), b_bytes_(Aligned(widest * cols)) {}

  int64_t bytes() const { return 2 * (a_bytes_ + b_bytes_); }
  PanelBuffers<T> At(void* memory, int buffer) const {
    char* const begin = static_cast<char*>(memory) + buffer * (a_bytes_ + b_bytes_);
    return {reinterpret_cast<T*>(begin), reinterpret_cast<T*>(begin + a_bytes_)};
  }

 private:
  static int64_t Aligned(int64_t elements) {
    constexpr int64_t kAlignment = 256;
    const int64_t bytes = elements * int64_t{sizeof(T)};
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  int64_t a_bytes_;
  int64_t b_bytes_;
};

// What a step multiplies, and where it lies.
template <typename T>
struct PanelStep {
  SummaPanel<T> panel;  // Of all of its blocks as one.
  MatMulInput a;
  MatMulInput b;
};

// Whether blocks follow each other where their owner keeps them.
inline bool FollowEachOther(const BlockCyclicDimension& k, const std::vector<int64_t>& blocks) {
  for (size_t i = 1; i < blocks.size(); ++i) {
    if (k.LocalIndex(blocks[i]) != k.LocalIndex(blocks[i - 1]) + k.block) return false;
  }
  return true;
}

// Makes the panels of a call ready to be multiplied.
template <typename T, typename Out>
class PanelLoader {
 public:
  PanelLoader(const SummaProblem<T, Out>& problem, const SummaOptions& options,
              const SummaPanels<T, Out>& panels, StreamQueues* queues)
      : problem_(problem), options_(options), panels_(panels), queues_(*queues) {}

  bool Copies() const { return !options_.parts_of_a.empty(); }

  // Queues what it takes, or waits on the host for it while the product of the other buffer runs.
  absl::StatusOr<PanelStep<T>> Load(const std::vector<int64_t>& blocks, const PanelBuffers<T>& to,
                                    int buffer) {
    return Copies() ? CopyPanels(blocks, to, buffer) : SendPanels(blocks, to, buffer);
  }

 private:
  absl::StatusOr<PanelStep<T>> CopyPanels(const std::vector<int64_t>& blocks,
                                          const PanelBuffers<T>& to, int buffer) {
    // On the host, though the queue could wait: the driver runs copies between two devices through
    // queues that all ranks share, where one that waits for its rank's product keeps the copies of
    // the others waiting. On 2x2 H100 ranks stood still for up to 460 ms of a call of 3 s.
    RETURN_IF_ERROR(queues_.WaitOnHost(PanelsMultiplied(buffer)));
    // A copy on the device is a kernel, for which a product leaves no multiprocessor.
    const SummaPanel<T> mine = panels_.At(blocks[0]);
    const bool a_lies = mine.a && FollowEachOther(problem_.a_layout.cols, blocks);
    const bool b_lies = mine.b && FollowEachOther(problem_.b_layout.rows, blocks);
    PanelStep<T> step = StepIn(blocks, to);
    RETURN_IF_ERROR(Pack(blocks, step.panel.k, !a_lies, !b_lies, to));
    if (a_lies) step.a = {mine.a->data, mine.a->ld};
    if (b_lies) step.b = {mine.b->data, mine.b->ld};
    RETURN_IF_ERROR(queues_.Record(StreamQueue::kIn, PanelsPacked(buffer)));
    RETURN_IF_ERROR(queues_.Wait(StreamQueue::kCompute, PanelsPacked(buffer)));
    return step;
  }

  absl::StatusOr<PanelStep<T>> SendPanels(const std::vector<int64_t>& blocks,
                                          const PanelBuffers<T>& to, int buffer) {
    RETURN_IF_ERROR(queues_.WaitOnHost(PanelsMultiplied(buffer)));
    const PanelStep<T> step = StepIn(blocks, to);
    RETURN_IF_ERROR(Pack(blocks, step.panel.k, true, true, to));
    RETURN_IF_ERROR(queues_.Record(StreamQueue::kIn, PanelsPacked(buffer)));
    RETURN_IF_ERROR(queues_.WaitOnHost(PanelsPacked(buffer)));
    RETURN_IF_ERROR(panels_.Broadcast(step.panel, to.a, to.b));
    return step;
  }

  // Returns the step with its panels in the buffer.
  PanelStep<T> StepIn(const std::vector<int64_t>& blocks, const PanelBuffers<T>& to) const {
    PanelStep<T> step;
    step.panel = panels_.At(blocks[0]);
    step.panel.k = 0;
    for (const int64_t first : blocks) step.panel.k += panels_.At(first).k;
    step.a = {to.a, step.panel.k};
    step.b = {to.b, problem_.c.cols};
    return step;
  }

  // Queues the copies of this rank's panels to where they are sent from, or of all panels to where
  // they are multiplied. `k` is that of all blocks. First what other ranks have: a copy on the
  // device is a kernel, which waits until the product before has ended, and with it all that is
  // queued behind, so that three of four panels of A on 1x4 were not hidden.
  absl::Status Pack(const std::vector<int64_t>& blocks, int64_t k, bool with_a, bool with_b,
                    const PanelBuffers<T>& to) {
    const SummaPanel<T> mine = panels_.At(blocks[0]);
    for (const bool on_device : {false, true}) {
      if (with_a && mine.a.has_value() == on_device) RETURN_IF_ERROR(PackA(blocks, k, to.a));
      if (with_b && mine.b.has_value() == on_device) RETURN_IF_ERROR(PackB(blocks, to.b));
    }
    return absl::OkStatus();
  }

  absl::Status PackA(const std::vector<int64_t>& blocks, int64_t k, T* to) {
    for (const int64_t first : blocks) {
      const SummaPanel<T> panel = PanelAt(first);
      if (!panel.a) return absl::OkStatus();  // Another rank sends it.
      RETURN_IF_ERROR(Copy(*panel.a, to, k));
      to += panel.k;
    }
    return absl::OkStatus();
  }

  absl::Status PackB(const std::vector<int64_t>& blocks, T* to) {
    const int64_t cols = problem_.c.cols;
    for (const int64_t first : blocks) {
      const SummaPanel<T> panel = PanelAt(first);
      if (!panel.b) return absl::OkStatus();
      RETURN_IF_ERROR(Copy(*panel.b, to, cols));
      to += panel.k * cols;
    }
    return absl::OkStatus();
  }

  // Returns the panels that this rank copies: also those of others, where it reaches them.
  SummaPanel<T> PanelAt(int64_t first) const {
    return Copies() ? panels_.AtOwners(first, options_.parts_of_a, options_.parts_of_b)
                    : panels_.At(first);
  }

  // Queues a copy to rows that are `ld` elements apart.
  absl::Status Copy(ConstMatrix<T> from, T* to, int64_t ld) {
    const auto bytes = [](int64_t elements) { return elements * int64_t{sizeof(T)}; };
    return queues_.Copy(StreamQueue::kIn,
                        {to, bytes(ld), from.data, bytes(from.ld), bytes(from.cols), from.rows});
  }

  const SummaProblem<T, Out>& problem_;
  const SummaOptions& options_;
  const SummaPanels<T, Out>& panels_;
  StreamQueues& queues_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DISTRIBUTED_PANEL_LOADER_H_
