// Products that nobody chose: what the preset `random` draws.

#ifndef STRIDEWISE_BENCHMARKS_MATMUL_RANDOM_SHAPES_H_
#define STRIDEWISE_BENCHMARKS_MATMUL_RANDOM_SHAPES_H_

#include "benchmarks/harness/random_shapes.h"

namespace stridewise {

// Draws extents, batches and layouts of FP32 products with at most 6e11 operations, so that a row
// takes a fraction of a second, and 3 GB.
const RandomShapes& MatMulRandomShapes();

// The same for the host: smaller, and judged by the fastest of the libraries on all cores.
const RandomShapes& MatMulHostRandomShapes();

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_MATMUL_RANDOM_SHAPES_H_
