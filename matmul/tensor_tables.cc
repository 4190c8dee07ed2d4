#include "matmul/tensor_tables.h"

namespace stridewise {
namespace {

using Feature = TensorFeature;
using Correction = TensorTable;

#include "matmul/tensor_corrections.inc"

}  // namespace

absl::Span<const TensorTable> TensorTablesOf(TensorPredicted predicted) {
  return CorrectionsOf(predicted);
}

}  // namespace stridewise
