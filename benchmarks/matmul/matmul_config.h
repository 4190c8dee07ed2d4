// One configuration of matmul_sweep: which implementation, and of what multiplication.

#ifndef STRIDEWISE_BENCHMARKS_MATMUL_MATMUL_CONFIG_H_
#define STRIDEWISE_BENCHMARKS_MATMUL_MATMUL_CONFIG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/sweep_args.h"
#include "common/gpu/launch_geometry.h"
#include "common/measure/result_row.h"
#include "matmul/registry.h"

namespace stridewise {

// How the matrices lie.
struct MatMulLayout {
  bool transpose_a = false;  // A is stored transposed.
  bool transpose_b = false;
  bool column_major = false;  // All three matrices.
};

// "nn", "tn", "nt_col": op(A), op(B), and _col where the matrices are column-major.
std::string LayoutName(const MatMulLayout& layout);

// A comma list of such names. InvalidArgument, in one line that names the flag.
absl::StatusOr<std::vector<MatMulLayout>> ParseLayouts(absl::string_view flag,
                                                       absl::string_view text);

// A factor such as alpha: a number of magnitude 1e30 at most, so that float has it.
absl::StatusOr<double> ParseFactor(absl::string_view flag, absl::string_view text);

// What the general form adds to the product A * B of two matrices.
struct MatMulForm {
  MatMulLayout layout;
  double alpha = 1;
  double beta = 0;
  int64_t batch = 1;
};

// Whether every implementation takes it.
bool IsPlain(const MatMulForm& form);

struct MatMulConfig {
  const MatMulImplementation* implementation = nullptr;
  Shape3 shape;
  ElementType type = ElementType::kFloat;
  Block block = {0, 0, 0};  // As the row will say; 0 x 0 where the implementation has none.
  MatMulForm form{};
};

// The row-major multiplication that the configuration comes to, without pointers: no gaps between
// rows, and none between the matrices of a batch.
MatMulArgs GaplessArgs(const MatMulConfig& config);

// Elements of A, B and C, of all matrices of a batch together. REQUIRES: the arguments are gapless.
int64_t ElementsOfA(const MatMulArgs& args);
int64_t ElementsOfB(const MatMulArgs& args);
int64_t ElementsOfC(const MatMulArgs& args);

// Of the whole batch, what must be done: a multiply-add counts as two; and what must be moved: each
// A and B read, each C written, and read too where beta is not 0. A and B count for nothing where
// alpha is 0.
double FlopsToDo(const MatMulConfig& config);
double BytesToMove(const MatMulConfig& config);

// Sets what tells one problem from another: operation, dtype, shape, layout, alpha, beta and batch.
// Cells of the plain form stay empty, as they are in files from before there was another.
void SetProblem(const MatMulConfig& config, ResultRow* row);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_MATMUL_MATMUL_CONFIG_H_
