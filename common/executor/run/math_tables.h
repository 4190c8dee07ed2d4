// Functions of <math.h> that load from tables in global memory on a GPU.
//
// CUDA 13's sin() and cos() of double, sinpi() and cospi() have the coefficients of two polynomials
// in a table, and load those of the quadrant by three instructions of 16 bytes. Sines, cosines and
// tangents of large arguments, from 2^31 on for double and from 105615 on for float, are reduced
// with digits of 2 / pi that a loop loads. With --accesses=compiled a program calls the functions
// of math_tables.cc in place of these, which load so and return what the C library does.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_MATH_TABLES_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_MATH_TABLES_H_

#include <cstddef>
#include <string>
#include <vector>

namespace stridewise::executor {

// Memory that these functions load from; aligned to 256 bytes.
struct MathTable {
  const char* name;
  const void* address;
  size_t bytes;
};
std::vector<MathTable> MathTables();

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_MATH_TABLES_H_
