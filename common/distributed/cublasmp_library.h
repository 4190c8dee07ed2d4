// cuBLASMp, NVIDIA's BLAS for matrices that are spread over GPUs, found when it is first asked for:
// neither the build nor other runs need it.
//
// The declarations are those of cublasmp.h, of what cublasmp_grid.cc calls; they are the same from
// 0.7 to 0.10. Matrices are column-major, block-cyclic, and indices count from 1.

#ifndef STRIDEWISE_COMMON_DISTRIBUTED_CUBLASMP_LIBRARY_H_
#define STRIDEWISE_COMMON_DISTRIBUTED_CUBLASMP_LIBRARY_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "common/distributed/nccl_library.h"
#include "common/gpu/cuda_handles.h"

namespace stridewise {

struct CublasMpHandleState;  // cublasMpHandle
using CublasMpHandle = CublasMpHandleState*;
struct CublasMpGridState;  // cublasMpGrid
using CublasMpGridHandle = CublasMpGridState*;
struct CublasMpMatrixState;  // cublasMpMatrixDescriptor
using CublasMpMatrix = CublasMpMatrixState*;

enum CublasMpStatus : int { kCublasMpSuccess = 0 };
enum CublasMpGridLayout : int { kCublasMpColumnMajor = 0 };
enum CublasMpOperation : int { kCublasMpN = 0, kCublasMpT = 1 };  // cublasOperation_t
enum CublasMpType : int {                                         // cudaDataType_t
  kCublasMpFloat = 0,
  kCublasMpDouble = 1,
  kCublasMpBf16 = 14
};
enum CublasMpCompute : int { kCublasMpCompute32F = 68 };  // cublasComputeType_t

struct CublasMpLibrary {
  CublasMpStatus (*GetVersion)(int* version);
  CublasMpStatus (*Create)(CublasMpHandle* handle, cudaStream_t stream);
  CublasMpStatus (*Destroy)(CublasMpHandle handle);
  CublasMpStatus (*GridCreate)(int64_t rows, int64_t cols, CublasMpGridLayout layout, NcclComm comm,
                               CublasMpGridHandle* grid);
  CublasMpStatus (*GridDestroy)(CublasMpGridHandle grid);
  CublasMpStatus (*MatrixDescriptorCreate)(int64_t m, int64_t n, int64_t m_block, int64_t n_block,
                                           int64_t first_row, int64_t first_col, int64_t ld,
                                           CublasMpType type, CublasMpGridHandle grid,
                                           CublasMpMatrix* matrix);
  CublasMpStatus (*MatrixDescriptorDestroy)(CublasMpMatrix matrix);
  CublasMpStatus (*GemmBufferSize)(CublasMpHandle handle, CublasMpOperation a_operation,
                                   CublasMpOperation b_operation, int64_t m, int64_t n, int64_t k,
                                   const void* alpha, const void* a, int64_t a_row, int64_t a_col,
                                   CublasMpMatrix a_matrix, const void* b, int64_t b_row,
                                   int64_t b_col, CublasMpMatrix b_matrix, const void* beta,
                                   void* c, int64_t c_row, int64_t c_col, CublasMpMatrix c_matrix,
                                   CublasMpCompute compute, size_t* device_bytes,
                                   size_t* host_bytes);
  CublasMpStatus (*Gemm)(CublasMpHandle handle, CublasMpOperation a_operation,
                         CublasMpOperation b_operation, int64_t m, int64_t n, int64_t k,
                         const void* alpha, const void* a, int64_t a_row, int64_t a_col,
                         CublasMpMatrix a_matrix, const void* b, int64_t b_row, int64_t b_col,
                         CublasMpMatrix b_matrix, const void* beta, void* c, int64_t c_row,
                         int64_t c_col, CublasMpMatrix c_matrix, CublasMpCompute compute,
                         void* device, size_t device_bytes, void* host, size_t host_bytes);
  CublasMpStatus (*GeaddBufferSize)(CublasMpHandle handle, CublasMpOperation operation, int64_t m,
                                    int64_t n, const void* alpha, const void* a, int64_t a_row,
                                    int64_t a_col, CublasMpMatrix a_matrix, const void* beta,
                                    void* c, int64_t c_row, int64_t c_col, CublasMpMatrix c_matrix,
                                    size_t* device_bytes, size_t* host_bytes);
  CublasMpStatus (*Geadd)(CublasMpHandle handle, CublasMpOperation operation, int64_t m, int64_t n,
                          const void* alpha, const void* a, int64_t a_row, int64_t a_col,
                          CublasMpMatrix a_matrix, const void* beta, void* c, int64_t c_row,
                          int64_t c_col, CublasMpMatrix c_matrix, void* device, size_t device_bytes,
                          void* host, size_t host_bytes);
  int version = 0;  // 700 for 0.7, 1000 for 0.10.

  // Of the libraries that it links; null where it has them in another way.
  NcclResult (*NcclGetVersion)(int* version) = nullptr;
  size_t (*CublasGetCudartVersion)() = nullptr;
};

// Several GPUs of one process are served from this version on, and where it was built for this
// CUDA or a later one.
inline constexpr int kCublasMpOfSeveralGpus = 1000;
inline constexpr int kCudaOfSeveralGpus = 13000;

// Returns the library, loaded at the first call: the file that STRIDEWISE_CUBLASMP names (that of
// NVIDIA's wheel nvidia-cublasmp-cu13, for example), else libcublasmp.so.0 where the system has it.
// It links cuBLAS and NCCL by their names: LD_LIBRARY_PATH must name their folders where the system
// does not. Unavailable, naming STRIDEWISE_CUBLASMP, where there is none or it lacks a function.
absl::StatusOr<const CublasMpLibrary*> LoadCublasMp();

// Returns the library, or Unavailable where it, or the CUDA that it was built for, is too old for
// this number of ranks in one process, or where it links another NCCL than `nccl`: a communicator
// of one library is other memory to the other.
absl::StatusOr<const CublasMpLibrary*> ForRanks(const CublasMpLibrary* library, int ranks,
                                                const NcclLibrary& nccl);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_DISTRIBUTED_CUBLASMP_LIBRARY_H_
