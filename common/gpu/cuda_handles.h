// Declares CUDA's handle types, so that a header can name a stream without a CUDA toolkit. The
// declarations repeat CUDA's own, which C++ allows.

#ifndef STRIDEWISE_COMMON_GPU_CUDA_HANDLES_H_
#define STRIDEWISE_COMMON_GPU_CUDA_HANDLES_H_

struct CUstream_st;
typedef CUstream_st* cudaStream_t;  // NOLINT(modernize-use-using): as driver_types.h has it.

struct CUevent_st;
typedef CUevent_st* cudaEvent_t;  // NOLINT(modernize-use-using)

struct cublasContext;
typedef cublasContext* cublasHandle_t;  // NOLINT(modernize-use-using)

#endif  // STRIDEWISE_COMMON_GPU_CUDA_HANDLES_H_
