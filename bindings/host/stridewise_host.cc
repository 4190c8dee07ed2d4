// The C calls in host memory, on matmul/cpu and transpose/cpu. Links neither Abseil nor anything
// that knows of GPUs, so that the library needs OpenMP's runtime only.

#include "bindings/host/stridewise_host.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "bindings/host/host_arguments.h"
#include "common/base/host_threads.h"
#include "matmul/cpu/multiply.h"
#include "transpose/cpu/batch.h"

namespace stridewise {
namespace {

// A matrix as it is stored: `rows` runs of `run` elements, ld apart.
struct Stored {
  const char* name;
  const void* data;
  int64_t rows, run;
  int64_t ld, stride;
};

// Checks that a matrix, or each of a batch, is there and that its runs do not overlap.
stridewise_status Check(const Stored& matrix, int64_t element_bytes) {
  const std::string name = matrix.name;
  if (matrix.ld < matrix.run)
    return Wrong(name + ".ld", matrix.ld, std::to_string(matrix.run) + " and more");
  if (matrix.stride < 0) return Wrong(name + ".stride", matrix.stride, "0 and more");
  if (matrix.rows == 0 || matrix.run == 0) return STRIDEWISE_OK;
  if (matrix.data == nullptr) return Refuse(STRIDEWISE_INVALID_ARGUMENT, name + ".data is null");
  const auto address = reinterpret_cast<uintptr_t>(matrix.data);
  if (address % static_cast<uintptr_t>(element_bytes) != 0) {
    return Refuse(
        STRIDEWISE_INVALID_ARGUMENT,
        name + ".data is not a multiple of its element's size, " + std::to_string(element_bytes));
  }
  return STRIDEWISE_OK;
}

stridewise_status CheckForm(const stridewise_matmul_args& args) {
  for (const auto& [name, value] : {std::pair<const char*, int64_t>("m", args.m),
                                    {"n", args.n},
                                    {"k", args.k},
                                    {"batch", args.batch}}) {
    if (value < 0) return Wrong(name, value, "0 and more");
  }
  if (args.layout != STRIDEWISE_ROW_MAJOR && args.layout != STRIDEWISE_COLUMN_MAJOR) {
    return Wrong("layout", args.layout, "0 (row-major) and 1 (column-major)");
  }
  const bool bf16 = args.a.type == STRIDEWISE_BFLOAT16;
  const int32_t other = bf16 ? STRIDEWISE_BFLOAT16 : STRIDEWISE_FLOAT64;
  if (args.c.type != STRIDEWISE_FLOAT32 && args.c.type != other) {
    return Wrong("c.type", args.c.type,
                 bf16 ? "STRIDEWISE_FLOAT32 and STRIDEWISE_BFLOAT16"
                      : "STRIDEWISE_FLOAT32 and STRIDEWISE_FLOAT64");
  }
  if (args.a.type != args.c.type && !bf16) return Wrong("a.type", args.a.type, "c.type");
  if (args.b.type != args.a.type) return Wrong("b.type", args.b.type, "a.type");
  if (args.bias != nullptr || args.activation != STRIDEWISE_ACTIVATION_NONE ||
      args.scale_a != nullptr || args.scale_b != nullptr) {
    return Refuse(STRIDEWISE_UNSUPPORTED,
                  "products in host memory have no bias, activation or scales");
  }
  return STRIDEWISE_OK;
}

// REQUIRES: a type that CheckForm() allows.
ElementType TypeOf(int32_t type) {
  return type == STRIDEWISE_FLOAT32   ? ElementType::kFloat
         : type == STRIDEWISE_FLOAT64 ? ElementType::kDouble
                                      : ElementType::kBf16;
}

int64_t BytesOf(int32_t type) {
  return type == STRIDEWISE_FLOAT32 ? 4 : type == STRIDEWISE_FLOAT64 ? 8 : 2;
}

MatMulInput InputOf(const stridewise_input& given, int64_t ld, ElementType type) {
  MatMulInput input;
  input.data = given.data;
  input.ld = ld;
  input.stride = given.stride;
  input.transposed = given.transposed != 0;
  input.type = type;
  return input;
}

// A column-major problem is the row-major one of the transposes: C' = op(B)' op(A)'.
stridewise_status MultiplyArgs(stridewise_matmul_args args) {
  const stridewise_status form = CheckForm(args);
  if (form != STRIDEWISE_OK) return form;
  const char* names[] = {"a", "b"};
  if (args.layout == STRIDEWISE_COLUMN_MAJOR) {
    std::swap(args.m, args.n);
    std::swap(args.a, args.b);
    std::swap(names[0], names[1]);
  }
  const auto stored = [](const char* name, const stridewise_input& given, int64_t rows,
                         int64_t cols) {
    if (given.transposed != 0) std::swap(rows, cols);
    return Stored{name, given.data, rows, cols, given.ld != 0 ? given.ld : cols, given.stride};
  };
  const bool reads = args.batch > 0 && args.alpha != 0;
  Stored a = stored(names[0], args.a, args.m, args.k);
  Stored b = stored(names[1], args.b, args.k, args.n);
  const Stored c = {"c",
                    args.c.data,
                    args.batch > 0 ? args.m : 0,
                    args.n,
                    args.c.ld != 0 ? args.c.ld : args.n,
                    args.c.stride};
  if (!reads) a.rows = b.rows = 0;
  for (const auto& [matrix, type] :
       {std::pair<const Stored*, int32_t>(&a, args.a.type), {&b, args.b.type}, {&c, args.c.type}}) {
    const stridewise_status status = Check(*matrix, BytesOf(type));
    if (status != STRIDEWISE_OK) return status;
  }
  if (args.batch > 1 && args.m > 0 && args.n > 0 && args.c.stride < (args.m - 1) * c.ld + args.n) {
    return Wrong("c.stride", args.c.stride,
                 std::to_string((args.m - 1) * c.ld + args.n) + " and more");
  }
  MatMulArgs product;
  product.m = args.m;
  product.n = args.n;
  product.k = args.k;
  product.a = InputOf(args.a, a.ld, TypeOf(args.a.type));
  product.b = InputOf(args.b, b.ld, TypeOf(args.b.type));
  product.c.data = args.c.data;
  product.c.ld = c.ld;
  product.c.stride = args.c.stride;
  product.c.type = TypeOf(args.c.type);
  product.alpha = args.alpha;
  product.beta = args.beta;
  product.batch = args.batch;
  if (product.batch > 0) MultiplyOnHost(product, HostThreads());
  return STRIDEWISE_OK;
}

stridewise_status TransposeArgs(stridewise_transpose_args args) {
  for (const auto& [name, value] : {std::pair<const char*, int64_t>("rows", args.rows),
                                    {"cols", args.cols},
                                    {"batch", args.batch}}) {
    if (value < 0) return Wrong(name, value, "0 and more");
  }
  if (args.ld_in == 0) args.ld_in = args.cols;
  if (args.ld_out == 0) args.ld_out = args.rows;
  const int64_t bytes = args.element_bytes;
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8 && bytes != 16) {
    return Wrong("element_bytes", bytes, "1, 2, 4, 8 and 16");
  }
  if (args.rows == 0 || args.cols == 0 || args.batch == 0) return STRIDEWISE_OK;
  for (const Stored& matrix :
       {Stored{"in", args.in, args.rows, args.cols, args.ld_in, args.stride_in},
        Stored{"out", args.out, args.cols, args.rows, args.ld_out, args.stride_out}}) {
    const stridewise_status status = Check(matrix, bytes);
    if (status != STRIDEWISE_OK) return status;
  }
  const bool same =
      args.ld_in == args.ld_out && (args.batch == 1 || args.stride_in == args.stride_out);
  if (args.in == args.out && (args.rows != args.cols || !same)) {
    return Refuse(STRIDEWISE_INVALID_ARGUMENT,
                  "in is out; allowed is that for square matrices with the same ld and stride");
  }
  if (args.in == args.out) {
    TransposeInPlace(BatchOf(args), HostThreads());
  } else {
    TransposeBatch(BatchOf(args), HostThreads());
  }
  return STRIDEWISE_OK;
}

}  // namespace
}  // namespace stridewise

const char* stridewise_host_message() { return stridewise::HostMessage().c_str(); }

stridewise_status stridewise_host_matmul(const stridewise_matmul_args* args) {
  constexpr size_t kLeast = offsetof(stridewise_matmul_args, workspace_bytes) + sizeof(int64_t);
  return stridewise::Run(args, kLeast, stridewise::MultiplyArgs);
}

stridewise_status stridewise_host_transpose(const stridewise_transpose_args* args) {
  constexpr size_t kLeast = offsetof(stridewise_transpose_args, stride_out) + sizeof(int64_t);
  return stridewise::Run(args, kLeast, stridewise::TransposeArgs);
}
