#include "benchmarks/matmul/matmul_workload.h"

#include <cmath>
#include <cstring>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/verify/fill.h"
#include "common/verify/freivalds.h"
#include "matmul/batch.h"
#include "matmul/reference.h"

namespace stridewise {
namespace {

// Without a GPU the reference runs on the CPU; 2^35 operations are about 1 s on two cores, and a
// row is not to wait longer for its judge than for itself.
constexpr double kMaxHostReferenceFlops = 34359738368.0;

constexpr uint64_t kSeedOfB = 0x5eed0fb;
constexpr uint64_t kSeedOfC = 0x5eed0fc;

size_t Bytes(int64_t elements, ElementType type) {
  return static_cast<size_t>(elements) * static_cast<size_t>(ElementBytes(type));
}

absl::StatusOr<HostBuffer> RandomNumbers(int64_t elements, ElementType type, uint64_t seed,
                                         HostMemory host_memory) {
  ASSIGN_OR_RETURN(HostBuffer buffer, HostBuffer::Allocate(Bytes(elements, type), host_memory));
  if (type == ElementType::kFloat) {
    FillUniform(Matrix<float>{buffer.As<float>(), 1, elements, elements}, seed);
  } else {
    FillUniform(Matrix<double>{buffer.As<double>(), 1, elements, elements}, seed);
  }
  return buffer;
}

auto ProblemKey(const Shape3& shape, ElementType type, const MatMulForm& form) {
  return std::tuple(shape.m, shape.n, shape.k, type, LayoutName(form.layout), form.alpha, form.beta,
                    form.batch);
}

}  // namespace

absl::StatusOr<MatMulWorkload> MatMulWorkload::Create(const MatMulConfig& config, uint64_t seed,
                                                      HostMemory host_memory) {
  MatMulWorkload problem;
  problem.seed_ = seed;
  problem.shape_ = config.shape;
  problem.form_ = config.form;
  problem.args_ = GaplessArgs(config);
  MatMulArgs& args = problem.args_;
  args.block = kNoBlock;
  const int64_t c_elements = ElementsOfC(args);
  ASSIGN_OR_RETURN(problem.a_, RandomNumbers(ElementsOfA(args), args.type, seed, host_memory));
  ASSIGN_OR_RETURN(problem.b_,
                   RandomNumbers(ElementsOfB(args), args.type, seed ^ kSeedOfB, host_memory));
  ASSIGN_OR_RETURN(problem.c_, HostBuffer::Allocate(Bytes(c_elements, args.type), host_memory));
  if (args.beta != 0) {
    ASSIGN_OR_RETURN(problem.old_c_,
                     RandomNumbers(c_elements, args.type, seed ^ kSeedOfC, host_memory));
  }
  args.a = problem.a_.data();
  args.b = problem.b_.data();
  args.c = problem.c_.data();
  return problem;
}

bool MatMulWorkload::IsOf(const MatMulConfig& config) const {
  return ProblemKey(shape_, args_.type, form_) ==
         ProblemKey(config.shape, config.type, config.form);
}

void MatMulWorkload::RestoreC() {
  if (old_c_.bytes() > 0) std::memcpy(c_.data(), old_c_.data(), old_c_.bytes());
}

MatMulArgs MatMulWorkload::OneMatrix(int64_t index) const { return OneOfBatch(args_, index); }

bool MatMulWorkload::NeedsReference() const {
  return args_.transpose_a || args_.transpose_b || args_.alpha != 1 || args_.beta != 0;
}

absl::StatusOr<MatMulWorkload::Reference> MatMulWorkload::ComputeReference(
    int64_t index, cublasHandle_t cublas) const {
  const size_t bytes = Bytes(args_.m * args_.n, ElementType::kDouble);
  Reference reference;
  ASSIGN_OR_RETURN(reference.product, HostBuffer::Allocate(bytes, HostMemory::kPageable));
  ASSIGN_OR_RETURN(reference.abs_product, HostBuffer::Allocate(bytes, HostMemory::kPageable));
  MatMulArgs args = args_;
  args.c = old_c_.data();
  args = OneOfBatch(args, index);
  args.cublas = cublas;
  RETURN_IF_ERROR(ReferenceProducts(args, {reference.product.As<double>(), args.m, args.n, args.n},
                                    {reference.abs_product.As<double>(), args.m, args.n, args.n}));
  return reference;
}

// Null where it would cost too much and can be done without.
absl::StatusOr<const MatMulWorkload::Reference*> MatMulWorkload::ReferenceOf(
    int64_t index, cublasHandle_t cublas) {
  const auto [place, is_first] = references_.try_emplace(index);
  std::optional<Reference>& reference = place->second;
  if (is_first) {
    const double flops = 2 * MatMulFlops(args_.m, args_.n, args_.k);
    if (!NeedsReference() && cublas == nullptr && flops > kMaxHostReferenceFlops) return nullptr;
    absl::StatusOr<Reference> computed = ComputeReference(index, cublas);
    if (computed.ok()) {
      reference = *std::move(computed);
    } else if (!absl::IsResourceExhausted(computed.status()) || NeedsReference()) {
      references_.erase(place);
      return computed.status();
    }
  }
  return reference.has_value() ? &*reference : nullptr;
}

template <typename T>
absl::StatusOr<ProductError> MatMulWorkload::Judge(int64_t index, VerifyMode mode,
                                                   cublasHandle_t cublas) {
  const MatMulArgs args = OneMatrix(index);
  if (mode == VerifyMode::kFull || NeedsReference()) {
    ASSIGN_OR_RETURN(const Reference* reference, ReferenceOf(index, cublas));
    if (reference != nullptr) {
      return CompareProduct<T>(
          args.C<T>(), {reference->product.As<double>(), args.m, args.n, args.n},
          {reference->abs_product.As<double>(), args.m, args.n, args.n}, ReferenceTerms(args));
    }
  }
  return CheckProductFast<T>(args.A<T>(), args.B<T>(), args.C<T>(), seed_);
}

// What was not written is poison, and that is NaN.
template <typename T>
absl::Status MatMulWorkload::CheckFinite() const {
  const int64_t elements = ElementsOfC(args_);
  for (int64_t i = 0; i < elements; ++i) {
    if (std::isfinite(c_.As<T>()[i])) continue;
    return absl::DataLossError(
        absl::StrCat("matrix ", i / (args_.m * args_.n), " of the batch is not finite"));
  }
  return absl::OkStatus();
}

absl::Status MatMulWorkload::Verify(VerifyMode mode, cublasHandle_t cublas,
                                    std::optional<ProductError>* error) {
  if (mode == VerifyMode::kOff) return absl::OkStatus();
  return ForElementType(args_, [&](auto type_tag) -> absl::Status {
    using T = decltype(type_tag);
    error->reset();
    for (const int64_t index : std::set<int64_t>{0, args_.batch - 1}) {
      ASSIGN_OR_RETURN(const ProductError its_error, Judge<T>(index, mode, cublas));
      if (!error->has_value() || !(its_error.relative_error <= (*error)->relative_error)) {
        *error = its_error;
      }
      RETURN_IF_ERROR(CheckProduct(its_error, ReferenceTerms(args_), kUnitRoundoff<T>));
    }
    return args_.batch > 1 ? CheckFinite<T>() : absl::OkStatus();
  });
}

absl::Status MatMulWorkload::CrossCheck(const std::string& name) {
  return ForElementType(args_, [&](auto type_tag) -> absl::Status {
    using T = decltype(type_tag);
    const T* data = c_.As<T>();
    const std::vector<double> result(data, data + ElementsOfC(args_));
    // Each of the two may be off by its own tolerance.
    const double allowed = 2 * NormTolerance(ReferenceTerms(args_), kUnitRoundoff<T>);
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
