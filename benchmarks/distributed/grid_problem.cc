#include "benchmarks/distributed/grid_problem.h"

#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "benchmarks/distributed/parts.h"
#include "common/base/half_types.h"
#include "common/base/matrix.h"
#include "common/base/parallel_rows.h"
#include "common/base/status_macros.h"
#include "matmul/distributed/device_summa.h"
#include "matmul/distributed/verify.h"
#include "transpose/distributed/device_exchange.h"
#include "transpose/transpose.h"

namespace stridewise {
namespace {

// A part on the host and where it lies on the device.
template <typename T>
struct MirroredPart {
  Part<T> host;
  StreamQueues* device = nullptr;
  Matrix<T> view;  // On the device.

  // What is there is nobody's yet.
  absl::Status AllocateOn(StreamQueues* queues) {
    device = queues;
    ASSIGN_OR_RETURN(void* const memory, device->Allocate(bytes()));
    view = host.view;
    view.data = static_cast<T*>(memory);
    return absl::OkStatus();
  }
  absl::Status CopyIn() {
    if (bytes() == 0) return absl::OkStatus();
    RETURN_IF_ERROR(
        device->Copy(StreamQueue::kIn, {view.data, bytes(), host.data.get(), bytes(), bytes(), 1}));
    return device->Finish();
  }
  absl::Status CopyOut() {
    if (bytes() == 0) return absl::OkStatus();
    RETURN_IF_ERROR(device->Copy(StreamQueue::kOut,
                                 {host.data.get(), bytes(), view.data, bytes(), bytes(), 1}));
    return device->Finish();
  }
  // All bits 1: NaN.
  absl::Status Poison() {
    const int64_t row_bytes = host.view.cols * static_cast<int64_t>(sizeof(T));
    ForRowsInParallel(host.view.rows, host.view.cols, [&](int64_t begin, int64_t end) {
      std::memset(host.data.get() + begin * host.view.cols, 0xff,
                  static_cast<size_t>((end - begin) * row_bytes));
    });
    return CopyIn();
  }
  int64_t bytes() const {
    return host.view.rows * host.view.cols * static_cast<int64_t>(sizeof(T));
  }
};

// Calls add(memory, rows, cols) for the part of each rank, as this rank's device reaches it.
template <typename Add>
absl::Status ReachParts(void* mine, const BlockCyclicLayout& layout, PeerMemory* memory,
                        Communicator* control, const Add& add) {
  ASSIGN_OR_RETURN(const std::vector<void*> parts, ReachMemoryOfRanks(mine, memory, control));
  for (int rank = 0; rank < control->size(); ++rank) {
    add(parts[rank], layout.LocalRows(rank), layout.LocalCols(rank));
  }
  return absl::OkStatus();
}

// Of operands of T; C is of float.
template <typename T>
class GridProduct : public GridProblem {
 public:
  GridProduct(int rank, SummaProblem<T, float> layouts, MatMulPrecision precision)
      : rank_(rank), problem_(std::move(layouts)) {
    options_.precision = precision;
  }

  absl::Status MakeOperands(uint64_t seed, StreamQueues* device) override {
    seed_ = seed;
    ASSIGN_OR_RETURN(a_.host, MakePart<T>(problem_.a_layout, rank_, seed));
    ASSIGN_OR_RETURN(b_.host, MakePart<T>(problem_.b_layout, rank_, seed + 1));
    ASSIGN_OR_RETURN(c_.host, AllocatePart<float>(problem_.c_layout, rank_));
    for (MirroredPart<T>* part : {&a_, &b_}) {
      RETURN_IF_ERROR(part->AllocateOn(device));
      RETURN_IF_ERROR(part->CopyIn());
    }
    RETURN_IF_ERROR(c_.AllocateOn(device));
    ASSIGN_OR_RETURN(panels_, device->Allocate(SummaPanelBytes(problem_, rank_)));
    problem_.a = a_.view;
    problem_.b = b_.view;
    problem_.c = c_.view;
    return absl::OkStatus();
  }

  absl::Status PoisonResult() override { return c_.Poison(); }

  absl::Status ReachPeers(PeerMemory* memory, Communicator* control) override {
    const auto reach = [&](void* mine, const BlockCyclicLayout& layout,
                           std::vector<MatMulInput>* parts) {
      return ReachParts(mine, layout, memory, control,
                        [&](void* part, int64_t /*rows*/, int64_t cols) {
                          parts->emplace_back(static_cast<const T*>(part), cols);
                        });
    };
    RETURN_IF_ERROR(reach(a_.view.data, problem_.a_layout, &options_.parts_of_a));
    return reach(b_.view.data, problem_.b_layout, &options_.parts_of_b);
  }

  bool SendsByCopies() const override { return !options_.parts_of_a.empty(); }

  absl::Status Run(const GridDevice& device, StreamQueues* queues, Communicator* ranks) override {
    return SummaOnDevice(problem_, device.multiply, queues, ranks, panels_, options_);
  }

  absl::StatusOr<CublasMpGrid::Call> Bind(CublasMpGrid* cublasmp) override {
    return cublasmp->Product(problem_, c_.device);
  }

  absl::Status Verify(Communicator* control) override {
    RETURN_IF_ERROR(c_.CopyOut());
    SummaProblem<T, float> on_host = problem_;
    on_host.a = a_.host.view;
    on_host.b = b_.host.view;
    on_host.c = c_.host.view;
    return VerifyProduct(on_host, ConstMatrix<float>(c_.host.view), seed_ + 2, control);
  }

 private:
  int rank_;
  SummaProblem<T, float> problem_;  // Its parts lie on the device.
  uint64_t seed_ = 0;
  MirroredPart<T> a_, b_;
  MirroredPart<float> c_;
  void* panels_ = nullptr;
  SummaOptions options_;
};

template <typename T>
class GridTranspose : public GridProblem {
 public:
  GridTranspose(int rank, const BlockCyclicLayout& in, const BlockCyclicLayout& out,
                DeviceTransposeOptions options)
      : rank_(rank), in_layout_(in), out_layout_(out), options_(std::move(options)) {}

  absl::Status MakeOperands(uint64_t seed, StreamQueues* device) override {
    seed_ = seed;
    ASSIGN_OR_RETURN(in_.host, MakePart<T>(in_layout_, rank_, seed));
    ASSIGN_OR_RETURN(out_.host, AllocatePart<T>(out_layout_, rank_));
    RETURN_IF_ERROR(in_.AllocateOn(device));
    RETURN_IF_ERROR(in_.CopyIn());
    ASSIGN_OR_RETURN(messages_, device->Allocate(TransposeMessageBytes(in_layout_, out_layout_,
                                                                       sizeof(T), options_, rank_,
                                                                       in_layout_.grid.size())));
    return out_.AllocateOn(device);
  }

  absl::Status PoisonResult() override { return out_.Poison(); }

  absl::Status ReachPeers(PeerMemory* memory, Communicator* control) override {
    return ReachParts(out_.view.data, out_layout_, memory, control,
                      [&](void* part, int64_t rows, int64_t cols) {
                        options_.parts_of_out.push_back({part, rows, cols, cols, sizeof(T)});
                      });
  }

  int Multiprocessors() const override {
    const bool copies = !options_.parts_of_out.empty();
    return copies ? TransposeMultiprocessors(in_layout_, out_layout_, rank_) : 0;
  }

  absl::Status Run(const GridDevice& device, StreamQueues* queues, Communicator* ranks) override {
    return DistributedTransposeOnDevice(in_layout_, In(), out_layout_, Out(), options_,
                                        device.permute, queues, ranks, messages_);
  }

  absl::StatusOr<CublasMpGrid::Call> Bind(CublasMpGrid* cublasmp) override {
    return cublasmp->Transpose(in_layout_, In(), out_layout_, Out(), out_.device);
  }

  absl::Status Verify(Communicator* control) override {
    RETURN_IF_ERROR(out_.CopyOut());
    auto wrong =
        static_cast<double>(WrongTransposedElements(out_layout_, rank_, seed_, out_.host.view));
    RETURN_IF_ERROR(control->Sum(absl::MakeSpan(&wrong, 1)));
    if (wrong == 0) return absl::OkStatus();
    return absl::DataLossError(absl::StrCat(wrong, " elements are wrong"));
  }

 private:
  MatrixView In() const {
    return {in_.view.data, in_.view.rows, in_.view.cols, in_.view.ld, sizeof(T)};
  }
  MutableMatrixView Out() const {
    return {out_.view.data, out_.view.rows, out_.view.cols, out_.view.ld, sizeof(T)};
  }

  int rank_;
  BlockCyclicLayout in_layout_, out_layout_;
  uint64_t seed_ = 0;
  MirroredPart<T> in_, out_;
  void* messages_ = nullptr;
  DeviceTransposeOptions options_;
};

template <typename T>
absl::StatusOr<std::unique_ptr<GridProblem>> MakeProduct(absl::Span<const int64_t> extents,
                                                         int64_t block, const RankGrid& grid,
                                                         int rank, MatMulPrecision precision) {
  const int64_t m = extents[0], n = extents[1], k = extents[2];
  SummaProblem<T, float> problem;
  ASSIGN_OR_RETURN(problem.a_layout, BlockCyclicLayout::Create(m, k, block, block, grid));
  ASSIGN_OR_RETURN(problem.b_layout, BlockCyclicLayout::Create(k, n, block, block, grid));
  ASSIGN_OR_RETURN(problem.c_layout, BlockCyclicLayout::Create(m, n, block, block, grid));
  return std::make_unique<GridProduct<T>>(rank, std::move(problem), precision);
}

}  // namespace

absl::StatusOr<std::unique_ptr<GridProblem>> MakeGridProduct(absl::Span<const int64_t> extents,
                                                             absl::string_view type, int64_t block,
                                                             const RankGrid& grid, int rank,
                                                             MatMulPrecision precision) {
  if (type == "bf16_float") return MakeProduct<Bf16>(extents, block, grid, rank, precision);
  return MakeProduct<float>(extents, block, grid, rank, precision);
}

absl::StatusOr<std::unique_ptr<GridProblem>> MakeGridTranspose(absl::Span<const int64_t> extents,
                                                               absl::string_view type,
                                                               int64_t block, const RankGrid& grid,
                                                               int rank,
                                                               DeviceTransposeOptions options) {
  ASSIGN_OR_RETURN(const BlockCyclicLayout in,
                   BlockCyclicLayout::Create(extents[0], extents[1], block, block, grid));
  ASSIGN_OR_RETURN(const BlockCyclicLayout out,
                   BlockCyclicLayout::Create(extents[1], extents[0], block, block, grid));
  if (type == "double") {
    return std::make_unique<GridTranspose<double>>(rank, in, out, std::move(options));
  }
  return std::make_unique<GridTranspose<float>>(rank, in, out, std::move(options));
}

}  // namespace stridewise
