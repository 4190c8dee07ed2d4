#include "transpose/transpose.h"

#include "common/base/status_macros.h"
#include "common/gpu/argument_checks.h"
#include "transpose/check_args.h"
#include "transpose/registry.h"
#include "transpose/view_args.h"

namespace stridewise {
namespace {

// Without elements both pointers may be null, which does not mean in place.
const TransposeImplementation& ImplementationFor(const TransposeArgs& args) {
  static const TransposeImplementation& automatic = *FindByName(TransposeLibrary(), "auto");
  static const TransposeImplementation& square = *FindByName(TransposeLibrary(), "in_place_square");
  static const TransposeImplementation& rectangular =
      *FindByName(TransposeLibrary(), "in_place_rectangular");
  const bool empty = args.rows == 0 || args.cols == 0 || args.batch == 0;
  if (empty || args.in != args.out) return automatic;
  return args.rows == args.cols ? square : rectangular;
}

}  // namespace

TransposeArgs ArgsOfViews(const MatrixView& in, const MutableMatrixView& out) {
  TransposeArgs args;
  args.rows = in.rows;
  args.cols = in.cols;
  args.element_bytes = in.element_bytes;
  args.in = in.data;
  args.ld_in = in.ld;
  args.out = out.data;
  args.ld_out = out.ld;
  args.batch = in.batch;
  args.stride_in = in.batch_stride;
  args.stride_out = out.batch_stride;
  return args;
}

absl::Status ArgsOfViews(const MatrixView& in, const MutableMatrixView& out, TransposeArgs* args) {
  RETURN_IF_ERROR(CheckEqual("out.rows", out.rows, "in.cols", in.cols));
  RETURN_IF_ERROR(CheckEqual("out.cols", out.cols, "in.rows", in.rows));
  RETURN_IF_ERROR(
      CheckEqual("out.element_bytes", out.element_bytes, "in.element_bytes", in.element_bytes));
  RETURN_IF_ERROR(CheckEqual("out.batch", out.batch, "in.batch", in.batch));
  *args = ArgsOfViews(in, out);
  return absl::OkStatus();
}

int64_t TransposeWorkspaceBytes(const MatrixView& in, const MutableMatrixView& out) {
  const TransposeArgs args = ArgsOfViews(in, out);
  return TransposeWorkspaceBytes(ImplementationFor(args), args);
}

absl::Status Transpose(const MatrixView& in, const MutableMatrixView& out, cudaStream_t stream) {
  return Transpose(in, out, nullptr, 0, stream);
}

absl::Status Transpose(const MatrixView& in, const MutableMatrixView& out, void* workspace,
                       int64_t workspace_bytes, cudaStream_t stream) {
  TransposeArgs args;
  RETURN_IF_ERROR(ArgsOfViews(in, out, &args));
  args.workspace = workspace;
  args.stream = stream;
  const TransposeImplementation& implementation = ImplementationFor(args);
  args.block = implementation.default_block;
  // Not RunTranspose(), whose messages name an implementation that the caller did not ask for.
  RETURN_IF_ERROR(CheckTransposeArgs(implementation, args, kViewNames));
  RETURN_IF_ERROR(CheckAtLeast("workspace_bytes", workspace_bytes,
                               TransposeWorkspaceBytes(implementation, args)));
  if (implementation.run == nullptr) {
    return absl::UnavailableError(kWithoutDeviceCode);
  }
  return implementation.run(args);
}

}  // namespace stridewise
