#include "benchmarks/matmul_workload.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/fill.h"
#include "common/freivalds.h"
#include "common/status_macros.h"
#include "matmul/reference.h"

namespace stridewise {
namespace {

// Without a GPU the reference runs on the CPU; 2^35 operations are about 1 s on two cores, and a
// row is not to wait longer for its judge than for itself.
constexpr double kMaxHostReferenceFlops = 34359738368.0;

constexpr uint64_t kSeedOfB = 0x5eed0fb;

size_t Bytes(int64_t rows, int64_t cols, size_t element) {
  return static_cast<size_t>(rows) * static_cast<size_t>(cols) * element;
}

}  // namespace

absl::StatusOr<MatMulWorkload> MatMulWorkload::Create(const Shape3& shape, ElementType type,
                                                      uint64_t seed, HostMemory host_memory) {
  const auto element = static_cast<size_t>(ElementBytes(type));
  MatMulWorkload problem;
  problem.seed_ = seed;
  ASSIGN_OR_RETURN(problem.a_, HostBuffer::Allocate(Bytes(shape.m, shape.k, element), host_memory));
  ASSIGN_OR_RETURN(problem.b_, HostBuffer::Allocate(Bytes(shape.k, shape.n, element), host_memory));
  ASSIGN_OR_RETURN(problem.c_, HostBuffer::Allocate(Bytes(shape.m, shape.n, element), host_memory));
  MatMulArgs& args = problem.args_;
  args.m = shape.m;
  args.n = shape.n;
  args.k = shape.k;
  args.type = type;
  args.a = problem.a_.data();
  args.lda = shape.k;
  args.b = problem.b_.data();
  args.ldb = shape.n;
  args.c = problem.c_.data();
  args.ldc = shape.n;
  RETURN_IF_ERROR(ForElementType(args, [&](auto type_tag) {
    using T = decltype(type_tag);
    FillUniform(Matrix<T>{problem.a_.As<T>(), shape.m, shape.k, shape.k}, seed);
    FillUniform(Matrix<T>{problem.b_.As<T>(), shape.k, shape.n, shape.n}, seed ^ kSeedOfB);
    return absl::OkStatus();
  }));
  return problem;
}

// Returns whether there is a reference.
absl::StatusOr<bool> MatMulWorkload::EnsureReference(cublasHandle_t cublas) {
  if (std::exchange(reference_tried_, true)) {
    return reference_.bytes() > 0 || args_.m * args_.n == 0;
  }
  const double flops = 2 * MatMulFlops(args_.m, args_.n, args_.k);
  if (cublas == nullptr && flops > kMaxHostReferenceFlops) return false;
  const size_t bytes = Bytes(args_.m, args_.n, sizeof(double));
  absl::StatusOr<HostBuffer> r = HostBuffer::Allocate(bytes, HostMemory::kPageable);
  absl::StatusOr<HostBuffer> s = HostBuffer::Allocate(bytes, HostMemory::kPageable);
  if (!r.ok() || !s.ok()) return false;
  MatMulArgs args = args_;
  args.cublas = cublas;
  const absl::Status status = ReferenceProducts(args, {r->As<double>(), args.m, args.n, args.n},
                                                {s->As<double>(), args.m, args.n, args.n});
  if (absl::IsResourceExhausted(status)) return false;
  RETURN_IF_ERROR(status);
  reference_ = *std::move(r);
  abs_reference_ = *std::move(s);
  return true;
}

template <typename T>
absl::StatusOr<ProductError> MatMulWorkload::Judge(VerifyMode mode, cublasHandle_t cublas) {
  if (mode == VerifyMode::kFull) {
    ASSIGN_OR_RETURN(const bool reference, EnsureReference(cublas));
    if (reference) {
      return CompareProduct<T>(args_.C<T>(), {reference_.As<double>(), args_.m, args_.n, args_.n},
                               {abs_reference_.As<double>(), args_.m, args_.n, args_.n}, args_.k);
    }
  }
  return CheckProductFast<T>(args_.A<T>(), args_.B<T>(), args_.C<T>(), seed_);
}

absl::Status MatMulWorkload::Verify(VerifyMode mode, cublasHandle_t cublas,
                                    std::optional<ProductError>* error) {
  if (mode == VerifyMode::kOff) return absl::OkStatus();
  return ForElementType(args_, [&](auto type_tag) -> absl::Status {
    using T = decltype(type_tag);
    ASSIGN_OR_RETURN(*error, Judge<T>(mode, cublas));
    return CheckProduct(**error, args_.k, kUnitRoundoff<T>);
  });
}

absl::Status MatMulWorkload::CrossCheck(const std::string& name) {
  return ForElementType(args_, [&](auto type_tag) -> absl::Status {
    using T = decltype(type_tag);
    const T* data = c_.As<T>();
    const std::vector<double> result(data, data + args_.m * args_.n);
    // Each of the two may be off by its own tolerance.
    const double allowed = 2 * NormTolerance(args_.k, kUnitRoundoff<T>);
    for (const auto& [other_name, other] : kept_) {
      double difference = 0;
      double norm = 0;
      for (size_t i = 0; i < result.size(); ++i) {
        difference += (result[i] - other[i]) * (result[i] - other[i]);
        norm += other[i] * other[i];
      }
      if (!(std::sqrt(difference) <= allowed * std::sqrt(norm))) {
        return absl::DataLossError(absl::StrCat("differs from ", other_name, " by ",
                                                std::sqrt(difference / norm), ", allowed is ",
                                                allowed));
      }
    }
    kept_.emplace_back(name, result);
    return absl::OkStatus();
  });
}

}  // namespace stridewise
