#include "benchmarks/timed_calls.h"

#include <cublas_v2.h>

#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/gpu/cublas_status.h"
#include "common/gpu/gpu_runtime.h"
#include "matmul/matmul.h"
#include "transpose/transpose.h"

namespace stridewise {
namespace {

constexpr struct {
  int64_t m, n, k;
  bool transpose_b;
  int64_t batch;
} kProducts[] = {
    {8, 8, 8, false, 1},          {100, 100, 100, false, 1},   {256, 256, 256, false, 1},
    {512, 512, 512, false, 1},    {704, 704, 704, false, 1},   {1000, 1000, 1000, false, 1},
    {1, 4096, 4096, false, 1},    {16, 4096, 4096, true, 1},   {256, 256, 8192, false, 1},
    {2048, 2048, 2048, false, 1}, {2049, 2049, 2049, true, 1}, {64, 64, 64, false, 100},
};

constexpr struct {
  int64_t rows, cols;
  bool in_place;
  int64_t batch;
} kTransposes[] = {
    {32, 32, false, 1},    {1000, 1000, false, 1}, {2048, 2048, false, 1}, {2047, 2049, false, 1},
    {7, 100000, false, 1}, {100000, 7, false, 1},  {64, 64, false, 100},   {1024, 1024, true, 1},
};

absl::StatusOr<DeviceBuffer> Zeros(size_t bytes) {
  ASSIGN_OR_RETURN(DeviceBuffer buffer, DeviceBuffer::Allocate(bytes));
  RETURN_IF_ERROR(gpu::FillBytes(buffer.data(), 0, bytes, nullptr));
  return buffer;
}

}  // namespace

absl::StatusOr<CallMemory> AllocateCallMemory(cudaStream_t stream) {
  CallMemory memory;
  constexpr size_t kBytes = size_t{64} << 20;
  for (DeviceBuffer* buffer : {&memory.a, &memory.b, &memory.c, &memory.workspace}) {
    ASSIGN_OR_RETURN(*buffer, Zeros(kBytes));
  }
  ASSIGN_OR_RETURN(memory.cublas, CublasHandle::Create());
  ASSIGN_OR_RETURN(memory.context, MatMulContext::Create(stream));
  RETURN_IF_ERROR(CUBLAS_STATUS(cublasSetStream(memory.cublas.get(), stream)));
  RETURN_IF_ERROR(gpu::Synchronize(nullptr));
  return memory;
}

void AddProducts(CallMemory& memory, std::vector<TimedCall>* calls) {
  for (const auto& p : kProducts) {
    std::string shape = absl::StrCat(p.m, "x", p.n, "x", p.k, p.transpose_b ? " nt" : "");
    if (p.batch > 1) absl::StrAppend(&shape, " batch ", p.batch);
    MatMulProblem problem;
    problem.m = p.m;
    problem.n = p.n;
    problem.k = p.k;
    problem.a = {memory.a.As<float>(), p.k};
    problem.b = {memory.b.As<float>(), p.transpose_b ? p.k : p.n};
    problem.c = {memory.c.As<float>(), p.n};
    problem.b.transposed = p.transpose_b;
    problem.batch = p.batch;
    problem.a.stride = p.m * p.k;
    problem.b.stride = p.k * p.n;
    problem.c.stride = p.m * p.n;
    calls->push_back(
        {"MatMul", shape, [problem](cudaStream_t stream) { return MatMul(problem, stream); }});
    calls->push_back(
        {"MatMul with context", shape, [problem, context = &*memory.context](cudaStream_t) {
           return MatMul(*context, problem);
         }});
    problem.workspace = memory.workspace.data();
    problem.workspace_bytes = static_cast<int64_t>(memory.workspace.bytes());
    calls->push_back({"MatMul with workspace", shape,
                      [problem](cudaStream_t stream) { return MatMul(problem, stream); }});
    calls->push_back(
        {"cublasSgemm", shape, [p, problem, handle = memory.cublas.get()](cudaStream_t) {
           const float one = 1;
           const float zero = 0;
           const auto* a = static_cast<const float*>(problem.a.data);
           const auto* b = static_cast<const float*>(problem.b.data);
           auto* c = static_cast<float*>(problem.c.data);
           const auto op_b = p.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
           const auto m = static_cast<int>(p.m);
           const auto n = static_cast<int>(p.n);
           const auto k = static_cast<int>(p.k);
           const int ldb = p.transpose_b ? k : n;
           if (p.batch == 1) {
             return CUBLAS_STATUS(
                 cublasSgemm(handle, op_b, CUBLAS_OP_N, n, m, k, &one, b, ldb, a, k, &zero, c, n));
           }
           return CUBLAS_STATUS(cublasSgemmStridedBatched(
               handle, op_b, CUBLAS_OP_N, n, m, k, &one, b, ldb, problem.b.stride, a, k,
               problem.a.stride, &zero, c, n, problem.c.stride, static_cast<int>(p.batch)));
         }});
  }
}

void AddTransposes(const CallMemory& memory, std::vector<TimedCall>* calls) {
  for (const auto& t : kTransposes) {
    std::string shape = absl::StrCat(t.rows, "x", t.cols, t.in_place ? " in place" : "");
    if (t.batch > 1) absl::StrAppend(&shape, " batch ", t.batch);
    void* const out = t.in_place ? memory.a.data() : memory.c.data();
    const MatrixView in = {memory.a.data(), t.rows,  t.cols,         t.cols,
                           sizeof(float),   t.batch, t.rows * t.cols};
    const MutableMatrixView to = {out,           t.cols,  t.rows,         t.rows,
                                  sizeof(float), t.batch, t.rows * t.cols};
    calls->push_back(
        {"Transpose", shape, [in, to](cudaStream_t stream) { return Transpose(in, to, stream); }});
    if (t.batch > 1 || t.in_place) continue;  // Which cublasSgeam() does not take.
    calls->push_back(
        {"cublasSgeam", shape, [t, in, to, handle = memory.cublas.get()](cudaStream_t) {
           const float one = 1;
           const float zero = 0;
           const auto rows = static_cast<int>(t.rows);
           const auto cols = static_cast<int>(t.cols);
           auto* c = static_cast<float*>(to.data);
           return CUBLAS_STATUS(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, cols, &one,
                                            static_cast<const float*>(in.data), cols, &zero, c,
                                            rows, c, rows));
         }});
  }
}

}  // namespace stridewise
