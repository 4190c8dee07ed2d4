#include "matmul/streamed/product_job.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "matmul/check_args.h"
#include "matmul/library_call.h"
#include "matmul/row_major.h"

namespace stridewise {
namespace {

absl::Status Refuse(const char* argument, const std::string& value, const std::string& allowed) {
  return absl::InvalidArgumentError(
      absl::StrCat(argument, " is ", value, "; allowed in a streamed product is ", allowed));
}

constexpr int64_t kBlockRows = 256;

void* At(void* memory, int64_t bytes) { return static_cast<char*>(memory) + bytes; }

// Returns the copy of a block of a matrix with `rows` rows, packed at leading dimension `ld`.
BlockCopy CopyOfBlock(const MatMulInput& matrix, int64_t row, int64_t rows, int64_t col,
                      int64_t cols, void* to, int64_t ld) {
  const int64_t bytes = ElementBytes(matrix.type);
  const MatMulInput first = Advanced(matrix, row * matrix.ld + col);
  return {to, ld * bytes, first.data, matrix.ld * bytes, cols * bytes, rows};
}

}  // namespace

absl::StatusOr<MatMulArgs> StreamedArgs(const MatMulProblem& problem) {
  MatMulArgs args = RowMajorArgs(problem);
  args.block = AutomaticMatMul().default_block;
  RETURN_IF_ERROR(CheckMatMulArgs(AutomaticMatMul(), args, ArgumentNamesOf(problem)));
  if (args.batch != 1) return Refuse("batch", absl::StrCat(args.batch), "1");
  if (problem.workspace != nullptr || problem.workspace_bytes != 0) {
    return Refuse("workspace", "given", "none");
  }
  if (problem.device != kCurrentDevice) {
    return Refuse("device", absl::StrCat(problem.device), "none: options.devices has them");
  }
  if (!(args.epilogue == MatMulEpilogue())) return Refuse("epilogue", "given", "none");
  if (args.scales.a != nullptr || args.scales.b != nullptr || args.scales.per_128) {
    return Refuse("scales", "given", "none");
  }
  // Narrower sums would be rounded at every panel.
  if (args.c.type != ElementType::kFloat && args.c.type != ElementType::kInt) {
    return Refuse("c's type", ElementTypeName(args.c.type), "float or int");
  }
  return args;
}

StreamedProduct ShapeOf(const MatMulArgs& args) {
  return {args.m,        args.n, args.k, ElementBytes(args.a.type), ElementBytes(args.c.type),
          args.beta != 0};
}

double ProductFlops(const MatMulArgs& args) {
  if (args.c.type == ElementType::kInt) return 1300e12;
  if (args.a.type != ElementType::kFloat) return 690e12;
  switch (args.precision) {
    case MatMulPrecision::kFp32:
    case MatMulPrecision::kFp16Sums:  // Not of floats.
    case MatMulPrecision::kFastSums:
      return StreamRates().flops;
    case MatMulPrecision::kFp32Split:
    case MatMulPrecision::kFp32SplitInt8:
      return 220e12;  // For seconds: 218 on an H100 then, 238 at the clock that it begins with.
    case MatMulPrecision::kFp32Medium:
      return 320e12;
    case MatMulPrecision::kTf32:
      return 420e12;
    case MatMulPrecision::kBf16:
    case MatMulPrecision::kFp16:
      return 690e12;
  }
  return StreamRates().flops;
}

ProductJob::ProductJob(const MatMulArgs& args, const MatMulStreamPlan& plan,
                       int64_t workspace_bytes, DeviceProduct product)
    : args_(args),
      plan_(plan),
      layout_(ShapeOf(args), plan.tile_rows, plan.tile_cols, plan.depth),
      workspace_bytes_(workspace_bytes),
      product_(std::move(product)) {}

StreamCheckpoint ProductJob::first_checkpoint() const {
  return {plan_.tile_rows, plan_.tile_cols,
          std::vector<bool>(plan_.tiles_down * plan_.tiles_across)};
}

int64_t ProductJob::slices() const {
  return std::max<int64_t>(1,
                           (args_.k + plan_.slice - 1) / plan_.slice);  // With k = 0 C is scaled.
}

ProductJob::Part ProductJob::PartOf(const StreamStep& step) const {
  Part part;
  part.row = step.tile / plan_.tiles_across * plan_.tile_rows;
  part.rows = std::min(plan_.tile_rows, args_.m - part.row);
  part.col = step.tile % plan_.tiles_across * plan_.tile_cols;
  part.cols = std::min(plan_.tile_cols, args_.n - part.col);
  part.first = step.first * plan_.slice;
  part.depth = std::min(step.slices * plan_.slice, args_.k - part.first);
  return part;
}

ProductJob::Rows ProductJob::RowsOf(const StreamBand& band, int64_t rows) {
  // Bands but the last have whole blocks of the largest kernels, where they are of several.
  const int64_t unit = rows >= band.bands * kBlockRows ? kBlockRows : 1;
  const auto begin = [&](int64_t index) {
    return index == band.bands ? rows : rows * index / band.bands / unit * unit;
  };
  return {begin(band.index), begin(band.index + 1) - begin(band.index)};
}

std::vector<BlockCopy> ProductJob::Loads(const StreamStep& step, void* input) const {
  const Part p = PartOf(step);
  void* const b = At(input, layout_.b_offset());
  const int64_t lda = layout_.lda(args_.a.transposed);
  const int64_t ldb = layout_.ldb(args_.b.transposed);
  return {args_.a.transposed ? CopyOfBlock(args_.a, p.first, p.depth, p.row, p.rows, input, lda)
                             : CopyOfBlock(args_.a, p.row, p.rows, p.first, p.depth, input, lda),
          args_.b.transposed ? CopyOfBlock(args_.b, p.col, p.cols, p.first, p.depth, b, ldb)
                             : CopyOfBlock(args_.b, p.first, p.depth, p.col, p.cols, b, ldb)};
}

std::vector<BlockCopy> ProductJob::OutputLoads(int64_t tile, void* output) const {
  if (args_.beta == 0) return {};
  const Part p = PartOf({tile});
  const MatMulInput c = {args_.c.data, args_.c.ld, args_.c.type};
  return {CopyOfBlock(c, p.row, p.rows, p.col, p.cols, output, layout_.ldc())};
}

MatMulProblem ProductJob::StepProduct(const StreamStep& step, const StreamBand& band,
                                      const StreamBuffers& buffers) const {
  const Part p = PartOf(step);
  const Rows rows = RowsOf(band, p.rows);
  MatMulProblem product;
  product.m = rows.count;
  product.n = p.cols;
  product.k = p.depth;
  product.a = args_.a;
  product.a.data = buffers.input;
  product.a.ld = layout_.lda(args_.a.transposed);
  product.a = Advanced(product.a, rows.first * (args_.a.transposed ? 1 : product.a.ld));
  product.b = args_.b;
  product.b.data = At(buffers.input, layout_.b_offset());
  product.b.ld = layout_.ldb(args_.b.transposed);
  product.c = args_.c;
  product.c.data = buffers.output;
  product.c.ld = layout_.ldc();
  product.c = Advanced(product.c, rows.first * product.c.ld);
  product.alpha = args_.alpha;
  product.beta = step.first == 0 ? args_.beta : 1;
  product.precision = args_.precision;
  product.workspace = workspace_bytes_ == 0 ? nullptr : buffers.workspace;
  product.workspace_bytes = workspace_bytes_;
  return product;
}

absl::Status ProductJob::Compute(const StreamStep& step, const StreamBand& band,
                                 const StreamBuffers& buffers, cudaStream_t stream) const {
  const MatMulProblem product = StepProduct(step, band, buffers);
  return product.m == 0 ? absl::OkStatus() : product_(product, stream);
}

BlockCopy ProductJob::Store(int64_t tile, const StreamBand& band, const void* output) const {
  const Part p = PartOf({tile});
  const Rows rows = RowsOf(band, p.rows);
  const int64_t bytes = ElementBytes(args_.c.type);
  const MatMulOutput to = Advanced(args_.c, (p.row + rows.first) * args_.c.ld + p.col);
  const int64_t pitch = layout_.ldc() * bytes;
  return {to.data, args_.c.ld * bytes, static_cast<const char*>(output) + rows.first * pitch,
          pitch,   p.cols * bytes,     rows.count};
}

}  // namespace stridewise
