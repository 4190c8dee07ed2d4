// What help() says of the functions. The first lines are their signatures, which
// stridewise/__init__.pyi repeats with types.

#ifndef STRIDEWISE_BINDINGS_PYTHON_CORE_DOCUMENTATION_H_
#define STRIDEWISE_BINDINGS_PYTHON_CORE_DOCUMENTATION_H_

namespace stridewise::python {

inline constexpr char kTransposeDoc[] = R"(transpose(x, out=None, *, stream=None)
--

Returns x with its last two dimensions exchanged, as an array without gaps.

x has the shape (..., rows, cols), any strides, and elements of 1, 2, 4, 8 or 16 bytes. `out`
receives the result, has the shape (..., cols, rows) and x's type, and is returned. It may be x's own
memory, if the rows of both are contiguous; otherwise it must not overlap x. Where PyTorch would
record a gradient for x, one is recorded. `stream` and errors: see help(stridewise).
)";

inline constexpr char kPermuteDoc[] = R"(permute(x, dims, out=None, *, stream=None)
--

Returns x with its dimensions in another order, as an array without gaps.

Dimension i of the result is dimension dims[i] of x: PyTorch's x.permute(dims).contiguous(). `dims`
names each dimension once; negative ones count from the last. x has any strides, and at most 6
dimensions that do not move together. `out` receives the result, has its shape and x's type, any
strides, and is returned; it must not overlap x. `stream` and errors: see help(stridewise).
)";

inline constexpr char kContiguousDoc[] = R"(contiguous(x, out=None, *, stream=None)
--

Returns a copy of x without gaps: for views, such as PyTorch's x.t() or x[:, ::2].

`out` receives the copy, has x's shape and type, any strides, and is returned; it must not overlap
x. `stream` and errors: see help(stridewise).
)";

inline constexpr char kMatMulDoc[] =
    R"(matmul(a, b, out=None, *, alpha=1.0, beta=0.0, precision='fp32', bias=None, activation=None, stream=None)
--

Returns activation(alpha * a @ b + beta * out + bias).

a has the shape (..., m, k), b (..., k, n), the result (..., m, n); the leading dimensions are the
same, or one of a and b is a single matrix. Of each matrix, rows or columns are contiguous, and the
matrices of a batch are equally far from each other: contiguous() copies what is not. Elements are
float32, bfloat16 or float16, and the result has a's type; or int8, with a result of int32; or
float8_e4m3fn and float8_e5m2, with a result of float32. `out` may ask for another type that the
library knows. `precision` says how float32 is multiplied: 'fp32' is IEEE arithmetic; the others use
tensor cores, 'fp32_split' to about the accuracy of FP32, 'tf32' after rounding the operands to 11
significant bits, 'fp32_split_int8' as 'fp32_split' does, with parts of 8 bits where the device finds
rows flat enough, 'fp32_medium' with 16 significant bits of the operands, and 'bf16' and 'fp16' after
rounding them to these types, of which FP16 ends at 65504. With float16 it may be 'fp16_sums', which
lets sums be rounded to FP16, and with float8 'fast_sums', which lets them keep 13 fractional bits for
all of k. `beta` other than 0 needs `out`, which is returned, and must not overlap a or b.
`bias` has n elements of the result's type, which are added to each row; `activation` is 'relu',
'gelu' (in its form with tanh), 'gelu_erf' or None. Neither records a gradient.
`stream` and errors: see help(stridewise).
)";

}  // namespace stridewise::python

#endif  // STRIDEWISE_BINDINGS_PYTHON_CORE_DOCUMENTATION_H_
