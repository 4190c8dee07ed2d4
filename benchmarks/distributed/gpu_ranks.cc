#include "benchmarks/distributed/gpu_ranks.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/base/matrix.h"
#include "common/base/status_macros.h"
#include "common/distributed/nccl_library.h"
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

absl::Status GpuRank::Prepare(int device) {
  const absl::Status nccl = LoadNccl().status();
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

absl::StatusOr<GpuRank> GpuRank::Connect(int device, Communicator* control, double seconds) {
  GpuRank rank;
  ASSIGN_OR_RETURN(const NcclLibrary* const nccl, LoadNccl());
  ASSIGN_OR_RETURN(rank.device_, GpusOfThisMachine().open(device));
  ASSIGN_OR_RETURN(rank.ranks_, NcclCommunicator::Create(
                                    nccl, control, rank.device_.communication.get(), seconds));
  return rank;
}

absl::StatusOr<double> GpuRank::Multiply(const SummaProblem<float>& problem) {
  ASSIGN_OR_RETURN(const DevicePart a, CopyIn(problem.a));
  ASSIGN_OR_RETURN(const DevicePart b, CopyIn(problem.b));
  ASSIGN_OR_RETURN(const DevicePart c, CopyIn(problem.c));
  SummaProblem<float> on_device = problem;
  on_device.a = a.view;
  on_device.b = b.view;
  on_device.c = c.view;
  ASSIGN_OR_RETURN(const std::unique_ptr<StreamQueues> queues, device_.open_queues());
  const RankGrid& grid = problem.c_layout.grid;
  // NCCL connects a row's and a column's ranks when they first meet.
  const auto row = grid.RanksOfRow(grid.Row(ranks_->rank()));
  const auto col = grid.RanksOfCol(grid.Col(ranks_->rank()));
  RETURN_IF_ERROR(ranks_->Broadcast(row, row[0], nullptr, 0));
  RETURN_IF_ERROR(ranks_->Broadcast(col, col[0], nullptr, 0));
  ASSIGN_OR_RETURN(const double seconds, Timed(ranks_.get(), [&] {
                     return SummaOnDevice(on_device, device_.multiply, queues.get(), ranks_.get());
                   }));
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
  ASSIGN_OR_RETURN(const std::unique_ptr<StreamQueues> queues, device_.open_queues());
  // NCCL connects two ranks when they first meet.
  ASSIGN_OR_RETURN(const DeviceBuffer two_bytes, DeviceBuffer::Allocate(2));
  char* const sent = two_bytes.As<char>();
  for (int step = 0; step < ranks_->size(); ++step) {
    const int partner = (step - ranks_->rank() + ranks_->size()) % ranks_->size();
    RETURN_IF_ERROR(ranks_->Exchange(partner, sent, 1, sent + 1, 1));
  }
  ASSIGN_OR_RETURN(const double seconds, Timed(ranks_.get(), [&] {
                     return DistributedTransposeOnDevice(
                         in_layout, device_in, out_layout, device_out, DeviceTransposeOptions(),
                         device_.permute, queues.get(), ranks_.get());
                   }));
  const int64_t bytes = static_cast<int64_t>(to.bytes());
  if (bytes > 0) RETURN_IF_ERROR(gpu::Copy(out.data, to.data(), bytes));
  return seconds;
}

}  // namespace stridewise
