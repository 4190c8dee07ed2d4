#include "benchmarks/distributed/gpu_ranks.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/base/matrix.h"
#include "common/base/status_macros.h"
#include "common/distributed/nccl_library.h"
#include "common/distributed/peer_memory.h"
#include "common/gpu/buffer.h"
#include "common/gpu/gpu_runtime.h"
#include "common/streaming/stream_queues.h"
#include "matmul/distributed/device_summa.h"
#include "transpose/distributed/device_exchange.h"

namespace stridewise {
namespace {

// Returns a copy on the device of rows of memory on the host, with their gaps.
absl::StatusOr<DeviceBuffer> CopyIn(const void* data, int64_t bytes) {
  ASSIGN_OR_RETURN(DeviceBuffer memory, DeviceBuffer::Allocate(bytes));
  if (bytes > 0) RETURN_IF_ERROR(gpu::Copy(memory.data(), data, bytes));
  return memory;
}

// A part on the device, as it lies on the host.
struct DevicePart {
  DeviceBuffer memory;
  Matrix<float> view;
};

absl::StatusOr<DevicePart> CopyIn(ConstMatrix<float> part) {
  DevicePart made;
  const int64_t bytes = part.rows * part.ld * static_cast<int64_t>(sizeof(float));
  ASSIGN_OR_RETURN(made.memory, CopyIn(part.data, bytes));
  made.view = {made.memory.As<float>(), part.rows, part.cols, part.ld};
  return made;
}

// Returns the parts of all ranks, which lie without gaps.
absl::StatusOr<std::vector<MatMulInput>> ReachParts(const DeviceBuffer& mine,
                                                    const BlockCyclicLayout& layout,
                                                    PeerMemory* memory, Communicator* control) {
  ASSIGN_OR_RETURN(const auto reached, ReachMemoryOfRanks(mine.data(), memory, control));
  std::vector<MatMulInput> parts;
  for (int rank = 0; rank < control->size(); ++rank) {
    parts.emplace_back(static_cast<const float*>(reached[rank]), layout.LocalCols(rank));
  }
  return parts;
}

// Runs between two barriers and returns the seconds.
template <typename Run>
absl::StatusOr<double> Timed(Communicator* ranks, Run run) {
  const SteadyClock clock;
  RETURN_IF_ERROR(ranks->Barrier());
  const double begin = clock.Now();
  RETURN_IF_ERROR(run());
  RETURN_IF_ERROR(ranks->Barrier());
  return clock.Now() - begin;
}

}  // namespace

absl::Status GpuRank::Prepare(int device, Transport transport) {
  const absl::Status nccl = transport == Transport::kNccl ? LoadNccl().status() : absl::OkStatus();
  if (!nccl.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--transport: nccl needs ", nccl.message()));
  }
  const absl::StatusOr<int> count = gpu::DeviceCount();
  if (!count.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--device: gpu is not there: ", count.status().message()));
  }
  if (device >= *count) {
    return absl::InvalidArgumentError(
        absl::StrCat("LOCAL_RANK: ", device, " has no GPU; allowed is 0 to ", *count - 1));
  }
  return gpu::UseDevice(device);
}

absl::StatusOr<GpuRank> GpuRank::Connect(int device, Transport transport, Communicator* control,
                                         double seconds) {
  GpuRank rank;
  rank.control_ = control;
  ASSIGN_OR_RETURN(rank.device_, GpusOfThisMachine().open(device));
  if (transport == Transport::kDirect) return rank;
  ASSIGN_OR_RETURN(const NcclLibrary* const nccl, LoadNccl());
  ASSIGN_OR_RETURN(rank.nccl_, NcclCommunicator::Create(nccl, control,
                                                        rank.device_.communication.get(), seconds));
  return rank;
}

absl::Status GpuRank::Meet(const RankGrid& grid) {
  if (nccl_ == nullptr) return absl::OkStatus();
  const auto row = grid.RanksOfRow(grid.Row(nccl_->rank()));
  const auto col = grid.RanksOfCol(grid.Col(nccl_->rank()));
  RETURN_IF_ERROR(nccl_->Broadcast(row, row[0], nullptr, 0));
  return nccl_->Broadcast(col, col[0], nullptr, 0);
}

absl::Status GpuRank::MeetInPairs() {
  if (nccl_ == nullptr) return absl::OkStatus();
  // Bytes of their own words: NCCL reads whole ones.
  constexpr int64_t kApart = 256;
  ASSIGN_OR_RETURN(const DeviceBuffer bytes, DeviceBuffer::Allocate(2 * kApart));
  char* const sent = bytes.As<char>();
  for (int step = 0; step < nccl_->size(); ++step) {
    const int partner = (step - nccl_->rank() + nccl_->size()) % nccl_->size();
    RETURN_IF_ERROR(nccl_->Exchange(partner, sent, 1, sent + kApart, 1));
  }
  return absl::OkStatus();
}

absl::StatusOr<double> GpuRank::Multiply(const SummaProblem<float>& problem) {
  ASSIGN_OR_RETURN(const DevicePart a, CopyIn(problem.a));
  ASSIGN_OR_RETURN(const DevicePart b, CopyIn(problem.b));
  ASSIGN_OR_RETURN(const DevicePart c, CopyIn(problem.c));
  SummaProblem<float> on_device = problem;
  on_device.a = a.view;
  on_device.b = b.view;
  on_device.c = c.view;
  ASSIGN_OR_RETURN(const std::unique_ptr<StreamQueues> queues, device_.open_queues(0));
  SummaOptions options;
  if (nccl_ == nullptr) {
    ASSIGN_OR_RETURN(options.parts_of_a,
                     ReachParts(a.memory, problem.a_layout, device_.peers.get(), control_));
    ASSIGN_OR_RETURN(options.parts_of_b,
                     ReachParts(b.memory, problem.b_layout, device_.peers.get(), control_));
  }
  RETURN_IF_ERROR(Meet(problem.c_layout.grid));
  ASSIGN_OR_RETURN(const double seconds, Timed(&ranks(), [&] {
                     return SummaOnDevice(on_device, device_.multiply, queues.get(), &ranks(),
                                          nullptr, options);
                   }));
  if (nccl_ == nullptr) RETURN_IF_ERROR(LeaveMemoryOfRanks(device_.peers.get(), control_));
  const int64_t bytes = static_cast<int64_t>(c.memory.bytes());
  if (bytes > 0) RETURN_IF_ERROR(gpu::Copy(problem.c.data, c.memory.data(), bytes));
  return seconds;
}

absl::StatusOr<double> GpuRank::Transpose(const BlockCyclicLayout& in_layout, const MatrixView& in,
                                          const BlockCyclicLayout& out_layout,
                                          const MutableMatrixView& out) {
  ASSIGN_OR_RETURN(const DeviceBuffer from, CopyIn(in.data, in.rows * in.ld * in.element_bytes));
  ASSIGN_OR_RETURN(const DeviceBuffer to, CopyIn(out.data, out.rows * out.ld * out.element_bytes));
  MatrixView device_in = in;
  device_in.data = from.data();
  MutableMatrixView device_out = out;
  device_out.data = to.data();
  const int multiprocessors =
      nccl_ == nullptr ? TransposeMultiprocessors(in_layout, out_layout, control_->rank()) : 0;
  ASSIGN_OR_RETURN(const std::unique_ptr<StreamQueues> queues,
                   device_.open_queues(multiprocessors));
  DeviceTransposeOptions options;
  if (nccl_ == nullptr) {
    ASSIGN_OR_RETURN(const auto parts,
                     ReachMemoryOfRanks(to.data(), device_.peers.get(), control_));
    for (int rank = 0; rank < control_->size(); ++rank) {
      MutableMatrixView part = out;
      part.data = parts[rank];
      part.rows = out_layout.LocalRows(rank);
      part.cols = part.ld = out_layout.LocalCols(rank);
      options.parts_of_out.push_back(part);
    }
  }
  RETURN_IF_ERROR(MeetInPairs());
  ASSIGN_OR_RETURN(const double seconds, Timed(&ranks(), [&] {
                     return DistributedTransposeOnDevice(in_layout, device_in, out_layout,
                                                         device_out, options, device_.permute,
                                                         queues.get(), &ranks());
                   }));
  if (nccl_ == nullptr) RETURN_IF_ERROR(LeaveMemoryOfRanks(device_.peers.get(), control_));
  const int64_t bytes = static_cast<int64_t>(to.bytes());
  if (bytes > 0) RETURN_IF_ERROR(gpu::Copy(out.data, to.data(), bytes));
  return seconds;
}

}  // namespace stridewise
