#include "matmul/matmul.h"

#include "common/base/status_macros.h"
#include "matmul/check_args.h"
#include "matmul/registry.h"
#include "matmul/row_major.h"

namespace stridewise {
namespace {

// What a column-major caller calls the arguments of RowMajorArgs().
constexpr MatMulArgumentNames kColumnMajorNames = {"n",        "m", "b",   "ldb",
                                                   "stride_b", "a", "lda", "stride_a"};

const MatMulImplementation& Automatic() {
  static const MatMulImplementation& automatic = *FindMatMulImplementation("auto");
  return automatic;
}

}  // namespace

absl::Status MatMul(const MatMulProblem& problem, cudaStream_t stream) {
  MatMulArgs args = RowMajorArgs(problem);
  args.stream = stream;
  args.block = Automatic().default_block;
  // Not RunMatMul(), whose messages speak of an implementation that nobody asked for.
  RETURN_IF_ERROR(CheckMatMulArgs(
      Automatic(), args,
      problem.layout == MatrixLayout::kColumnMajor ? kColumnMajorNames : MatMulArgumentNames()));
  if (Automatic().run == nullptr) return absl::UnavailableError("built without a CUDA toolkit");
  return Automatic().run(args);
}

int64_t MatMulWorkspaceBytes(const MatMulProblem& problem) {
  MatMulArgs args = RowMajorArgs(problem);
  args.a = args.b = args.c = nullptr;  // As if they were aligned.
  return MatMulWorkspaceBytes(Automatic(), args);
}

}  // namespace stridewise
