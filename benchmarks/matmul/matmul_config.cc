#include "benchmarks/matmul/matmul_config.h"

#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "matmul/row_major.h"

namespace stridewise {
namespace {

constexpr double kMaxFactor = 1e30;

char OpName(bool transposed) { return transposed ? 't' : 'n'; }

bool IsOp(char name) { return name == 'n' || name == 't'; }

void SetGapless(MatMulArgs* args) {
  args->lda = args->transpose_a ? args->m : args->k;
  args->ldb = args->transpose_b ? args->k : args->n;
  args->ldc = args->n;
  args->stride_a = args->m * args->k;
  args->stride_b = args->k * args->n;
  args->stride_c = args->m * args->n;
}

}  // namespace

std::string LayoutName(const MatMulLayout& layout) {
  return std::string({OpName(layout.transpose_a), OpName(layout.transpose_b)}) +
         (layout.column_major ? "_col" : "");
}

absl::StatusOr<std::vector<MatMulLayout>> ParseLayouts(absl::string_view flag,
                                                       absl::string_view text) {
  std::vector<MatMulLayout> layouts;
  for (absl::string_view name : absl::StrSplit(text, ',')) {
    name = absl::StripAsciiWhitespace(name);
    absl::string_view ops = name;
    const bool column_major = absl::ConsumeSuffix(&ops, "_col");
    if (ops.size() != 2 || !IsOp(ops[0]) || !IsOp(ops[1])) {
      return absl::InvalidArgumentError(absl::StrCat(
          flag, ": '", name, "' is not allowed; allowed is nn, nt, tn and tt, and each with _col"));
    }
    layouts.push_back({ops[0] == 't', ops[1] == 't', column_major});
  }
  return layouts;
}

absl::StatusOr<double> ParseFactor(absl::string_view flag, absl::string_view text) {
  double value = 0;
  if (absl::SimpleAtod(text, &value) && std::abs(value) <= kMaxFactor) return value;
  return absl::InvalidArgumentError(absl::StrCat(flag, ": '", text,
                                                 "' is not allowed; allowed is a number from ",
                                                 -kMaxFactor, " to ", kMaxFactor));
}

bool IsPlain(const MatMulForm& form) {
  // Column-major without transpositions is the plain product of the swapped operands.
  return !form.layout.transpose_a && !form.layout.transpose_b && form.alpha == 1 &&
         form.beta == 0 && form.batch == 1;
}

MatMulArgs GaplessArgs(const MatMulConfig& config) {
  MatMulProblem problem;
  problem.m = config.shape.m;
  problem.n = config.shape.n;
  problem.k = config.shape.k;
  problem.transpose_a = config.form.layout.transpose_a;
  problem.transpose_b = config.form.layout.transpose_b;
  problem.batch = config.form.batch;
  if (config.form.layout.column_major) problem.layout = MatrixLayout::kColumnMajor;
  MatMulArgs args = RowMajorArgs(problem);
  args.type = config.type;
  args.alpha = config.form.alpha;
  args.beta = config.form.beta;
  args.block = config.block;
  SetGapless(&args);
  return args;
}

int64_t ElementsOfA(const MatMulArgs& args) { return args.batch * args.m * args.k; }
int64_t ElementsOfB(const MatMulArgs& args) { return args.batch * args.k * args.n; }
int64_t ElementsOfC(const MatMulArgs& args) { return args.batch * args.m * args.n; }

double FlopsToDo(const MatMulConfig& config) {
  if (config.form.alpha == 0) return 0;
  const Shape3& shape = config.shape;
  return static_cast<double>(config.form.batch) * MatMulFlops(shape.m, shape.n, shape.k);
}

double BytesToMove(const MatMulConfig& config) {
  const Shape3& shape = config.shape;
  const int64_t depth = config.form.alpha == 0 ? 0 : shape.k;
  const double written = MatMulBytes(shape.m, shape.n, 0, config.type);
  const double c_read = config.form.beta == 0 ? 0 : written;
  return static_cast<double>(config.form.batch) *
         (MatMulBytes(shape.m, shape.n, depth, config.type) + c_read);
}

void SetProblem(const MatMulConfig& config, ResultRow* row) {
  row->Set(Column::kOperation, "matmul");
  row->Set(Column::kDtype, ElementTypeName(config.type));
  row->Set(Column::kRows, config.shape.m);
  row->Set(Column::kCols, config.shape.n);
  row->Set(Column::kDepth, config.shape.k);
  const std::string layout = LayoutName(config.form.layout);
  if (layout != LayoutName({})) row->Set(Column::kLayout, layout);
  if (config.form.alpha != 1) row->Set(Column::kAlpha, config.form.alpha);
  if (config.form.beta != 0) row->Set(Column::kBeta, config.form.beta);
  if (config.form.batch > 1) row->Set(Column::kBatch, config.form.batch);
}

}  // namespace stridewise
