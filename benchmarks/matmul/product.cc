#include "benchmarks/matmul/product.h"

#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "benchmarks/matmul/product_args.h"
#include "common/base/parallel_rows.h"
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

// Of the random projections of kFast, which need not be drawn anew for each sweep.
constexpr uint64_t kProjectionSeed = 1;

// Seeds of a, b, the old c and the bias differ from the sweep's by these.
constexpr uint64_t kInputSeeds[] = {0, 0x5eed0fb, 0x5eed0fc, 0x5eed0fd};

// Returns the batch's buffer of matrices with this number of elements each.
BufferSpec Spec(const char* name, int64_t elements, ElementType type) {
  const int64_t size = ElementBytes(type);
  return {name, static_cast<size_t>(elements) * static_cast<size_t>(size), size};
}

// What was not written is poison, and that is NaN.
template <typename T>
absl::Status CheckFinite(const MatMulArgs& args, const void* c) {
  const int64_t matrix = args.m * args.n;
  for (int64_t i = 0; i < args.batch * matrix; ++i) {
    if (std::isfinite(static_cast<double>(static_cast<const T*>(c)[i]))) continue;
    return absl::DataLossError(absl::StrCat("matrix ", i / matrix, " of the batch is not finite"));
  }
  return absl::OkStatus();
}

// Calls fn with an element of an operand and one of C.
template <typename Fn>
auto ForOperandTypes(const MatMulTypes& types, Fn fn) {
  const bool wide = types.c == ElementType::kFloat;
  switch (types.a) {
    case ElementType::kDouble:
      return fn(double(), double());
    case ElementType::kBf16:
      return wide ? fn(Bf16(), float()) : fn(Bf16(), Bf16());
    case ElementType::kFp16:
      return wide ? fn(Fp16(), float()) : fn(Fp16(), Fp16());
    case ElementType::kS8:
      return wide ? fn(int8_t(), float()) : fn(int8_t(), int32_t());
    case ElementType::kE4m3:
      return wide ? fn(E4m3(), float()) : fn(E4m3(), Bf16());
    case ElementType::kE5m2:
      return wide ? fn(E5m2(), float()) : fn(E5m2(), Bf16());
    default:
      return fn(float(), float());
  }
}

}  // namespace

Product::Product(const Point& point)
    : form_(FormOf(point)),
      types_(TypesOf(point.type)),
      accuracy_(AccuracyOf(types_, form_.precision)),
      args_(GaplessArgs(point)) {}

Work Product::work() const {
  const auto batch = static_cast<double>(args_.batch);
  const int64_t k = form_.alpha == 0 ? 0 : args_.k;  // A and B are then not read.
  const double c_bytes = MatMulBytes(args_.m, args_.n, 0, types_);
  const double c_read = form_.beta == 0 ? 0 : c_bytes;
  return {batch * MatMulFlops(args_.m, args_.n, k),
          batch * (MatMulBytes(args_.m, args_.n, k, types_) + c_read)};
}

std::vector<BufferSpec> Product::inputs() const {
  std::vector<BufferSpec> specs = {Spec("a", args_.batch * args_.m * args_.k, types_.a),
                                   Spec("b", args_.batch * args_.k * args_.n, types_.b)};
  if (form_.beta != 0) specs.push_back(Spec("old c", args_.batch * args_.m * args_.n, types_.c));
  if (form_.bias) specs.push_back(Spec("bias", args_.n, types_.c));
  return specs;
}

BufferSpec Product::output() const { return Spec("c", args_.batch * args_.m * args_.n, types_.c); }

void Product::Fill(size_t input, uint64_t seed, void* data) const {
  const BufferSpec spec = inputs()[input];
  const int64_t elements = static_cast<int64_t>(spec.bytes) / spec.element_bytes;
  const ElementType type = input == 0 ? types_.a : input == 1 ? types_.b : types_.c;
  ForElementType<float, double, Bf16, Fp16, int8_t, int32_t, E4m3, E5m2>(type, [&](auto type_tag) {
    using T = decltype(type_tag);
    ForRowsInParallel(elements, 1, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        static_cast<T*>(data)[i] = UniformAt<T>(seed ^ kInputSeeds[input], i);
      }
    });
  });
}

Binding Product::Bind(const Implementation& implementation, const Block& block) const {
  const auto& own = static_cast<const MatMulImplementation&>(implementation);
  MatMulArgs args = args_;
  args.block = block;
  args.workspace_bytes = form_.workspace ? MatMulWorkspaceBytes(own, args) : 0;
  Binding binding;
  binding.workspace_bytes = static_cast<size_t>(args.workspace_bytes);
  if (form_.beta != 0) binding.output_starts_as = 2;
  // Its own arguments, which no call copies: that would be a tenth of the time of 8 x 8 x 8 on the
  // host.
  binding.run = [args, own, has_bias = form_.bias](const Buffers& buffers) mutable {
    args.a.data = buffers.inputs[0];
    args.b.data = buffers.inputs[1];
    args.c.data = buffers.output;
    if (has_bias) args.epilogue.bias = buffers.inputs.back();
    args.workspace = buffers.workspace;
    args.stream = buffers.stream;
    args.cublas = buffers.cublas;
    return RunMatMul(own, args);
  };
  return binding;
}

// The result's output is only read.
MatMulArgs Product::ArgsOf(const Result& result) const {
  MatMulArgs args = args_;
  args.a.data = result.inputs[0];
  args.b.data = result.inputs[1];
  args.c.data = const_cast<void*>(result.output);
  if (form_.bias) args.epilogue.bias = result.inputs.back();
  return args;
}

bool Product::NeedsReference() const {
  return types_.a != types_.b || args_.alpha != 1 || args_.beta != 0 || form_.bias ||
         form_.activation != Activation::kNone;
}

absl::StatusOr<Product::Reference> Product::ComputeReference(int64_t index, const Result& result,
                                                             cublasHandle_t cublas) const {
  const size_t bytes = Spec("", args_.m * args_.n, ElementType::kDouble).bytes;
  Reference reference;
  ASSIGN_OR_RETURN(reference.product, HostBuffer::Allocate(bytes, HostMemory::kPageable));
  ASSIGN_OR_RETURN(reference.abs_product, HostBuffer::Allocate(bytes, HostMemory::kPageable));
  MatMulArgs args = ArgsOf(result);
  args.c.data = form_.beta != 0 ? result.inputs[2] : nullptr;
  args = OneOfBatch(args, index);
  args.cublas = cublas;
  RETURN_IF_ERROR(ReferenceProducts(args, {reference.product.As<double>(), args.m, args.n, args.n},
                                    {reference.abs_product.As<double>(), args.m, args.n, args.n}));
  return reference;
}

// Null where it would cost too much and can be done without.
absl::StatusOr<const Product::Reference*> Product::ReferenceOf(int64_t index, const Result& result,
                                                               cublasHandle_t cublas) {
  const auto [entry, is_first] = references_.try_emplace(index);
  std::optional<Reference>& reference = entry->second;
  if (is_first) {
    const double flops = 2 * MatMulFlops(args_.m, args_.n, args_.k);
    if (!NeedsReference() && cublas == nullptr && flops > kMaxHostReferenceFlops) return nullptr;
    absl::StatusOr<Reference> computed = ComputeReference(index, result, cublas);
    if (computed.ok()) {
      reference = *std::move(computed);
    } else if (!absl::IsResourceExhausted(computed.status()) || NeedsReference()) {
      references_.erase(entry);
      return computed.status();
    }
  }
  return reference.has_value() ? &*reference : nullptr;
}

template <typename T, typename Out>
absl::StatusOr<ProductError> Product::Judge(int64_t index, const Result& result, VerifyMode mode,
                                            cublasHandle_t cublas,
                                            const ProductAccuracy& accuracy) {
  const MatMulArgs args = OneOfBatch(ArgsOf(result), index);
  if (mode == VerifyMode::kFull || NeedsReference()) {
    ASSIGN_OR_RETURN(const Reference* reference, ReferenceOf(index, result, cublas));
    if (reference != nullptr) {
      return CompareProduct<Out>(args.C<Out>(),
                                 {reference->product.As<double>(), args.m, args.n, args.n},
                                 {reference->abs_product.As<double>(), args.m, args.n, args.n},
                                 ReferenceTerms(args), accuracy);
    }
  }
  return CheckProductFast<T, Out>(args.A<T>(), args.B<T>(), args.C<Out>(), kProjectionSeed,
                                  accuracy, {args.a.transposed, args.b.transposed});
}

absl::Status Product::Verify(const Implementation& implementation, const Result& result,
                             VerifyMode mode, cublasHandle_t cublas, ResultRow* row) {
  const ProductAccuracy accuracy =
      AccuracyOf(static_cast<const MatMulImplementation&>(implementation), args_);
  return ForOperandTypes(types_, [&](auto operand, auto output) -> absl::Status {
    using T = decltype(operand);
    using Out = decltype(output);
    std::optional<ProductError> worst;
    for (const int64_t index : std::set<int64_t>{0, args_.batch - 1}) {
      ASSIGN_OR_RETURN(const ProductError error,
                       (Judge<T, Out>(index, result, mode, cublas, accuracy)));
      if (!worst.has_value() || !(error.relative_error <= worst->relative_error)) worst = error;
      row->Set(Column::kRelativeError, worst->relative_error);
      row->Set(Column::kMaxErrorOverBound, worst->max_error_over_bound);
      if (worst->exhaustive) {
        row->Set(Column::kMedianError, worst->median_error);
        row->Set(Column::kMaxError, worst->max_error);
      }
      RETURN_IF_ERROR(CheckProduct(error, ReferenceTerms(args_), accuracy));
    }
    return args_.batch > 1 ? CheckFinite<Out>(args_, result.output) : absl::OkStatus();
  });
}

absl::Status Product::CheckAgreement(const void* output, const void* other) const {
  return ForElementType<float, double, Bf16, Fp16, int32_t>(
      types_.c, [&](auto element) -> absl::Status {
        using T = decltype(element);
        const auto* ours = static_cast<const T*>(output);
        const auto* theirs = static_cast<const T*>(other);
        double difference = 0;
        double norm = 0;
        for (int64_t i = 0; i < args_.batch * args_.m * args_.n; ++i) {
          const auto theirs_i = static_cast<double>(theirs[i]);
          const double difference_i = static_cast<double>(ours[i]) - theirs_i;
          difference += difference_i * difference_i;
          norm += theirs_i * theirs_i;
        }
        // Each of the two may be off by its own tolerance.
        const double allowed = 2 * NormTolerance(ReferenceTerms(args_), accuracy_);
        if (std::sqrt(difference) <= allowed * std::sqrt(norm)) return absl::OkStatus();
        return absl::DataLossError(
            absl::StrCat("by ", std::sqrt(difference / norm), ", allowed is ", allowed));
      });
}

}  // namespace stridewise
