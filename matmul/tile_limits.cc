#include "matmul/tile_limits.h"

#include "common/base/return_if_error.h"
#include "common/gpu/argument_checks.h"

namespace stridewise {

LaunchStatus CheckTileLd(const MatMulArgs& args) {
  RETURN_IF_ERROR(CheckAtMost("lda", args.a.ld, kMaxTileLd));
  return CheckAtMost("ldb", args.b.ld, kMaxTileLd);
}

}  // namespace stridewise
