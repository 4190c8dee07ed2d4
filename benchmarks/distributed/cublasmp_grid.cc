#include "benchmarks/distributed/cublasmp_grid.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/base/status_macros.h"

namespace stridewise {
namespace {

absl::Status StatusOf(const char* function, CublasMpStatus status) {
  if (status == kCublasMpSuccess) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(function, " returned ", static_cast<int>(status)));
}

absl::Status StatusOf(const char* function, NcclResult result, const NcclLibrary& nccl) {
  if (result == kNcclSuccess) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(function, ": ", nccl.GetErrorString(result)));
}

// The factors of a call, of the type that the matrices have.
struct Factors {
  float float_one = 1, float_zero = 0;
  double double_one = 1, double_zero = 0;

  const void* One(int64_t element_bytes) const {
    if (element_bytes == sizeof(float)) return &float_one;
    return &double_one;
  }
  const void* Zero(int64_t element_bytes) const {
    if (element_bytes == sizeof(float)) return &float_zero;
    return &double_zero;
  }
};
constexpr Factors kFactors;

constexpr double kSecondsBetweenChecks = 0.001;  // Of the other ranks' connections.

}  // namespace

absl::StatusOr<std::unique_ptr<CublasMpGrid>> CublasMpGrid::Create(
    const CublasMpLibrary* library, const NcclLibrary* nccl, const RankGrid& grid,
    Communicator* control, CommunicationQueue* queue, double seconds) {
  std::unique_ptr<CublasMpGrid> made(new CublasMpGrid(library, nccl, control, queue, seconds));
  // Unlike that of nccl_communicator.h this one blocks: cuBLASMp takes no call in progress.
  NcclUniqueId id = {};
  if (control->rank() == 0) {
    RETURN_IF_ERROR(StatusOf("ncclGetUniqueId", nccl->GetUniqueId(&id), *nccl));
  }
  std::vector<int> all(control->size());
  std::iota(all.begin(), all.end(), 0);
  RETURN_IF_ERROR(control->Broadcast(all, 0, &id, sizeof(id)));
  NcclConfig config;
  config.blocking = 1;
  RETURN_IF_ERROR(StatusOf(
      "ncclCommInitRankConfig",
      nccl->CommInitRankConfig(&made->comm_, control->size(), id, control->rank(), &config),
      *nccl));
  RETURN_IF_ERROR(StatusOf("cublasMpCreate", library->Create(&made->handle_, queue->stream())));
  // Rank r is in row r / Q and column r % Q of our P x Q: in row r % Q and column r / Q of Q x P.
  RETURN_IF_ERROR(StatusOf(
      "cublasMpGridCreate",
      library->GridCreate(grid.cols, grid.rows, kCublasMpColumnMajor, made->comm_, &made->grid_)));
  return made;
}

CublasMpGrid::~CublasMpGrid() {
  // A rank that ends because of another must not wait for it. The library's objects refer to a
  // communicator that is no more then, and may use their workspace until the device is done: nobody
  // touches them again.
  if (comm_ != nullptr) nccl_.CommAbort(comm_);
  if (!is_working_) return;
  for (const std::unique_ptr<LentMemory>& lent : lent_) lent->memory.Abandon();
}

absl::Status CublasMpGrid::Close() {
  if (comm_ == nullptr) return absl::UnavailableError("cuBLASMp's communicator was ended");
  RETURN_IF_ERROR(WaitForQueue());
  RETURN_IF_ERROR(control_.Barrier());  // No rank is in a call.
  for (const CublasMpMatrix matrix : matrices_) library_.MatrixDescriptorDestroy(matrix);
  const CublasMpStatus of_grid = library_.GridDestroy(grid_);
  const CublasMpStatus of_handle = library_.Destroy(handle_);
  RETURN_IF_ERROR(control_.Barrier());  // No rank's objects refer to a communicator.
  const NcclResult of_comm = nccl_.CommDestroy(std::exchange(comm_, nullptr));
  RETURN_IF_ERROR(StatusOf("cublasMpGridDestroy", of_grid));
  RETURN_IF_ERROR(StatusOf("cublasMpDestroy", of_handle));
  return StatusOf("ncclCommDestroy", of_comm, nccl_);
}

absl::Status CublasMpGrid::CheckWorkspaces() const {
  for (const std::unique_ptr<LentMemory>& lent : lent_) {
    if (lent->memory.IsIntact()) continue;
    return absl::InternalError(absl::StrCat(lent->function, " wrote beside its workspace of ",
                                            lent->memory.bytes(), " bytes on the host"));
  }
  return absl::OkStatus();
}

absl::Status CublasMpGrid::WaitForQueue() {
  is_working_ = true;
  RETURN_IF_ERROR(queue_.Record());
  const SteadyClock clock;
  const double begin = clock.Now();
  double checked = begin;
  while (true) {
    ASSIGN_OR_RETURN(const bool done, queue_.IsDone());
    if (done) {
      is_working_ = false;
      return absl::OkStatus();
    }
    const double now = clock.Now();
    if (now - checked < kSecondsBetweenChecks) continue;
    checked = now;
    absl::Status status = control_.CheckRanks();
    if (status.ok() && now - begin > seconds_) {
      status = absl::UnavailableError("cuBLASMp was not done in time");
    }
    if (status.ok()) continue;
    nccl_.CommAbort(std::exchange(comm_, nullptr));
    return status;
  }
}

absl::StatusOr<CublasMpMatrix> CublasMpGrid::Describe(const BlockCyclicLayout& layout, int64_t ld,
                                                      CublasMpType type) {
  CublasMpMatrix matrix = nullptr;
  RETURN_IF_ERROR(
      StatusOf("cublasMpMatrixDescriptorCreate",
               library_.MatrixDescriptorCreate(layout.cols.extent, layout.rows.extent,
                                               layout.cols.block, layout.rows.block, 0, 0,
                                               std::max<int64_t>(ld, 1), type, grid_, &matrix)));
  matrices_.push_back(matrix);
  return matrix;
}

absl::StatusOr<CublasMpGrid::Workspace> CublasMpGrid::Allocate(const char* function,
                                                               size_t device_bytes,
                                                               size_t host_bytes,
                                                               StreamQueues* device) {
  Workspace workspace;
  workspace.device_bytes = device_bytes;
  workspace.host_bytes = host_bytes;
  ASSIGN_OR_RETURN(workspace.device, device->Allocate(static_cast<int64_t>(device_bytes) + 1));
  lent_.push_back(std::make_unique<LentMemory>(LentMemory{function, GuardedMemory(host_bytes)}));
  workspace.host = lent_.back()->memory.data();
  return workspace;
}

absl::StatusOr<CublasMpGrid::Call> CublasMpGrid::Product(const SummaProblem<float>& problem,
                                                         StreamQueues* device) {
  return ProductOf(problem, device);
}

absl::StatusOr<CublasMpGrid::Call> CublasMpGrid::Product(const SummaProblem<Bf16, float>& problem,
                                                         StreamQueues* device) {
  return ProductOf(problem, device);
}

template <typename T>
absl::StatusOr<CublasMpGrid::Call> CublasMpGrid::ProductOf(const SummaProblem<T, float>& problem,
                                                           StreamQueues* device) {
  constexpr CublasMpType kType = sizeof(T) == 2 ? kCublasMpBf16 : kCublasMpFloat;
  ASSIGN_OR_RETURN(const CublasMpMatrix a, Describe(problem.a_layout, problem.a.ld, kType));
  ASSIGN_OR_RETURN(const CublasMpMatrix b, Describe(problem.b_layout, problem.b.ld, kType));
  ASSIGN_OR_RETURN(const CublasMpMatrix c,
                   Describe(problem.c_layout, problem.c.ld, kCublasMpFloat));
  const int64_t m = problem.c_layout.cols.extent;  // Of C^T.
  const int64_t n = problem.c_layout.rows.extent;
  const int64_t k = problem.a_layout.cols.extent;
  const void* const one = kFactors.One(sizeof(float));
  const void* const zero = kFactors.Zero(sizeof(float));
  size_t device_bytes = 0, host_bytes = 0;
  RETURN_IF_ERROR(StatusOf(
      "cublasMpGemm_bufferSize",
      library_.GemmBufferSize(handle_, kCublasMpN, kCublasMpN, m, n, k, one, problem.b.data, 1, 1,
                              b, problem.a.data, 1, 1, a, zero, problem.c.data, 1, 1, c,
                              kCublasMpCompute32F, &device_bytes, &host_bytes)));
  ASSIGN_OR_RETURN(const Workspace space,
                   Allocate("cublasMpGemm", device_bytes, host_bytes, device));
  return Call([=]() -> absl::Status {
    is_working_ = true;
    RETURN_IF_ERROR(StatusOf(
        "cublasMpGemm",
        library_.Gemm(handle_, kCublasMpN, kCublasMpN, m, n, k, one, problem.b.data, 1, 1, b,
                      problem.a.data, 1, 1, a, zero, problem.c.data, 1, 1, c, kCublasMpCompute32F,
                      space.device, space.device_bytes, space.host, space.host_bytes)));
    return WaitForQueue();
  });
}

absl::StatusOr<CublasMpGrid::Call> CublasMpGrid::Transpose(const BlockCyclicLayout& in_layout,
                                                           const MatrixView& in,
                                                           const BlockCyclicLayout& out_layout,
                                                           const MutableMatrixView& out,
                                                           StreamQueues* device) {
  const CublasMpType type = in.element_bytes == sizeof(float) ? kCublasMpFloat : kCublasMpDouble;
  ASSIGN_OR_RETURN(const CublasMpMatrix a, Describe(in_layout, in.ld, type));
  ASSIGN_OR_RETURN(const CublasMpMatrix c, Describe(out_layout, out.ld, type));
  const int64_t m = out_layout.cols.extent;
  const int64_t n = out_layout.rows.extent;
  const void* const one = kFactors.One(in.element_bytes);
  const void* const zero = kFactors.Zero(in.element_bytes);
  size_t device_bytes = 0, host_bytes = 0;
  RETURN_IF_ERROR(
      StatusOf("cublasMpGeadd_bufferSize",
               library_.GeaddBufferSize(handle_, kCublasMpT, m, n, one, in.data, 1, 1, a, zero,
                                        out.data, 1, 1, c, &device_bytes, &host_bytes)));
  ASSIGN_OR_RETURN(const Workspace space,
                   Allocate("cublasMpGeadd", device_bytes, host_bytes, device));
  return Call([=]() -> absl::Status {
    is_working_ = true;
    RETURN_IF_ERROR(StatusOf(
        "cublasMpGeadd",
        library_.Geadd(handle_, kCublasMpT, m, n, one, in.data, 1, 1, a, zero, out.data, 1, 1, c,
                       space.device, space.device_bytes, space.host, space.host_bytes)));
    return WaitForQueue();
  });
}

}  // namespace stridewise
