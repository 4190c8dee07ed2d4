#include "bindings/cublas/offer.h"

namespace stridewise::drop_in {

double CublasOverOurs(const MatMulArgs& /*args*/) { return 1; }

}  // namespace stridewise::drop_in
