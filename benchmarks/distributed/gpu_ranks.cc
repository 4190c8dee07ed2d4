#include "benchmarks/distributed/gpu_ranks.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/base/matrix.h"
#include "common/base/status_macros.h"
#include "common/distributed/nccl_library.h"
#include "common/gpu/buffer.h"
#include "common/gpu/gpu_runtime.h"
#include "common/streaming/cuda_stream_queues.h"
#include "common/streaming/stream_queues.h"
#include "matmul/distributed/device_summa.h"
#include "matmul/matmul.h"

namespace stridewise {
namespace {

// A part on the device, as it lies on the host.
struct DevicePart {
  DeviceBuffer memory;
  Matrix<float> view;
};

absl::StatusOr<DevicePart> CopyIn(ConstMatrix<float> part) {
  DevicePart made;
  const int64_t bytes = part.rows * part.ld * static_cast<int64_t>(sizeof(float));
  ASSIGN_OR_RETURN(made.memory, DeviceBuffer::Allocate(bytes));
  if (bytes > 0) RETURN_IF_ERROR(gpu::Copy(made.memory.data(), part.data, bytes));
  made.view = {made.memory.As<float>(), part.rows, part.cols, part.ld};
  return made;
}

// Returns what the products of the panels would like: all but the last are of one shape.
int64_t PanelWorkspaceBytes(const SummaProblem<float>& problem) {
  MatMulProblem panel;
  panel.m = problem.c.rows;
  panel.n = problem.c.cols;
  panel.k = std::min(problem.a_layout.cols.block, problem.a_layout.cols.extent);
  panel.a.ld = panel.k;
  panel.b.ld = panel.n;
  panel.c.ld = problem.c.ld;
  return MatMulWorkspaceBytes(panel);
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
  rank.device_ = device;
  ASSIGN_OR_RETURN(const NcclLibrary* const nccl, LoadNccl());
  ASSIGN_OR_RETURN(rank.queue_, OpenCommunicationQueue());
  ASSIGN_OR_RETURN(rank.ranks_,
                   NcclCommunicator::Create(nccl, control, rank.queue_.get(), seconds));
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
  ASSIGN_OR_RETURN(const DeviceBuffer workspace,
                   DeviceBuffer::Allocate(PanelWorkspaceBytes(problem)));
  const QueuedProduct multiply = [&](const MatMulProblem& panel, cudaStream_t stream) {
    MatMulProblem with_workspace = panel;
    with_workspace.workspace = workspace.data();
    with_workspace.workspace_bytes = static_cast<int64_t>(workspace.bytes());
    return MatMul(with_workspace, stream);
  };
  ASSIGN_OR_RETURN(const std::unique_ptr<StreamQueues> queues, OpenCudaStreamQueues(device_));
  const RankGrid& grid = problem.c_layout.grid;
  // NCCL connects a row's and a column's ranks when they first meet.
  const auto row = grid.RanksOfRow(grid.Row(ranks_->rank()));
  const auto col = grid.RanksOfCol(grid.Col(ranks_->rank()));
  RETURN_IF_ERROR(ranks_->Broadcast(row, row[0], nullptr, 0));
  RETURN_IF_ERROR(ranks_->Broadcast(col, col[0], nullptr, 0));
  const SteadyClock clock;
  RETURN_IF_ERROR(ranks_->Barrier());
  const double begin = clock.Now();
  RETURN_IF_ERROR(SummaOnDevice(on_device, multiply, queues.get(), ranks_.get()));
  RETURN_IF_ERROR(ranks_->Barrier());
  const double seconds = clock.Now() - begin;
  const int64_t bytes = static_cast<int64_t>(c.memory.bytes());
  if (bytes > 0) RETURN_IF_ERROR(gpu::Copy(problem.c.data, c.memory.data(), bytes));
  return seconds;
}

}  // namespace stridewise
