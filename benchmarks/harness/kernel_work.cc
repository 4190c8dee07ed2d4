#include "benchmarks/harness/kernel_work.h"

#include <utility>

#include "benchmarks/transpose/transpose_problem.h"
#include "common/base/status_macros.h"
#include "matmul/host_executor.h"
#include "transpose/host_executor.h"

namespace stridewise {
namespace {

KernelWork Work(const TransposeConfig& config, TransposeImplementation implementation,
                uint64_t seed) {
  TransposeArgs args =
      GaplessArgs(implementation.operation, config.shape, config.batch, config.type.element_bytes);
  args.block = config.block;
  const auto bytes = static_cast<size_t>(args.batch * args.rows * args.cols * args.element_bytes);
  KernelWork work;
  work.inputs = {{"in", bytes, ElementType::kFloat, seed}};
  work.output_name = "out";
  work.output_bytes = bytes;
  work.in_place = implementation.operation == TransposeOperation::kInPlace;
  work.workspace_bytes = static_cast<size_t>(TransposeWorkspaceBytes(implementation, args));
  work.element_bytes = config.type.element_bytes;
  work.needs_cublas = implementation.needs_cublas;
  const bool in_place = work.in_place;
  work.run = [args, in_place, implementation = std::move(implementation)](
                 absl::Span<void* const> inputs, void* output, void* workspace, cudaStream_t stream,
                 cublasHandle_t cublas) mutable {
    args.in = in_place ? output : inputs[0];
    args.out = output;
    args.workspace = workspace;
    args.stream = stream;
    args.cublas = cublas;
    return RunTranspose(implementation, args);
  };
  return work;
}

KernelWork Work(const MatMulConfig& config, MatMulImplementation implementation, uint64_t seed) {
  MatMulArgs args = GaplessArgs(config);
  const auto bytes = [&](int64_t elements) {
    return static_cast<size_t>(elements * ElementBytes(config.type));
  };
  KernelWork work;
  work.inputs = {{"a", bytes(ElementsOfA(args)), config.type, seed},
                 {"b", bytes(ElementsOfB(args)), config.type, seed + 1}};
  work.output_name = "c";
  work.output_bytes = bytes(ElementsOfC(args));
  args.workspace_bytes = MatMulWorkspaceBytes(implementation, args);
  work.workspace_bytes = static_cast<size_t>(args.workspace_bytes);
  work.element_bytes = ElementBytes(config.type);
  work.needs_cublas = implementation.needs_cublas;
  work.run = [args, implementation = std::move(implementation)](
                 absl::Span<void* const> inputs, void* output, void* workspace, cudaStream_t stream,
                 cublasHandle_t cublas) mutable {
    args.a = inputs[0];
    args.b = inputs[1];
    args.c = output;
    args.workspace = workspace;
    args.stream = stream;
    args.cublas = cublas;
    return RunMatMul(implementation, args);
  };
  return work;
}

}  // namespace

KernelWork WorkOnDevice(const KernelConfig& config, uint64_t seed) {
  return std::visit([&](const auto& c) { return Work(c, *c.implementation, seed); }, config);
}

absl::StatusOr<KernelWork> WorkOnExecutor(const KernelConfig& config, uint64_t seed) {
  return std::visit(
      [&](const auto& c) -> absl::StatusOr<KernelWork> {
        ASSIGN_OR_RETURN(const auto on_host, OnHostExecutor(*c.implementation));
        return Work(c, on_host, seed);
      },
      config);
}

}  // namespace stridewise
