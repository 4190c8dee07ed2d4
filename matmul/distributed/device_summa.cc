#include "matmul/distributed/device_summa.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/half_types.h"
#include "common/base/matrix.h"
#include "common/base/status_macros.h"
#include "common/distributed/block_cyclic.h"
#include "matmul/distributed/summa_panels.h"

namespace stridewise {
namespace {

// The events of buffer 0 or 1.
int Packed(int buffer) { return buffer; }
int Multiplied(int buffer) { return 2 + buffer; }

// A panel of A and one of B, without gaps.
template <typename T>
struct Buffers {
  T* a = nullptr;
  T* b = nullptr;
};

// The k of the largest step.
int64_t WidestStep(const BlockCyclicDimension& k, const SummaOptions& options) {
  return std::min(k.extent, std::max<int64_t>(options.step_k / k.block, 1) * k.block);
}

// Two pairs of panels in one piece of memory.
template <typename T>
class PanelMemory {
 public:
  PanelMemory(int64_t rows, int64_t cols, int64_t widest)
      : a_bytes_(Aligned(rows * widest)), b_bytes_(Aligned(widest * cols)) {}

  int64_t bytes() const { return 2 * (a_bytes_ + b_bytes_); }
  Buffers<T> At(void* memory, int buffer) const {
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
struct Step {
  SummaPanel<T> panel;  // Of all of its blocks as one.
  MatMulInput a;
  MatMulInput b;
};

// Whether blocks follow each other where their owner keeps them.
bool FollowEachOther(const BlockCyclicDimension& k, const std::vector<int64_t>& blocks) {
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
  absl::StatusOr<Step<T>> Load(const std::vector<int64_t>& blocks, const Buffers<T>& to,
                               int buffer) {
    return Copies() ? CopyPanels(blocks, to, buffer) : SendPanels(blocks, to, buffer);
  }

 private:
  absl::StatusOr<Step<T>> CopyPanels(const std::vector<int64_t>& blocks, const Buffers<T>& to,
                                     int buffer) {
    // On the host, though the queue could wait: the driver runs copies between two devices through
    // queues that all ranks share, where one that waits for its rank's product keeps the copies of
    // the others waiting. On 2x2 H100 ranks stood still for up to 460 ms of a call of 3 s.
    RETURN_IF_ERROR(queues_.WaitOnHost(Multiplied(buffer)));
    // A copy on the device is a kernel, for which a product leaves no multiprocessor.
    const SummaPanel<T> mine = panels_.At(blocks[0]);
    const bool a_lies = mine.a && FollowEachOther(problem_.a_layout.cols, blocks);
    const bool b_lies = mine.b && FollowEachOther(problem_.b_layout.rows, blocks);
    Step<T> step = StepIn(blocks, to);
    RETURN_IF_ERROR(Pack(blocks, step.panel.k, !a_lies, !b_lies, to));
    if (a_lies) step.a = {mine.a->data, mine.a->ld};
    if (b_lies) step.b = {mine.b->data, mine.b->ld};
    RETURN_IF_ERROR(queues_.Record(StreamQueue::kIn, Packed(buffer)));
    RETURN_IF_ERROR(queues_.Wait(StreamQueue::kCompute, Packed(buffer)));
    return step;
  }

  absl::StatusOr<Step<T>> SendPanels(const std::vector<int64_t>& blocks, const Buffers<T>& to,
                                     int buffer) {
    RETURN_IF_ERROR(queues_.WaitOnHost(Multiplied(buffer)));
    const Step<T> step = StepIn(blocks, to);
    RETURN_IF_ERROR(Pack(blocks, step.panel.k, true, true, to));
    RETURN_IF_ERROR(queues_.Record(StreamQueue::kIn, Packed(buffer)));
    RETURN_IF_ERROR(queues_.WaitOnHost(Packed(buffer)));
    RETURN_IF_ERROR(panels_.Broadcast(step.panel, to.a, to.b));
    return step;
  }

  // Returns the step with its panels in the buffer.
  Step<T> StepIn(const std::vector<int64_t>& blocks, const Buffers<T>& to) const {
    Step<T> step;
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
                    const Buffers<T>& to) {
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

template <typename T, typename Out>
absl::Status RunSumma(const SummaProblem<T, Out>& problem, const SummaOptions& options,
                      const QueuedProduct& multiply, StreamQueues* queues,
                      Communicator* communicator, void* memory) {
  RETURN_IF_ERROR(CheckSumma(problem, *communicator));
  for (const auto* parts : {&options.parts_of_a, &options.parts_of_b}) {
    if (parts->size() == options.parts_of_a.size() &&
        (parts->empty() || static_cast<int>(parts->size()) == communicator->size())) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat("options: parts of ", parts->size(),
                                                   " ranks are not allowed; there are ",
                                                   communicator->size()));
  }
  RETURN_IF_ERROR(queues->Enter());
  const SummaPanels<T, Out> panels(problem, communicator);
  MatMulProblem local = panels.WithoutOperands();
  local.precision = options.precision;
  const BlockCyclicDimension& of_a = problem.a_layout.cols;
  const PanelMemory<T> layout(local.m, local.n, WidestStep(of_a, options));
  if (memory == nullptr) {
    ASSIGN_OR_RETURN(memory, queues->Allocate(layout.bytes()));
  }
  const Buffers<T> buffers[2] = {layout.At(memory, 0), layout.At(memory, 1)};
  if (panels.k() == 0) {
    local.a = {buffers[0].a, 0};
    local.b = {buffers[0].b, local.n};
    RETURN_IF_ERROR(queues->Run([&](cudaStream_t stream) { return multiply(local, stream); }));
    return queues->Finish();
  }
  PanelLoader<T, Out> loader(problem, options, panels, queues);
  if (loader.Copies()) RETURN_IF_ERROR(communicator->Barrier());  // All parts are there.
  int number = 0;
  // Broadcasts have one order on all ranks. With copies each begins with what lies where it is, and
  // ranks do not all read from the same one at once.
  const int64_t first = loader.Copies() ? panels.FirstOwn() : 0;
  for (const auto& blocks : SummaSteps(of_a, problem.b_layout.rows, options.step_k, first)) {
    const int buffer = number++ % 2;
    ASSIGN_OR_RETURN(const auto step, loader.Load(blocks, buffers[buffer], buffer));
    local.k = step.panel.k;
    local.a = step.a;
    local.b = step.b;
    RETURN_IF_ERROR(
        queues->Run([&multiply, local](cudaStream_t stream) { return multiply(local, stream); }));
    RETURN_IF_ERROR(queues->Record(StreamQueue::kCompute, Multiplied(buffer)));
    local.beta = 1;
  }
  RETURN_IF_ERROR(queues->Finish());
  if (!loader.Copies()) return absl::OkStatus();
  return communicator->Barrier();  // All have read this rank's parts.
}

}  // namespace

template <typename T, typename Out>
int64_t SummaPanelBytes(const SummaProblem<T, Out>& problem, int rank,
                        const SummaOptions& options) {
  return PanelMemory<T>(problem.c_layout.LocalRows(rank), problem.c_layout.LocalCols(rank),
                        WidestStep(problem.a_layout.cols, options))
      .bytes();
}

template <typename T, typename Out>
absl::Status SummaOnDevice(const SummaProblem<T, Out>& problem, const QueuedProduct& multiply,
                           StreamQueues* queues, Communicator* communicator, void* panels,
                           const SummaOptions& options) {
  const absl::Status status = RunSumma(problem, options, multiply, queues, communicator, panels);
  // What is queued still uses the arguments.
  if (!status.ok()) queues->Finish().IgnoreError();
  return status;
}

#define STRIDEWISE_INSTANTIATE(T, Out)                                                     \
  template int64_t SummaPanelBytes(const SummaProblem<T, Out>&, int, const SummaOptions&); \
  template absl::Status SummaOnDevice(const SummaProblem<T, Out>&, const QueuedProduct&,   \
                                      StreamQueues*, Communicator*, void*, const SummaOptions&)
STRIDEWISE_INSTANTIATE(float, float);
STRIDEWISE_INSTANTIATE(Bf16, float);

}  // namespace stridewise
