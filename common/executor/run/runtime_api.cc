// The functions of CUDA's runtime API that simt_runtime_api.h declares.

#include <algorithm>
#include <cstring>
#include <iterator>
#include <mutex>
#include <string>

#include "common/executor/run/include/simt_runtime_api.h"
#include "common/executor/run/runtime.h"
#include "common/executor/run/runtime_streams.h"

using stridewise::executor::Captured;
using stridewise::executor::Locked;
using stridewise::executor::Runtime;

namespace {

constexpr size_t kDeviceBytes = size_t{64} << 30;  // The executor's address range.

// What a device has, of an H200 (the multiprocessors are simt_run's to choose).
constexpr struct {
  cudaDeviceAttr attribute;
  int value;
} kAttributes[] = {
    {cudaDevAttrMaxThreadsPerBlock, 1024},
    {cudaDevAttrMaxBlockDimX, 1024},
    {cudaDevAttrMaxBlockDimY, 1024},
    {cudaDevAttrMaxBlockDimZ, 64},
    {cudaDevAttrMaxGridDimX, 2147483647},
    {cudaDevAttrMaxPitch, 2147483647},
    {cudaDevAttrMaxGridDimY, 65535},
    {cudaDevAttrMaxGridDimZ, 65535},
    {cudaDevAttrMaxSharedMemoryPerBlock, 48 << 10},
    {cudaDevAttrMaxSharedMemoryPerBlockOptin, 227 << 10},
    {cudaDevAttrMaxSharedMemoryPerMultiprocessor, 228 << 10},
    {cudaDevAttrReservedSharedMemoryPerBlock, 1 << 10},
    {cudaDevAttrTotalConstantMemory, 64 << 10},
    {cudaDevAttrWarpSize, 32},
    {cudaDevAttrMaxRegistersPerBlock, 65536},
    {cudaDevAttrMaxRegistersPerMultiprocessor, 65536},
    {cudaDevAttrClockRate, 1980000},
    {cudaDevAttrMemoryClockRate, 3201000},
    {cudaDevAttrGlobalMemoryBusWidth, 6144},
    {cudaDevAttrL2CacheSize, 60 << 20},
    {cudaDevAttrMaxThreadsPerMultiProcessor, 2048},
    {cudaDevAttrMaxBlocksPerMultiprocessor, 32},
    {cudaDevAttrComputeCapabilityMajor, 9},
    {cudaDevAttrCanMapHostMemory, 1},
    {cudaDevAttrConcurrentKernels, 1},
    {cudaDevAttrAsyncEngineCount, 1},
    {cudaDevAttrGpuOverlap, 1},
    {cudaDevAttrHostRegisterSupported, 1},
    {cudaDevAttrGlobalL1CacheSupported, 1},
    {cudaDevAttrLocalL1CacheSupported, 1},
    {cudaDevAttrUnifiedAddressing, 1},
    {cudaDevAttrStreamPrioritiesSupported, 1},
    {cudaDevAttrManagedMemory, 1},
    {cudaDevAttrConcurrentManagedAccess, 1},
    {cudaDevAttrComputePreemptionSupported, 1},
    {cudaDevAttrMemoryPoolsSupported, 1},
    {cudaDevAttrCooperativeLaunch, 1},
    {cudaDevAttrIntegrated, 0},
    {cudaDevAttrKernelExecTimeout, 0},
    {cudaDevAttrEccEnabled, 0},
    {cudaDevAttrPciBusId, 0},
    {cudaDevAttrPciDeviceId, 0},
    {cudaDevAttrTccDriver, 0},
    {cudaDevAttrPageableMemoryAccessUsesHostPageTables, 0},
    {cudaDevAttrComputeMode, 0},
    {cudaDevAttrComputeCapabilityMinor, 0},
    {cudaDevAttrPageableMemoryAccess, 0},
};

}  // namespace

extern "C" {

// Of a kernel's thread, while the launch holds the runtime's mutex.
int simt_run_other_cluster(unsigned x, unsigned y, unsigned z) {
  return Runtime::Get().OtherCluster({x, y, z}) ? 1 : 0;
}
int simt_in_kernel();  // Of hooks.cc.

cudaError_t simt_run_launch(const SimtLaunchRequest* request) {
  // Within a kernel, as the launch that runs has the runtime for itself.
  if (simt_in_kernel() != 0) return Runtime::Get().RefuseInKernel(*request);
  cudaError_t error = cudaSuccess;
  if (Captured(*request, &error)) return error;
  return Locked()->Launch(*request);
}
cudaError_t simt_run_allocate(void** pointer, size_t bytes, int kind, const char* file, int line) {
  return Locked()->Allocate(pointer, bytes, static_cast<Runtime::Kind>(kind), file, line);
}
cudaError_t simt_run_limit_dynamic_shared(const void* kernel, size_t bytes) {
  Locked runtime;
  if (bytes > (size_t{227} << 10)) return runtime->Note(cudaErrorInvalidValue);
  runtime->LimitDynamicShared(kernel, bytes);
  return cudaSuccess;
}

int simt_run_resident_blocks(unsigned threads, size_t shared_bytes) {
  return Runtime::ResidentBlocks(threads, shared_bytes);
}

cudaError_t cudaFree(void* pointer) { return Locked()->Free(pointer); }
cudaError_t cudaFreeHost(void* pointer) { return Locked()->Free(pointer); }
cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned) {
  return Locked()->Register(pointer, bytes);
}
void simt_run_let_host_write(const void* pointer) { Locked()->LetHostWrite(pointer); }
cudaError_t cudaHostUnregister(void*) { return cudaSuccess; }
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return Locked()->Copy(to, from, bytes, kind);
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  Locked runtime;
  for (size_t row = 0; row < height; ++row) {
    const cudaError_t error =
        runtime->Copy(static_cast<char*>(to) + row * to_pitch,
                      static_cast<const char*>(from) + row * from_pitch, width, kind);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}
cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return Locked()->Set(to, value, bytes);
}
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  *total_bytes = kDeviceBytes;
  *free_bytes = kDeviceBytes - Locked()->allocated_bytes();
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  Locked runtime;
  const auto& kinds = runtime->kinds();
  const auto found = kinds.find(reinterpret_cast<uintptr_t>(pointer));
  *attributes = cudaPointerAttributes();
  attributes->type = cudaMemoryTypeUnregistered;
  if (found != kinds.end()) {
    attributes->type = found->second == Runtime::kDevice ? cudaMemoryTypeDevice
                       : found->second == Runtime::kHost ? cudaMemoryTypeHost
                                                         : cudaMemoryTypeManaged;
    attributes->devicePointer = const_cast<void*>(pointer);
  }
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (device != 0) return Locked()->Note(cudaErrorInvalidDevice);
  if (attribute == cudaDevAttrMultiProcessorCount) {
    *value = Runtime::Get().multiprocessors();
    return cudaSuccess;
  }
  const auto* const found =
      std::find_if(std::begin(kAttributes), std::end(kAttributes),
                   [attribute](const auto& known) { return known.attribute == attribute; });
  if (found == std::end(kAttributes)) return Locked()->Note(cudaErrorInvalidValue);
  *value = found->value;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  if (device != 0) return Locked()->Note(cudaErrorInvalidDevice);
  const auto attribute = [](cudaDeviceAttr which) {
    int value = 0;
    cudaDeviceGetAttribute(&value, which, 0);
    return value;
  };
  *p = cudaDeviceProp();
  std::strcpy(p->name, "Stridewise host executor (as an H200)");
  p->totalGlobalMem = kDeviceBytes;
  p->sharedMemPerBlock = attribute(cudaDevAttrMaxSharedMemoryPerBlock);
  p->sharedMemPerBlockOptin = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  p->sharedMemPerMultiprocessor = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  p->reservedSharedMemPerBlock = attribute(cudaDevAttrReservedSharedMemoryPerBlock);
  p->regsPerBlock = p->regsPerMultiprocessor = attribute(cudaDevAttrMaxRegistersPerBlock);
  p->warpSize = 32;
  p->memPitch = attribute(cudaDevAttrMaxPitch);
  p->maxThreadsPerBlock = p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
  p->maxThreadsDim[2] = 64;
  p->maxGridSize[0] = 2147483647;
  p->maxGridSize[1] = p->maxGridSize[2] = 65535;
  p->clockRate = attribute(cudaDevAttrClockRate);
  p->totalConstMem = attribute(cudaDevAttrTotalConstantMemory);
  p->major = 9;
  p->textureAlignment = 512;
  p->texturePitchAlignment = 32;
  p->deviceOverlap = p->canMapHostMemory = p->concurrentKernels = 1;
  p->asyncEngineCount = p->unifiedAddressing = p->managedMemory = 1;
  p->streamPrioritiesSupported = p->concurrentManagedAccess = p->cooperativeLaunch = 1;
  p->computePreemptionSupported = p->globalL1CacheSupported = p->localL1CacheSupported = 1;
  p->multiProcessorCount = attribute(cudaDevAttrMultiProcessorCount);
  p->memoryClockRate = attribute(cudaDevAttrMemoryClockRate);
  p->memoryBusWidth = attribute(cudaDevAttrGlobalMemoryBusWidth);
  p->l2CacheSize = attribute(cudaDevAttrL2CacheSize);
  p->maxThreadsPerMultiProcessor = 2048;
  p->maxBlocksPerMultiProcessor = 32;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  return Locked()->Note(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceReset() {
  Locked()->Reset();
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  Locked runtime;
  return runtime->Note(runtime->sticky());
}
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  *value = limit == cudaLimitStackSize ? size_t{64} << 10 : size_t{8} << 20;
  return cudaSuccess;
}

cudaError_t cudaGetLastError() { return Locked()->TakeLastError(); }
cudaError_t cudaPeekAtLastError() { return Locked()->last_error(); }

#define SIMT_NAME(name, value, text) \
  case name:                         \
    return #name;
const char* cudaGetErrorName(cudaError_t error) {
  switch (error) { SIMT_ERRORS(SIMT_NAME) }
  return "unrecognized error code";
}
#define SIMT_TEXT(name, value, text) \
  case name:                         \
    return text;
const char* cudaGetErrorString(cudaError_t error) {
  switch (error) { SIMT_ERRORS(SIMT_TEXT) }
  return "unrecognized error code";
}

}  // extern "C"
