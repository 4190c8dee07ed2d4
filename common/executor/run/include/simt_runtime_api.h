// The part of CUDA's runtime API that whole programs on the host executor can call: types, and
// functions that the runtime library defines. What is not declared here or in the headers beside
// this one is not supported, and the compiler names the line that uses it.
//
// Everything runs within the call: streams keep their order trivially, and nothing overlaps.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_RUNTIME_API_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_RUNTIME_API_H_

#include <stddef.h>
#include <stdint.h>

#include "common/gpu/cuda_handles.h"
#include "simt_device_properties.h"

// Headers of samples ask for these before they use what follows.
#define __DRIVER_TYPES_H__
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define CUDART_VERSION 13000
#define CUDART_CB

#define SIMT_ERRORS(X)                                                                          \
  X(cudaSuccess, 0, "no error")                                                                 \
  X(cudaErrorInvalidValue, 1, "invalid argument")                                               \
  X(cudaErrorMemoryAllocation, 2, "out of memory")                                              \
  X(cudaErrorInitializationError, 3, "initialization error")                                    \
  X(cudaErrorCudartUnloading, 4, "driver shutting down")                                        \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                         \
  X(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                        \
  X(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                                \
  X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                   \
  X(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient")                     \
  X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                              \
  X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                               \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                      \
  X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                             \
  X(cudaErrorIllegalState, 401, "the operation cannot be performed in the present state")       \
  X(cudaErrorNotReady, 600, "device not ready")                                                 \
  X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                   \
  X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")              \
  X(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                     \
  X(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                   \
  X(cudaErrorAssert, 710, "device-side assert triggered")                                       \
  X(cudaErrorHostMemoryAlreadyRegistered, 712, "part or all of the memory is registered")       \
  X(cudaErrorHostMemoryNotRegistered, 713, "pointer does not correspond to registered memory")  \
  X(cudaErrorMisalignedAddress, 716, "misaligned address")                                      \
  X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                  \
  X(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")           \
  X(cudaErrorNotPermitted, 800, "operation not permitted")                                      \
  X(cudaErrorNotSupported, 801, "operation not supported")                                      \
  X(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing") \
  X(cudaErrorStreamCaptureImplicit, 906,                                                        \
    "operation would make the legacy stream depend on a capturing blocking stream")             \
  X(cudaErrorUnknown, 999, "unknown error")

#define SIMT_ENUMERATOR(name, value, text) name = value,
enum cudaError { SIMT_ERRORS(SIMT_ENUMERATOR) };
#undef SIMT_ENUMERATOR
typedef enum cudaError cudaError_t;

enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4,
};

enum cudaFuncCache {
  cudaFuncCachePreferNone,
  cudaFuncCachePreferShared,
  cudaFuncCachePreferL1,
  cudaFuncCachePreferEqual,
};
enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault,
  cudaSharedMemBankSizeFourByte,
  cudaSharedMemBankSizeEightByte,
};
enum cudaLimit {
  cudaLimitStackSize,
  cudaLimitPrintfFifoSize,
  cudaLimitMallocHeapSize,
  cudaLimitDevRuntimeSyncDepth,
  cudaLimitDevRuntimePendingLaunchCount,
  cudaLimitMaxL2FetchGranularity,
  cudaLimitPersistingL2CacheSize,
};
enum cudaComputeMode {
  cudaComputeModeDefault,
  cudaComputeModeExclusive,
  cudaComputeModeProhibited,
  cudaComputeModeExclusiveProcess,
};
enum cudaMemoryType {
  cudaMemoryTypeUnregistered,
  cudaMemoryTypeHost,
  cudaMemoryTypeDevice,
  cudaMemoryTypeManaged,
};
enum cudaMemoryAdvise {
  cudaMemAdviseSetReadMostly = 1,
  cudaMemAdviseUnsetReadMostly,
  cudaMemAdviseSetPreferredLocation,
  cudaMemAdviseUnsetPreferredLocation,
  cudaMemAdviseSetAccessedBy,
  cudaMemAdviseUnsetAccessedBy,
};
enum cudaSharedCarveout {
  cudaSharedmemCarveoutDefault = -1,
  cudaSharedmemCarveoutMaxL1 = 0,
  cudaSharedmemCarveoutMaxShared = 100,
};
enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore = 0,
  cudaLaunchAttributeAccessPolicyWindow = 1,
  cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeClusterSchedulingPolicyPreference = 5,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
  cudaLaunchAttributePriority = 8,
};
enum cudaAccessProperty {
  cudaAccessPropertyNormal,
  cudaAccessPropertyStreaming,
  cudaAccessPropertyPersisting,
};
struct cudaAccessPolicyWindow {
  void* base_ptr;
  size_t num_bytes;
  float hitRatio;
  enum cudaAccessProperty hitProp, missProp;
};
union cudaLaunchAttributeValue {
  char pad[64];
  struct cudaAccessPolicyWindow accessPolicyWindow;
  struct {
    unsigned x, y, z;
  } clusterDim;
  int cooperative;
  int priority;
  int programmaticStreamSerializationAllowed;
  int clusterSchedulingPolicyPreference;
};
struct cudaLaunchAttribute {
  enum cudaLaunchAttributeID id;
  union cudaLaunchAttributeValue val;
};
typedef enum cudaLaunchAttributeID cudaStreamAttrID;
typedef union cudaLaunchAttributeValue cudaStreamAttrValue;
#define cudaStreamAttributeAccessPolicyWindow cudaLaunchAttributeAccessPolicyWindow
#define cudaStreamAttributePriority cudaLaunchAttributePriority

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 13,
};

struct cudaFuncAttributes {
  size_t sharedSizeBytes;
  size_t constSizeBytes;
  size_t localSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;
  int ptxVersion;
  int binaryVersion;
  int cacheModeCA;
  int maxDynamicSharedSizeBytes;
  int preferredShmemCarveout;
};

struct cudaPointerAttributes {
  enum cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
};

struct cudaMemLocation {
  int type;
  int id;
};

typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void* data);
typedef void (*cudaHostFn_t)(void* data);

#define cudaStreamDefault 0x00
#define cudaStreamNonBlocking 0x01
#define cudaStreamLegacy (reinterpret_cast<cudaStream_t>(1))
#define cudaStreamPerThread (reinterpret_cast<cudaStream_t>(2))
#define cudaEventDefault 0x00
#define cudaEventBlockingSync 0x01
#define cudaEventDisableTiming 0x02
#define cudaEventInterprocess 0x04
#define cudaHostAllocDefault 0x00
#define cudaHostAllocPortable 0x01
#define cudaHostAllocMapped 0x02
#define cudaHostAllocWriteCombined 0x04
#define cudaHostRegisterDefault 0x00
#define cudaHostRegisterPortable 0x01
#define cudaHostRegisterMapped 0x02
#define cudaMemAttachGlobal 0x01
#define cudaMemAttachHost 0x02
#define cudaDeviceScheduleAuto 0x00
#define cudaDeviceScheduleSpin 0x01
#define cudaDeviceScheduleYield 0x02
#define cudaDeviceScheduleBlockingSync 0x04
#define cudaDeviceBlockingSync 0x04
#define cudaDeviceMapHost 0x08
#define cudaOccupancyDefault 0x00
#define cudaCpuDeviceId (-1)
#define cudaInvalidDeviceId (-2)

// A launch as the compiled program describes it.
struct SimtLaunchRequest {
  unsigned grid[3];
  unsigned block[3];
  unsigned cluster[3];  // Blocks of a cluster.
  size_t shared_bytes;
  cudaStream_t stream;
  const char* name;  // The expression before <<<; "" where the launch has none.
  const char* file;
  int line;
  int cooperative;     // Whether all blocks run at the same time, for barriers of the grid.
  const void* kernel;  // Its entry point; null where the type follows from the arguments.
  void (*run)(void* arguments);
  void* arguments;
  size_t arguments_bytes;
};

extern "C" {

cudaError_t simt_run_launch(const struct SimtLaunchRequest* request);
// Memory of the device, by where the program asks for it. `kind`: 0 of the device, 1 of the host,
// 2 managed.
cudaError_t simt_run_allocate(void** pointer, size_t bytes, int kind, const char* file, int line);
// Host code will write the buffer of the pointer, unseen.
void simt_run_let_host_write(const void* pointer);
cudaError_t simt_run_limit_dynamic_shared(const void* kernel, size_t bytes);
// The blocks that a multiprocessor of the device holds, by threads and shared memory.
int simt_run_resident_blocks(unsigned threads, size_t shared_bytes);

cudaError_t cudaFree(void* pointer);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void* pointer);
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind);
cudaError_t cudaMemset(void* to, int value, size_t bytes);
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes);
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes* attributes, const void* pointer);

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, enum cudaDeviceAttr attribute, int device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceGetLimit(size_t* value, enum cudaLimit limit);

cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);

// From a kernel.
void simt_trap(void);
// Whether the launch that runs has another cluster; it is then launched again with this one.
int simt_run_other_cluster(unsigned x, unsigned y, unsigned z);
// malloc() and free() in device code are not supported.

}  // extern "C"

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_RUNTIME_API_H_
