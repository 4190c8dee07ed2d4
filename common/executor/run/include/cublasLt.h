// The handle of cuBLASLt, for programs that create one beside kernels of their own. Its products
// are not here: the compiler names the lines that call them.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CUBLASLT_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CUBLASLT_H_

#include "cublas_v2.h"

struct SimtCublasLtContext;
typedef SimtCublasLtContext* cublasLtHandle_t;

SIMT_WRAPPER cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(handle);
  return CUBLAS_STATUS_SUCCESS;
}
SIMT_WRAPPER cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return CUBLAS_STATUS_SUCCESS; }

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CUBLASLT_H_
