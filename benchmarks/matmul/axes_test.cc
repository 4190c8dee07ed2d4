#include "benchmarks/matmul/axes.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "benchmarks/matmul/operation.h"
#include "benchmarks/matmul/product.h"
#include "benchmarks/matmul/product_args.h"
#include "gtest/gtest.h"
#include "matmul/check_args.h"
#include "matmul/registry.h"

namespace stridewise {
namespace {

Point ProductOf(const std::string& layout, const char* alpha = "1", const char* beta = "0",
                int64_t batch = 1) {
  return {{2, 3, 5}, "float", batch, {layout, alpha, beta, "asked", "fp32", "none"}};
}

using Values = std::vector<std::string>;

Values Parsed(const Axis& axis, absl::string_view text) {
  const absl::StatusOr<Values> values = axis.parse("--flag", text);
  EXPECT_TRUE(values.ok()) << values.status();
  return values.ok() ? *values : Values();
}

void ExpectRefused(const Axis& axis, absl::string_view text) {
  const absl::Status status = axis.parse("--flag", text).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
  EXPECT_TRUE(absl::StrContains(status.message(), "--flag")) << status;
}

TEST(MatMulAxesTest, LayoutsComeBack) {
  const Axis& layouts = MatMulAxes()[0];
  for (const char* name : {"nn", "nt", "tn", "tt", "nn_col", "nt_col", "tn_col", "tt_col"}) {
    EXPECT_EQ(Parsed(layouts, name), Values{name});
    const MatMulLayout layout = FormOf(ProductOf(name)).layout;
    EXPECT_EQ(layout.transpose_a, name[0] == 't');
    EXPECT_EQ(layout.transpose_b, name[1] == 't');
    EXPECT_EQ(layout.column_major, name[2] == '_');
  }
  EXPECT_EQ(Parsed(layouts, "nn, tn_col,tt"), (Values{"nn", "tn_col", "tt"}));
  for (const char* bad : {"", "n", "nx", "nnn", "col", "_col", "nn_row", "nn,,tt", "NN"}) {
    ExpectRefused(layouts, bad);
  }
}

TEST(MatMulAxesTest, FactorsAreNumbersThatFloatHas) {
  for (const Axis& factor : MatMulAxes().subspan(1, 2)) {
    EXPECT_EQ(Parsed(factor, "-0.50"), Values{"-0.5"});
    EXPECT_EQ(Parsed(factor, "0"), Values{"0"});
    for (const char* bad : {"", "nan", "inf", "-inf", "1e31", "one", "1,2"}) {
      ExpectRefused(factor, bad);
    }
  }
  const MatMulForm form = FormOf(ProductOf("nn", "-2", "0.5"));
  EXPECT_EQ(form.alpha, -2);
  EXPECT_EQ(form.beta, 0.5);
}

TEST(MatMulAxesTest, AWorkspaceIsAskedForOrNot) {
  const Axis& workspace = MatMulAxes()[3];
  EXPECT_EQ(Parsed(workspace, "no, asked"), (Values{"no", "asked"}));
  for (const char* bad : {"", "yes", "0", "no,", "No"}) ExpectRefused(workspace, bad);
  Point point = ProductOf("nn");
  EXPECT_TRUE(FormOf(point).workspace);
  point.axes[3] = "no";
  EXPECT_FALSE(FormOf(point).workspace);
  EXPECT_TRUE(IsPlain(FormOf(point)));
}

TEST(IsPlainTest, ColumnMajorIsAndTheOthersAreNot) {
  EXPECT_TRUE(IsPlain(FormOf(ProductOf("nn"))));
  EXPECT_TRUE(IsPlain(FormOf(ProductOf("nn_col"))));
  for (const Point& point :
       {ProductOf("tn"), ProductOf("nt_col"), ProductOf("nn", "2"), ProductOf("nn", "1", "0.5")}) {
    EXPECT_FALSE(IsPlain(FormOf(point))) << point.axes[0];
  }
}

// Column-major matrices are row-major ones of the swapped operands.
TEST(GaplessArgsTest, HasLeadingDimensionsAndStridesOfWhatIsStored) {
  const struct {
    const char* layout;
    std::vector<int64_t> want;  // m n k, ta tb, lda ldb ldc, strides of A B C.
  } kCases[] = {
      {"nn", {2, 3, 5, 0, 0, 5, 3, 3, 10, 15, 6}},
      {"tn", {2, 3, 5, 1, 0, 2, 3, 3, 10, 15, 6}},
      {"nt", {2, 3, 5, 0, 1, 5, 5, 3, 10, 15, 6}},
      {"nn_col", {3, 2, 5, 0, 0, 5, 2, 2, 15, 10, 6}},
      {"tn_col", {3, 2, 5, 0, 1, 5, 5, 2, 15, 10, 6}},
  };
  for (const auto& c : kCases) {
    const Point point = ProductOf(c.layout, "1", "0", 4);
    const MatMulArgs a = GaplessArgs(point);
    EXPECT_EQ(std::vector<int64_t>({a.m, a.n, a.k, a.a.transposed, a.b.transposed, a.a.ld, a.b.ld,
                                    a.c.ld, a.a.stride, a.b.stride, a.c.stride}),
              c.want)
        << c.layout;
    const Product product(point);
    EXPECT_EQ(product.inputs()[0].bytes, static_cast<size_t>(4 * 4 * a.a.stride));
    EXPECT_EQ(product.inputs()[1].bytes, static_cast<size_t>(4 * 4 * a.b.stride));
    EXPECT_EQ(product.output().bytes, static_cast<size_t>(4 * 4 * a.c.stride));
  }
}

TEST(ProductTest, WorkCountsTheBatchAndWhatAlphaAndBetaRead) {
  const auto work = [](const Point& point) { return Product(point).work(); };
  EXPECT_EQ(work(ProductOf("nn")).flops, 60);
  EXPECT_EQ(work(ProductOf("tn_col", "2", "3", 10)).flops, 600);
  EXPECT_EQ(work(ProductOf("nn", "0", "1")).flops, 0);
  EXPECT_EQ(work(ProductOf("nn")).bytes, 4 * (10 + 15 + 6));
  EXPECT_EQ(work(ProductOf("nn", "1", "0.5")).bytes, 4 * (10 + 15 + 6 + 6));
  EXPECT_EQ(work(ProductOf("nn", "1", "0", 7)).bytes, 7 * 4 * (10 + 15 + 6));
  EXPECT_EQ(work(ProductOf("nn", "0", "2")).bytes, 4 * (6 + 6));
}

TEST(MatMulAxesTest, PrecisionsAndEpilogues) {
  const Axis& precision = MatMulAxes()[4];
  EXPECT_EQ(Parsed(precision, "tf32, fp32_split"), (Values{"tf32", "fp32_split"}));
  EXPECT_EQ(Parsed(precision, "fp16_sums,fast_sums"), (Values{"fp16_sums", "fast_sums"}));
  ExpectRefused(precision, "fp64");
  const Axis& epilogue = MatMulAxes()[5];
  EXPECT_EQ(Parsed(epilogue, "bias_gelu,none"), (Values{"bias_gelu", "none"}));
  ExpectRefused(epilogue, "bias_");
  Point point = ProductOf("nn");
  EXPECT_TRUE(HasNoEpilogue(FormOf(point)));
  point.axes[4] = "tf32";
  point.axes[5] = "bias_relu";
  const MatMulForm form = FormOf(point);
  EXPECT_EQ(form.precision, MatMulPrecision::kTf32);
  EXPECT_TRUE(form.bias);
  EXPECT_EQ(form.activation, Activation::kRelu);
  EXPECT_FALSE(HasNoEpilogue(form));
}

// The first use of an implementation in a sweep is of the tiny point, whatever its types and its
// precision. cuBLASLt has algorithms for 8-bit operands along k of whole 16 bytes only.
TEST(TinyPointTest, IsTakenByWhatTakesThePoint) {
  const Operation& operation = MatMulOperation();
  alignas(16) char any[16];  // It is not looked at.
  int taken = 0;
  for (const absl::string_view type : operation.types()) {
    for (const absl::string_view precision :
         {"fp32", "fp32_split", "tf32", "fp32_split_int8", "fp32_medium", "bf16", "fp16"}) {
      if (type != "float" && precision != "fp32") continue;  // Only floats have several.
      for (const char* layout : {"nn", "nt"}) {
        const Point point = {{64, 32, 96},
                             std::string(type),
                             3,
                             {layout, "2", "0.5", "no", std::string(precision), "none"}};
        const Point tiny = operation.TinyPoint(point);
        EXPECT_EQ(tiny.type, type);
        EXPECT_EQ(tiny.axes[kPrecisionAxis], precision);
        EXPECT_EQ(tiny.batch, 1);
        const bool is_8bit = ElementBytes(TypesOf(type).a) == 1;
        EXPECT_EQ(tiny.extents, std::vector<int64_t>(3, is_8bit ? 16 : 1)) << type;
        EXPECT_EQ(tiny.axes[kLayoutAxis], is_8bit ? layout : "nn") << type;
        for (const Implementation* implementation : operation.implementations()) {
          if (!operation.Takes(*implementation, point) ||
              !operation.CheckSupported(*implementation, point).ok()) {
            continue;
          }
          ++taken;
          EXPECT_TRUE(operation.Takes(*implementation, tiny)) << implementation->name << type;
          MatMulArgs args = GaplessArgs(tiny);
          args.a.data = args.b.data = args.c.data = any;
          args.block = implementation->default_block;
          const absl::Status status =
              CheckMatMulArgs(static_cast<const MatMulImplementation&>(*implementation), args);
          EXPECT_TRUE(status.ok()) << implementation->name << " " << type << ": " << status;
        }
      }
    }
  }
  EXPECT_GT(taken, 100);
}

TEST(SetProblemColumnsTest, LeavesThePlainFormsCellsEmpty) {
  ResultRow plain;
  SetProblemColumns(MatMulOperation(), ProductOf("nn"), &plain);
  for (const Column column :
       {Column::kLayout, Column::kAlpha, Column::kBeta, Column::kBatch, Column::kWorkspace}) {
    EXPECT_EQ(plain.Get(column), "");
  }
  ResultRow general;
  SetProblemColumns(MatMulOperation(), ProductOf("nn_col", "-2", "0.5", 7), &general);
  EXPECT_EQ(general.Get(Column::kRows), "2");  // As asked for, not as it is computed.
  EXPECT_EQ(general.Get(Column::kLayout), "nn_col");
  EXPECT_EQ(general.Get(Column::kAlpha), "-2");
  EXPECT_EQ(general.Get(Column::kBeta), "0.5");
  EXPECT_EQ(general.Get(Column::kBatch), "7");

  Point without = ProductOf("tn", "1", "0.5", 3);
  without.axes[3] = "no";
  ResultRow row;
  SetProblemColumns(MatMulOperation(), without, &row);
  EXPECT_EQ(row.Get(Column::kWorkspace), "no");
  EXPECT_TRUE(PointOf(MatMulOperation(), row) == without);
  EXPECT_TRUE(PointOf(MatMulOperation(), plain) == ProductOf("nn"));
}

}  // namespace
}  // namespace stridewise
