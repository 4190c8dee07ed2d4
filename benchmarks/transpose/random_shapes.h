// Transposes that nobody chose: what the preset `random` draws.

#ifndef STRIDEWISE_BENCHMARKS_TRANSPOSE_RANDOM_SHAPES_H_
#define STRIDEWISE_BENCHMARKS_TRANSPOSE_RANDOM_SHAPES_H_

#include "benchmarks/harness/random_shapes.h"

namespace stridewise {

// Draws extents, batches and element sizes of transposes of 0.3 MB to 1.5 GB. Those below 2 MB,
// which are a matter of microseconds, are judged by time.
const RandomShapes& TransposeRandomShapes();

// The same for the host, beside its copy.
const RandomShapes& TransposeHostRandomShapes();

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TRANSPOSE_RANDOM_SHAPES_H_
