// Stridewise: the fastest transposes, permutations and matrix products for NVIDIA GPUs, from C, C++
// and every language that calls C.
//
//   stridewise_context* context;
//   stridewise_status status = stridewise_create(&context, STRIDEWISE_CURRENT_DEVICE, stream);
//   if (status != STRIDEWISE_OK) fprintf(stderr, "%s\n", stridewise_message(NULL));
//
//   stridewise_matmul_args args = stridewise_matmul_defaults();
//   args.m = m; args.n = n; args.k = k;
//   args.a.data = a; args.b.data = b; args.c.data = c;
//   status = stridewise_matmul(context, &args);
//   if (status != STRIDEWISE_OK) fprintf(stderr, "%s\n", stridewise_message(context));
//
//   stridewise_destroy(context);
//
// All matrices and tensors are in device memory. Every call queues work on the context's stream and
// returns; none waits for the device. Errors inside a kernel show at the stream's next
// synchronisation. Calls may be captured into a graph.
//
// The library needs no CUDA toolkit and loads on every machine. It opens NVIDIA's driver when the
// first context is made; without one stridewise_create() returns STRIDEWISE_NO_DEVICE.
//
// ABI: functions and fields are only ever added, fields at the end of a structure. Each structure
// of arguments begins with its size, so that a program works with a newer library as it is, and
// with an older one unless it sets a field that the library does not know (STRIDEWISE_UNSUPPORTED).
// In a field that is not set, and in every field added later, 0 means what calls did before there
// was such a field.

#ifndef STRIDEWISE_H_
#define STRIDEWISE_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define STRIDEWISE_VERSION_MAJOR 0
#define STRIDEWISE_VERSION_MINOR 1
#define STRIDEWISE_VERSION_PATCH 0
#define STRIDEWISE_VERSION \
  (STRIDEWISE_VERSION_MAJOR * 10000 + STRIDEWISE_VERSION_MINOR * 100 + STRIDEWISE_VERSION_PATCH)

#if defined(__GNUC__)
#define STRIDEWISE_API __attribute__((visibility("default")))
#else
#define STRIDEWISE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

// The outcome of a call. Where it is not STRIDEWISE_OK, nothing was queued.
typedef enum stridewise_status {
  STRIDEWISE_OK = 0,
  STRIDEWISE_INVALID_ARGUMENT = 1,  // The message names argument, value and what is allowed.
  STRIDEWISE_UNSUPPORTED = 2,       // Valid, but this library or this GPU cannot do it.
  STRIDEWISE_OUT_OF_MEMORY = 3,     // Of the device, for a workspace, or of the host.
  STRIDEWISE_NO_DEVICE = 4,         // There is no driver or no GPU.
  STRIDEWISE_DEVICE_ERROR = 5,  // CUDA returned an error, perhaps of work that was queued before.
  STRIDEWISE_INTERNAL = 6       // A mistake of the library.
} stridewise_status;

// Returns a constant such as "invalid_argument"; "unknown" for a number that is no status.
STRIDEWISE_API const char* stridewise_status_name(stridewise_status status);

// Returns STRIDEWISE_VERSION of the library, which may differ from that of the header.
STRIDEWISE_API int stridewise_version(void);

// Returns the same as text, such as "0.1.0".
STRIDEWISE_API const char* stridewise_version_string(void);

// ---- Contexts ----

// What the calls on one stream of one device have in common: it owns their workspace and remembers
// which kernels they chose. It may be used by several threads. Two streams need two contexts.
typedef struct stridewise_context stridewise_context;

// The same type as CUDA's cudaStream_t and CUstream. Null is the default stream.
typedef struct CUstream_st* stridewise_stream;

// The calling thread's device, as a number of a device.
#define STRIDEWISE_CURRENT_DEVICE (-1)

// Makes a context for a stream of a device and allocates no device memory. Sets *context to null
// where it fails: then stridewise_message(NULL) says why. The stream must outlive the context.
STRIDEWISE_API stridewise_status stridewise_create(stridewise_context** context, int device,
                                                   stridewise_stream stream);

// Ends the context, which may be null, and gives its workspace back in the order of the stream.
// Graphs that captured its calls must not be launched any more; where there are any, it waits for
// the device.
STRIDEWISE_API void stridewise_destroy(stridewise_context* context);

// Returns the message of the last call with this context that failed, "" if none did. With null,
// that of the calling thread's last stridewise_create() that failed, or call without a context. The
// text stays as it is until the next call that fails; threads that use one context together must
// take turns to read it.
STRIDEWISE_API const char* stridewise_message(const stridewise_context* context);

// Allocates workspace now, so that no product that needs at most this number of bytes allocates
// later: for programs that must not allocate while they run. While the stream is captured, for the
// calls of that capture.
STRIDEWISE_API stridewise_status stridewise_reserve(stridewise_context* context, int64_t bytes);

// Returns the bytes of device memory that the context holds; 0 for null.
STRIDEWISE_API int64_t stridewise_allocated_bytes(const stridewise_context* context);

// ---- Device memory ----

// For programs that do not use a CUDA toolkit. Those that do pass pointers of cudaMalloc() and the
// like to all calls, and need none of these.

// Allocates device memory of the context's device, at a multiple of 256. Sets *data to null where
// it fails, and for 0 bytes.
STRIDEWISE_API stridewise_status stridewise_allocate(stridewise_context* context, int64_t bytes,
                                                     void** data);

// Waits for the device, and frees such memory; null is allowed.
STRIDEWISE_API stridewise_status stridewise_free(stridewise_context* context, void* data);

// Waits for the work on the context's stream, and then copies from host or device memory to host or
// device memory.
STRIDEWISE_API stridewise_status stridewise_copy(stridewise_context* context, void* to,
                                                 const void* from, int64_t bytes);

// Waits for the work on the context's stream. Returns its errors.
STRIDEWISE_API stridewise_status stridewise_synchronize(stridewise_context* context);

// ---- Transposes ----

// out[c][r] = in[r][c], for each matrix of a batch. Elements are moved, never interpreted.
typedef struct stridewise_transpose_args {
  size_t struct_size;  // sizeof(stridewise_transpose_args)
  const void* in;      // rows x cols, row-major; a multiple of the element's size, as out is.
  void* out;           // cols x rows. Must not overlap `in`, unless they are equal: in place.
  int64_t rows;
  int64_t cols;
  int64_t element_bytes;  // 1, 2, 4, 8 or 16.
  int64_t ld_in;          // Elements from one row to the next; 0: cols.
  int64_t ld_out;         // 0: rows.
  int64_t batch;          // The number of matrices; 0: nothing is done.
  int64_t stride_in;      // Elements from one matrix to the next; matters where batch > 1.
  int64_t stride_out;
} stridewise_transpose_args;

// Returns arguments of one matrix of 4-byte elements, with everything else 0.
static inline stridewise_transpose_args stridewise_transpose_defaults(void) {
  stridewise_transpose_args args;
  memset(&args, 0, sizeof(args));
  args.struct_size = sizeof(args);
  args.element_bytes = 4;
  args.batch = 1;
  return args;
}

// Queues the transpose. In place, square matrices need the same ld on both sides; others use the
// context's workspace, of the size of one matrix.
STRIDEWISE_API stridewise_status stridewise_transpose(stridewise_context* context,
                                                      const stridewise_transpose_args* args);

// The most dimensions of a tensor.
#define STRIDEWISE_MAX_RANK 6

// Dimension i of `out` is dimension order[i] of `in`: what NumPy calls transpose(order), and
// PyTorch permute(order).contiguous(). Arrays have `rank` values and are read during the call.
typedef struct stridewise_permute_args {
  size_t struct_size;  // sizeof(stridewise_permute_args)
  const void* in;
  void* out;  // Must not overlap `in`.
  int64_t rank;
  const int64_t* extents;      // Of `in`.
  const int64_t* order;        // Each of 0 to rank - 1 once.
  const int64_t* strides_in;   // Elements, for each dimension of `in`; null: without gaps, the last
                               // one fastest.
  const int64_t* strides_out;  // Of `out`, in its own order; null: without gaps.
  int64_t element_bytes;       // 1, 2, 4, 8 or 16.
} stridewise_permute_args;

// Returns arguments for 4-byte elements, with everything else 0.
static inline stridewise_permute_args stridewise_permute_defaults(void) {
  stridewise_permute_args args;
  memset(&args, 0, sizeof(args));
  args.struct_size = sizeof(args);
  args.element_bytes = 4;
  return args;
}

// Queues the permutation.
STRIDEWISE_API stridewise_status stridewise_permute(stridewise_context* context,
                                                    const stridewise_permute_args* args);

// ---- Products ----

// The type of a matrix's elements.
typedef enum stridewise_type {
  STRIDEWISE_FLOAT32 = 0,
  STRIDEWISE_BFLOAT16 = 1,
  STRIDEWISE_FLOAT16 = 2,
  STRIDEWISE_INT8 = 3,
  STRIDEWISE_INT32 = 4,
  STRIDEWISE_FLOAT8_E4M3 = 5,
  STRIDEWISE_FLOAT8_E5M2 = 6
} stridewise_type;

// Whether neighbours in memory belong to one row or to one column.
typedef enum stridewise_layout {
  STRIDEWISE_ROW_MAJOR = 0,
  STRIDEWISE_COLUMN_MAJOR = 1
} stridewise_layout;

// How operands are multiplied and summed: those of FLOAT32, with sums in FP32, but for the last
// two. Operands of other types take FP32, their own arithmetic.
typedef enum stridewise_precision {
  STRIDEWISE_PRECISION_FP32 = 0,        // IEEE FP32: one fused multiply-add for each product.
  STRIDEWISE_PRECISION_FP32_SPLIT = 1,  // On tensor cores, each operand a sum of parts.
  STRIDEWISE_PRECISION_TF32 = 2,        // On tensor cores, operands rounded to 11 significant bits.
  // As FP32_SPLIT, with the same bound of the error, and parts of 8 bits where the device finds all
  // rows flat enough.
  STRIDEWISE_PRECISION_FP32_SPLIT_INT8 = 3,
  // On tensor cores, 16 significant bits of each operand: between TF32 and FP32.
  STRIDEWISE_PRECISION_FP32_MEDIUM = 4,
  // On tensor cores, operands rounded to 8 significant bits, or to 11 of which those beyond 65504
  // become infinite and those below 2^-14 lose digits. The library may keep more of both.
  STRIDEWISE_PRECISION_BF16 = 5,
  STRIDEWISE_PRECISION_FP16 = 6,
  // Of FLOAT16: sums may be rounded to FP16 each time that products are added to them.
  STRIDEWISE_PRECISION_FP16_SUMS = 7,
  // Of FLOAT8_E4M3 and FLOAT8_E5M2: sums may keep 13 fractional bits for all of k, where they are
  // otherwise promoted to FP32 every 128 of k.
  STRIDEWISE_PRECISION_FAST_SUMS = 8
} stridewise_precision;

// What is applied to each element of C behind the bias.
typedef enum stridewise_activation {
  STRIDEWISE_ACTIVATION_NONE = 0,
  STRIDEWISE_ACTIVATION_RELU = 1,
  STRIDEWISE_ACTIVATION_GELU = 2,     // In its form with tanh.
  STRIDEWISE_ACTIVATION_GELU_ERF = 3  // With erf.
} stridewise_activation;

// A or B, or a batch of them.
typedef struct stridewise_input {
  const void* data;  // A multiple of the element's size.
  int64_t ld;        // Elements from one row (column-major: column) to the next; 0: without gaps.
  int64_t stride;  // Elements from one matrix of a batch to the next; 0: all products use the same.
  int32_t type;    // A stridewise_type.
  int32_t transposed;  // Not 0: the transpose of what is stored takes part.
} stridewise_input;

// C, or a batch of them.
typedef struct stridewise_output {
  void* data;
  int64_t ld;
  int64_t stride;  // Matters where batch > 1.
  int32_t type;
  int32_t reserved;  // 0
} stridewise_output;

// C = activation(alpha * op(A) * op(B) + beta * C + bias), for each product of a batch. op(A) is
// m x k, op(B) k x n, C m x n.
typedef struct stridewise_matmul_args {
  size_t struct_size;  // sizeof(stridewise_matmul_args)
  int64_t m;
  int64_t n;
  int64_t k;
  stridewise_input a;
  stridewise_input b;
  stridewise_output c;  // Must not overlap A, B or the workspace.
  double alpha;         // 0: A and B are not read.
  double beta;          // 0: C is not read.
  int64_t batch;        // The number of products; 0: nothing is done.
  int32_t layout;       // A stridewise_layout, of all three matrices.
  int32_t precision;    // A stridewise_precision.
  // Null: the context's workspace. Otherwise device memory, a multiple of 16, that belongs to the
  // call until its work on the stream is done; any size is enough, that of
  // stridewise_matmul_workspace() is the fastest.
  void* workspace;
  int64_t workspace_bytes;
  // Null, or elements of C's type that are added to each row of C, n of them; column-major: to each
  // column, m of them. The same for all products of a batch.
  const void* bias;
  int32_t activation;      // A stridewise_activation.
  int32_t scales_per_128;  // 0: scale_a and scale_b point to one factor each.
  // Factors of 8-bit floating-point operands, in device memory; null: 1. Per 128: of A one for each
  // row and each 128 of k, m x ceil(k / 128), and of B one for each block of 128 x 128,
  // ceil(k / 128) x ceil(n / 128), both row-major without gaps.
  const float* scale_a;
  const float* scale_b;
} stridewise_matmul_args;

// Returns arguments of one row-major FLOAT32 product with alpha = 1, and everything else 0.
static inline stridewise_matmul_args stridewise_matmul_defaults(void) {
  stridewise_matmul_args args;
  memset(&args, 0, sizeof(args));
  args.struct_size = sizeof(args);
  args.alpha = 1;
  args.batch = 1;
  return args;
}

// Queues the product. The order of a sum depends on the shape, the workspace's size and the GPU and
// on nothing else, so that the same call gives the same bits.
STRIDEWISE_API stridewise_status stridewise_matmul(stridewise_context* context,
                                                   const stridewise_matmul_args* args);

// Sets *bytes to the workspace that makes the product fastest. Looks at everything but pointers,
// which it takes for multiples of 16.
STRIDEWISE_API stridewise_status stridewise_matmul_workspace(stridewise_context* context,
                                                             const stridewise_matmul_args* args,
                                                             int64_t* bytes);

#ifdef __cplusplus
}
#endif

#endif  // STRIDEWISE_H_
