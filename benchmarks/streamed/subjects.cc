#include "benchmarks/streamed/subjects.h"

#include <cublasXt.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/gpu/buffer.h"
#include "common/gpu/cublas_status.h"
#include "common/gpu/device_ops.h"
#include "common/gpu/device_scope.h"
#include "common/gpu/gpu_runtime.h"
#include "common/streaming/cuda_stream_queues.h"
#include "matmul/streamed/streamed_matmul.h"
#include "transpose/streamed/streamed_transpose.h"

namespace stridewise {
namespace {

constexpr double kMs = 1e3;

struct XtHandle {
  XtHandle() = default;
  XtHandle(const XtHandle&) = delete;
  XtHandle& operator=(const XtHandle&) = delete;
  ~XtHandle() {
    if (handle != nullptr) cublasXtDestroy(handle);
  }
  cublasXtHandle_t handle = nullptr;
};

struct DeviceMatrices {
  DeviceBuffer a, b, c, workspace;
};

StreamOptions WithCheckpoint(StreamOptions options, StreamCheckpoint* checkpoint) {
  options.checkpoint = checkpoint;
  return options;
}

int64_t BytesOf(const MatrixView& in) { return in.rows * in.cols * in.element_bytes; }

}  // namespace

absl::StatusOr<Subject> StreamedProductSubject(const MatMulProblem& problem,
                                               const StreamOptions& options,
                                               const StreamCheckpoint& tile) {
  StreamCheckpoint asked = tile;
  const StreamOptions with_tile = WithCheckpoint(options, &asked);
  ASSIGN_OR_RETURN(const MatMulStreamPlan plan, PlanStreamedMatMul(problem, with_tile));
  Subject subject;
  subject.name = "streamed";
  subject.run = [problem, options, tile] {
    StreamCheckpoint checkpoint = tile;
    return StreamedMatMul(problem, WithCheckpoint(options, &checkpoint));
  };
  subject.tile = absl::StrCat(plan.tile_rows, "x", plan.tile_cols, "x", plan.depth);
  subject.predicted_ms = kMs * plan.seconds;
  return subject;
}

absl::StatusOr<Subject> InMemoryProductSubject(int64_t n, MatMulPrecision precision,
                                               const std::vector<int>& devices) {
  auto memory = std::make_shared<std::vector<DeviceMatrices>>(devices.size());
  std::vector<MatMulProblem> problems;
  for (size_t i = 0; i < devices.size(); ++i) {
    DeviceScope scope;
    RETURN_IF_ERROR(scope.Enter(devices[i]));
    DeviceMatrices& own = (*memory)[i];
    uint64_t seed = 1;
    for (DeviceBuffer* buffer : {&own.a, &own.b, &own.c}) {
      ASSIGN_OR_RETURN(*buffer, DeviceBuffer::Allocate(sizeof(float) * n * n));
      RETURN_IF_ERROR(
          FillUniformOnDevice(Matrix<float>{buffer->As<float>(), n, n, n}, seed++, nullptr));
    }
    MatMulProblem problem;
    problem.m = problem.n = problem.k = n;
    problem.a = {own.a.As<float>(), n};
    problem.b = {own.b.As<float>(), n};
    problem.c = {own.c.As<float>(), n};
    problem.precision = precision;
    problem.workspace_bytes = MatMulWorkspaceBytes(problem);
    ASSIGN_OR_RETURN(own.workspace, DeviceBuffer::Allocate(problem.workspace_bytes));
    problem.workspace = own.workspace.data();
    RETURN_IF_ERROR(gpu::Synchronize(nullptr));
    problems.push_back(problem);
  }
  Subject subject;
  subject.name = "in_memory";
  subject.extents = {n * static_cast<int64_t>(devices.size()), n, n};
  subject.is_repeated = true;
  subject.run = [memory, problems, devices]() -> absl::Status {
    for (size_t i = 0; i < devices.size(); ++i) {
      DeviceScope scope;
      RETURN_IF_ERROR(scope.Enter(devices[i]));
      RETURN_IF_ERROR(MatMul(problems[i], nullptr));
    }
    for (const int device : devices) {
      DeviceScope scope;
      RETURN_IF_ERROR(scope.Enter(device));
      RETURN_IF_ERROR(gpu::Synchronize(nullptr));
    }
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(subject.run());  // Loads the kernel.
  return subject;
}

absl::StatusOr<Subject> CublasXtSubject(const MatMulProblem& problem,
                                        const std::vector<int>& devices, int64_t block) {
  auto xt = std::make_shared<XtHandle>();
  RETURN_IF_ERROR(CUBLAS_STATUS(cublasXtCreate(&xt->handle)));
  std::vector<int> selected = devices;
  RETURN_IF_ERROR(CUBLAS_STATUS(
      cublasXtDeviceSelect(xt->handle, static_cast<int>(selected.size()), selected.data())));
  if (block > 0) {
    RETURN_IF_ERROR(CUBLAS_STATUS(cublasXtSetBlockDim(xt->handle, static_cast<int>(block))));
  }
  Subject subject;
  subject.name = block > 0 ? absl::StrCat("cublasxt_", block) : "cublasxt";
  subject.run = [xt, problem] {
    const float one = 1;
    const float zero = 0;
    const auto size = [](int64_t extent) { return static_cast<size_t>(extent); };
    // Column-major, B A is the row-major A B.
    return CUBLAS_STATUS(cublasXtSgemm(
        xt->handle, CUBLAS_OP_N, CUBLAS_OP_N, size(problem.n), size(problem.m), size(problem.k),
        &one, static_cast<const float*>(problem.b.data), size(problem.b.ld),
        static_cast<const float*>(problem.a.data), size(problem.a.ld), &zero,
        static_cast<float*>(problem.c.data), size(problem.c.ld)));
  };
  return subject;
}

absl::StatusOr<Subject> StreamedTransposeSubject(const MatrixView& in, const MutableMatrixView& out,
                                                 const StreamOptions& options,
                                                 const StreamCheckpoint& tile) {
  StreamCheckpoint asked = tile;
  const StreamOptions with_tile = WithCheckpoint(options, &asked);
  ASSIGN_OR_RETURN(const TransposeStreamPlan plan, PlanStreamedTranspose(in, out, with_tile));
  Subject subject;
  subject.name = "streamed";
  subject.run = [in, out, options, tile] {
    StreamCheckpoint checkpoint = tile;
    return StreamedTranspose(in, out, WithCheckpoint(options, &checkpoint));
  };
  subject.tile = absl::StrCat(plan.tile_rows, "x", plan.tile_cols);
  subject.predicted_ms = kMs * plan.seconds;
  return subject;
}

absl::StatusOr<Subject> OneAfterTheOtherSubject(const MatrixView& in,
                                                const MutableMatrixView& out) {
  auto memory = std::make_shared<DeviceMatrices>();
  ASSIGN_OR_RETURN(memory->a, DeviceBuffer::Allocate(BytesOf(in)));
  ASSIGN_OR_RETURN(memory->b, DeviceBuffer::Allocate(BytesOf(in)));
  Subject subject;
  subject.name = "one_after_the_other";
  subject.run = [memory, in, out]() -> absl::Status {
    RETURN_IF_ERROR(gpu::Copy(memory->a.data(), in.data, BytesOf(in)));
    MatrixView from = in;
    from.data = memory->a.data();
    MutableMatrixView to = out;
    to.data = memory->b.data();
    RETURN_IF_ERROR(Transpose(from, to, nullptr));
    RETURN_IF_ERROR(gpu::Synchronize(nullptr));
    return gpu::Copy(out.data, memory->b.data(), BytesOf(in));
  };
  return subject;
}

absl::StatusOr<Subject> BothWaysSubject(const MatrixView& in, const MutableMatrixView& out,
                                        const std::vector<int>& devices) {
  constexpr int64_t kPart = int64_t{256} << 20;
  struct Link {
    std::unique_ptr<StreamQueues> queues;
    void* received = nullptr;
    void* sent = nullptr;
  };
  auto links = std::make_shared<std::vector<Link>>(devices.size());
  for (size_t i = 0; i < devices.size(); ++i) {
    DeviceScope scope;
    RETURN_IF_ERROR(scope.Enter(devices[i]));
    Link& link = (*links)[i];
    ASSIGN_OR_RETURN(link.queues, OpenCudaStreamQueues(devices[i]));
    ASSIGN_OR_RETURN(link.received, link.queues->Allocate(kPart));
    ASSIGN_OR_RETURN(link.sent, link.queues->Allocate(kPart));
  }
  Subject subject;
  subject.name = "copies_both_ways";
  subject.run = [=]() -> absl::Status {
    size_t next = 0;
    for (int64_t first = 0; first < BytesOf(in); first += kPart) {
      const int64_t bytes = std::min(kPart, BytesOf(in) - first);
      const char* const from = static_cast<const char*>(in.data) + first;
      char* const to = static_cast<char*>(out.data) + first;
      const Link& link = (*links)[next++ % links->size()];
      RETURN_IF_ERROR(
          link.queues->Copy(StreamQueue::kIn, {link.received, bytes, from, bytes, bytes, 1}));
      RETURN_IF_ERROR(
          link.queues->Copy(StreamQueue::kOut, {to, bytes, link.sent, bytes, bytes, 1}));
    }
    for (const Link& link : *links) RETURN_IF_ERROR(link.queues->Finish());
    return absl::OkStatus();
  };
  return subject;
}

}  // namespace stridewise
