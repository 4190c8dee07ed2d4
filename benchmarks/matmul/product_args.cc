#include "benchmarks/matmul/product_args.h"

#include <vector>

#include "benchmarks/matmul/axes.h"
#include "matmul/row_major.h"

namespace stridewise {
namespace {

constexpr struct {
  absl::string_view name;
  MatMulTypes types;
} kNamedTypes[] = {{"float", AllOf(ElementType::kFloat)},
                   {"double", AllOf(ElementType::kDouble)},
                   {"bf16", kBf16ToBf16},
                   {"bf16_float", kBf16ToFloat},
                   {"fp16", kFp16ToFp16},
                   {"fp16_float", kFp16ToFloat},
                   {"s8_int", kS8ToInt},
                   {"s8_float", kS8ToFloat},
                   {"e4m3_bf16", kE4m3ToBf16},
                   {"e4m3_float", kE4m3ToFloat},
                   {"e5m2_bf16", kE5m2ToBf16},
                   {"e5m2_float", kE5m2ToFloat},
                   {"e4m3_e5m2_bf16", kE4m3E5m2ToBf16},
                   {"e5m2_e4m3_bf16", kE5m2E4m3ToBf16}};

}  // namespace

absl::Span<const absl::string_view> MatMulTypeNames() {
  static const auto& names = *[] {
    auto* made = new std::vector<absl::string_view>;
    for (const auto& named : kNamedTypes) made->push_back(named.name);
    return made;
  }();
  return names;
}

MatMulTypes TypesOf(absl::string_view name) {
  for (const auto& named : kNamedTypes) {
    if (named.name == name) return named.types;
  }
  return kNamedTypes[0].types;
}

MatMulArgs GaplessArgs(const Point& point) {
  const MatMulForm form = FormOf(point);
  MatMulProblem problem;
  problem.m = point.extents[0];
  problem.n = point.extents[1];
  problem.k = point.extents[2];
  problem.a.transposed = form.layout.transpose_a;
  problem.b.transposed = form.layout.transpose_b;
  problem.batch = point.batch;
  if (form.layout.column_major) problem.layout = MatrixLayout::kColumnMajor;
  MatMulArgs args = RowMajorArgs(problem);
  const MatMulTypes types = TypesOf(point.type);
  args.alpha = form.alpha;
  args.beta = form.beta;
  args.precision = form.precision;
  args.epilogue.activation = form.activation;
  args.a.type = types.a;
  args.b.type = types.b;
  args.c.type = types.c;
  args.a.ld = args.a.transposed ? args.m : args.k;
  args.b.ld = args.b.transposed ? args.k : args.n;
  args.c.ld = args.n;
  args.a.stride = args.m * args.k;
  args.b.stride = args.k * args.n;
  args.c.stride = args.m * args.n;
  return args;
}

MatMulProblem ProblemOf(const MatMulArgs& args) {
  MatMulProblem problem;
  problem.m = args.m;
  problem.n = args.n;
  problem.k = args.k;
  problem.a = args.a;
  problem.b = args.b;
  problem.c = args.c;
  problem.batch = args.batch;
  problem.alpha = args.alpha;
  problem.beta = args.beta;
  problem.precision = args.precision;
  return problem;
}

}  // namespace stridewise
