// The runtime API's functions that follow from others, and its C++ overloads.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_RUNTIME_WRAPPERS_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_RUNTIME_WRAPPERS_H_

#include "simt_graphs.h"
#include "simt_runtime_api.h"

#define SIMT_WRAPPER static inline __attribute__((unused, no_sanitize("coverage")))
#define SIMT_PLACE const char *file = __builtin_FILE(), int line = __builtin_LINE()

// --- Memory ------------------------------------------------------------------------------------

template <typename T>
SIMT_WRAPPER cudaError_t cudaMalloc(T** pointer, size_t bytes, SIMT_PLACE) {
  return simt_run_allocate(reinterpret_cast<void**>(pointer), bytes, 0, file, line);
}
template <typename T>
SIMT_WRAPPER cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t, SIMT_PLACE) {
  return simt_run_allocate(reinterpret_cast<void**>(pointer), bytes, 0, file, line);
}
SIMT_WRAPPER cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) { return cudaFree(pointer); }
template <typename T>
SIMT_WRAPPER cudaError_t cudaMallocManaged(T** pointer, size_t bytes,
                                           unsigned = cudaMemAttachGlobal, SIMT_PLACE) {
  return simt_run_allocate(reinterpret_cast<void**>(pointer), bytes, 2, file, line);
}
template <typename T>
SIMT_WRAPPER cudaError_t cudaMallocHost(T** pointer, size_t bytes, unsigned = 0, SIMT_PLACE) {
  return simt_run_allocate(reinterpret_cast<void**>(pointer), bytes, 1, file, line);
}
template <typename T>
SIMT_WRAPPER cudaError_t cudaHostAlloc(T** pointer, size_t bytes, unsigned, SIMT_PLACE) {
  return simt_run_allocate(reinterpret_cast<void**>(pointer), bytes, 1, file, line);
}
template <typename T>
SIMT_WRAPPER cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height,
                                         SIMT_PLACE) {
  *pitch = (width + 511) / 512 * 512;
  return simt_run_allocate(reinterpret_cast<void**>(pointer), *pitch * height, 0, file, line);
}
template <typename T>
SIMT_WRAPPER cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned) {
  *device = static_cast<T*>(host);
  return cudaSuccess;
}
SIMT_WRAPPER cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes,
                                         cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
  return simt_run_copy_async(to, from, bytes, kind, stream);
}
SIMT_WRAPPER cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from,
                                           size_t from_pitch, size_t width, size_t height,
                                           cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
  cudaError_t error = cudaSuccess;
  for (size_t row = 0; row < height && error == cudaSuccess; ++row) {
    error =
        simt_run_copy_async(static_cast<char*>(to) + row * to_pitch,
                            static_cast<const char*>(from) + row * from_pitch, width, kind, stream);
  }
  return error;
}
SIMT_WRAPPER cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes,
                                         cudaStream_t stream = nullptr) {
  return simt_run_set_async(to, value, bytes, stream);
}
SIMT_WRAPPER cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width,
                                      size_t height) {
  cudaError_t error = cudaSuccess;
  for (size_t row = 0; row < height && error == cudaSuccess; ++row) {
    error = cudaMemset(static_cast<char*>(to) + row * pitch, value, width);
  }
  return error;
}
// Managed memory is where both sides reach it: there is nothing to move.
SIMT_WRAPPER cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t = nullptr) {
  return cudaSuccess;
}
SIMT_WRAPPER cudaError_t cudaMemPrefetchAsync(const void*, size_t, cudaMemLocation, unsigned,
                                              cudaStream_t = nullptr) {
  return cudaSuccess;
}
SIMT_WRAPPER cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, int) {
  return cudaSuccess;
}
SIMT_WRAPPER cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void*, size_t = 0, unsigned = 0) {
  return cudaSuccess;
}

// Symbols: a variable itself, or its address.
template <typename T>
SIMT_WRAPPER cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes,
                                            size_t offset = 0,
                                            cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return cudaMemcpy(const_cast<char*>(reinterpret_cast<const volatile char*>(&symbol)) + offset,
                    from, bytes, kind);
}
template <typename T>
SIMT_WRAPPER cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes,
                                              size_t offset = 0,
                                              cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return cudaMemcpy(
      to, const_cast<const char*>(reinterpret_cast<const volatile char*>(&symbol)) + offset, bytes,
      kind);
}
template <typename T>
SIMT_WRAPPER cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes,
                                                 size_t offset, cudaMemcpyKind kind,
                                                 cudaStream_t = nullptr) {
  return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}
template <typename T>
SIMT_WRAPPER cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes,
                                                   size_t offset, cudaMemcpyKind kind,
                                                   cudaStream_t = nullptr) {
  return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}
template <typename P, typename T>
SIMT_WRAPPER cudaError_t cudaGetSymbolAddress(P** pointer, const T& symbol) {
  *pointer =
      reinterpret_cast<P*>(const_cast<char*>(reinterpret_cast<const volatile char*>(&symbol)));
  return cudaSuccess;
}
template <typename T>
SIMT_WRAPPER cudaError_t cudaGetSymbolSize(size_t* bytes, const T& symbol) {
  *bytes = sizeof(symbol);
  return cudaSuccess;
}

// --- Streams and events ------------------------------------------------------------------------

SIMT_WRAPPER cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, 0, 0);
}
SIMT_WRAPPER cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
SIMT_WRAPPER cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaDeviceSynchronize(); }
SIMT_WRAPPER cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
SIMT_WRAPPER cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned = 0) {
  return simt_run_wait_event(stream, event);
}
SIMT_WRAPPER cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                               void* data, unsigned) {
  callback(stream, cudaSuccess, data);
  return cudaSuccess;
}
SIMT_WRAPPER cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags = 0) {
  return cudaEventCreateWithFlags(event, flags);
}
SIMT_WRAPPER cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr) {
  return simt_run_event_record(event, stream);
}
SIMT_WRAPPER cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                                  unsigned) {
  return simt_run_event_record(event, stream);
}
SIMT_WRAPPER cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return simt_run_event_check(event);
}
SIMT_WRAPPER cudaError_t cudaEventQuery(cudaEvent_t event) { return simt_run_event_check(event); }

// --- Graphs ------------------------------------------------------------------------------------

SIMT_WRAPPER cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                              unsigned long long = 0) {
  return simt_run_instantiate(exec, graph);
}
SIMT_WRAPPER cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                              cudaGraphNode_t*, char*, size_t) {
  return simt_run_instantiate(exec, graph);
}
SIMT_WRAPPER cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                                       unsigned long long = 0) {
  return simt_run_instantiate(exec, graph);
}
SIMT_WRAPPER cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                             cudaGraphExecUpdateResultInfo* info) {
  *info = {cudaGraphExecUpdateSuccess, nullptr, nullptr};
  return simt_run_update_graph(exec, graph);
}
SIMT_WRAPPER cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                             cudaGraphNode_t*, cudaGraphExecUpdateResult* result) {
  *result = cudaGraphExecUpdateSuccess;
  return simt_run_update_graph(exec, graph);
}
SIMT_WRAPPER cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }

// --- The device --------------------------------------------------------------------------------

SIMT_WRAPPER cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
SIMT_WRAPPER cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
SIMT_WRAPPER cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) {
  *device = 0;
  return cudaSuccess;
}
SIMT_WRAPPER cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
SIMT_WRAPPER cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
SIMT_WRAPPER cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
SIMT_WRAPPER cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  *config = cudaSharedMemBankSizeFourByte;
  return cudaSuccess;
}
SIMT_WRAPPER cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }
SIMT_WRAPPER cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return cudaSuccess;
}
// Hints of caching change nothing.
SIMT_WRAPPER cudaError_t cudaStreamSetAttribute(cudaStream_t, cudaStreamAttrID,
                                                const cudaStreamAttrValue*) {
  return cudaSuccess;
}
SIMT_WRAPPER cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }
SIMT_WRAPPER cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}
SIMT_WRAPPER cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
SIMT_WRAPPER cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
SIMT_WRAPPER cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
SIMT_WRAPPER cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
SIMT_WRAPPER cudaError_t cudaProfilerStart() { return cudaSuccess; }
SIMT_WRAPPER cudaError_t cudaProfilerStop() { return cudaSuccess; }

// --- Kernels -----------------------------------------------------------------------------------

template <typename Kernel>
SIMT_WRAPPER cudaError_t cudaFuncSetCacheConfig(Kernel*, cudaFuncCache) {
  return cudaSuccess;
}
template <typename Kernel>
SIMT_WRAPPER cudaError_t cudaFuncSetSharedMemConfig(Kernel*, cudaSharedMemConfig) {
  return cudaSuccess;
}
template <typename Kernel>
SIMT_WRAPPER cudaError_t cudaFuncSetAttribute(Kernel* kernel, cudaFuncAttribute attribute,
                                              int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  return simt_run_limit_dynamic_shared(reinterpret_cast<const void*>(kernel),
                                       static_cast<size_t>(value));
}
// Registers are the machine code's, which is not known here.
template <typename Kernel>
SIMT_WRAPPER cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel*) {
  *attributes = cudaFuncAttributes();
  attributes->maxThreadsPerBlock = 1024;
  attributes->binaryVersion = attributes->ptxVersion = 90;
  attributes->maxDynamicSharedSizeBytes = 48 << 10;
  return cudaSuccess;
}
// Of an H200, by threads and dynamic shared memory alone.
template <typename Kernel>
SIMT_WRAPPER cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel*,
                                                                       int threads,
                                                                       size_t shared_bytes) {
  if (threads <= 0 || threads > 1024) return cudaErrorInvalidValue;
  *blocks = simt_run_resident_blocks(static_cast<unsigned>(threads), shared_bytes);
  return cudaSuccess;
}
template <typename Kernel>
SIMT_WRAPPER cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, Kernel* kernel, int threads, size_t shared_bytes, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, shared_bytes);
}
template <typename Kernel>
SIMT_WRAPPER cudaError_t cudaOccupancyMaxPotentialBlockSize(int* min_grid, int* block, Kernel*,
                                                            size_t = 0, int limit = 0) {
  *block = limit > 0 && limit < 1024 ? limit : 1024;
  int multiprocessors;
  const cudaError_t error =
      cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  *min_grid = multiprocessors * (2048 / *block);
  return error;
}

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_RUNTIME_WRAPPERS_H_
