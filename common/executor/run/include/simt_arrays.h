// CUDA arrays and memory of three dimensions: what textures and surfaces are made of. An array lies
// row by row in memory of the host, where no kernel's pointer leads.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_ARRAYS_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_ARRAYS_H_

#include <stdlib.h>
#include <string.h>

#include "simt_runtime_wrappers.h"

enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned,
  cudaChannelFormatKindUnsigned,
  cudaChannelFormatKindFloat,
  cudaChannelFormatKindNone,
};
struct cudaChannelFormatDesc {
  int x, y, z, w;  // Bits of each member.
  enum cudaChannelFormatKind f;
};
struct cudaExtent {
  size_t width, height, depth;
};
struct cudaPos {
  size_t x, y, z;
};
struct cudaPitchedPtr {
  void* ptr;
  size_t pitch, xsize, ysize;
};
struct cudaArray {
  cudaChannelFormatDesc format;
  cudaExtent extent;  // In elements; a height or depth of 0 is one row or layer.
  size_t element_bytes;
  char* data;

  size_t RowBytes() const { return extent.width * element_bytes; }
  size_t Rows() const { return extent.height == 0 ? 1 : extent.height; }
  size_t Layers() const { return extent.depth == 0 ? 1 : extent.depth; }
};
typedef cudaArray* cudaArray_t;
typedef const cudaArray* cudaArray_const_t;

#define cudaArrayDefault 0x00
#define cudaArrayLayered 0x01
#define cudaArraySurfaceLoadStore 0x02

SIMT_WRAPPER cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                         cudaChannelFormatKind f) {
  return {x, y, z, w, f};
}
namespace simt_cuda {

template <typename T>
struct Channel {
  static constexpr cudaChannelFormatKind kKind = T(0.5) != T(0) ? cudaChannelFormatKindFloat
                                                 : T(-1) < T(0) ? cudaChannelFormatKindSigned
                                                                : cudaChannelFormatKindUnsigned;
};

}  // namespace simt_cuda
// Of numbers and of CUDA's vectors of 1, 2 and 4.
template <typename T>
SIMT_WRAPPER cudaChannelFormatDesc cudaCreateChannelDesc() {
  constexpr int kBits = 8 * static_cast<int>(sizeof(T));
  return {kBits, 0, 0, 0, simt_cuda::Channel<T>::kKind};
}
#define SIMT_CHANNELS_OF(T, name)                                 \
  template <>                                                     \
  inline cudaChannelFormatDesc cudaCreateChannelDesc<name##1>() { \
    return cudaCreateChannelDesc<T>();                            \
  }                                                               \
  template <>                                                     \
  inline cudaChannelFormatDesc cudaCreateChannelDesc<name##2>() { \
    const cudaChannelFormatDesc one = cudaCreateChannelDesc<T>(); \
    return {one.x, one.x, 0, 0, one.f};                           \
  }                                                               \
  template <>                                                     \
  inline cudaChannelFormatDesc cudaCreateChannelDesc<name##4>() { \
    const cudaChannelFormatDesc one = cudaCreateChannelDesc<T>(); \
    return {one.x, one.x, one.x, one.x, one.f};                   \
  }
SIMT_CHANNELS_OF(signed char, char)
SIMT_CHANNELS_OF(unsigned char, uchar)
SIMT_CHANNELS_OF(short, short)
SIMT_CHANNELS_OF(unsigned short, ushort)
SIMT_CHANNELS_OF(int, int)
SIMT_CHANNELS_OF(unsigned, uint)
SIMT_CHANNELS_OF(float, float)
#undef SIMT_CHANNELS_OF

SIMT_WRAPPER cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) {
  return {width, height, depth};
}
SIMT_WRAPPER cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
SIMT_WRAPPER cudaPitchedPtr make_cudaPitchedPtr(void* pointer, size_t pitch, size_t xsize,
                                                size_t ysize) {
  return {pointer, pitch, xsize, ysize};
}

SIMT_WRAPPER cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                                           cudaExtent extent, unsigned = 0) {
  auto* made = new cudaArray{*format, extent, 0, nullptr};
  made->element_bytes = static_cast<size_t>(format->x + format->y + format->z + format->w) / 8;
  made->data = static_cast<char*>(calloc(made->RowBytes() * made->Rows(), made->Layers()));
  *array = made;
  return made->data == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}
SIMT_WRAPPER cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                                         size_t width, size_t height = 0, unsigned flags = 0) {
  return cudaMalloc3DArray(array, format, {width, height, 0}, flags);
}
SIMT_WRAPPER cudaError_t cudaFreeArray(cudaArray_t array) {
  if (array != nullptr) free(array->data);
  delete array;
  return cudaSuccess;
}

// Offsets and widths in bytes, as CUDA has them.
SIMT_WRAPPER cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from,
                                             size_t pitch, size_t width, size_t height,
                                             cudaMemcpyKind kind) {
  if (x + width > to->RowBytes() || y + height > to->Rows()) return cudaErrorInvalidValue;
  const cudaMemcpyKind read = kind == cudaMemcpyHostToDevice     ? cudaMemcpyHostToHost
                              : kind == cudaMemcpyDeviceToDevice ? cudaMemcpyDeviceToHost
                                                                 : kind;
  return cudaMemcpy2D(to->data + y * to->RowBytes() + x, to->RowBytes(), from, pitch, width, height,
                      read);
}
SIMT_WRAPPER cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from,
                                               size_t x, size_t y, size_t width, size_t height,
                                               cudaMemcpyKind kind) {
  if (x + width > from->RowBytes() || y + height > from->Rows()) return cudaErrorInvalidValue;
  const cudaMemcpyKind write = kind == cudaMemcpyDeviceToHost     ? cudaMemcpyHostToHost
                               : kind == cudaMemcpyDeviceToDevice ? cudaMemcpyHostToDevice
                                                                  : kind;
  return cudaMemcpy2D(to, pitch, from->data + y * from->RowBytes() + x, from->RowBytes(), width,
                      height, write);
}
SIMT_WRAPPER cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from,
                                           size_t bytes, cudaMemcpyKind kind) {
  const size_t row = to->RowBytes();
  return x == 0 && bytes % row == 0
             ? cudaMemcpy2DToArray(to, 0, y, from, row, row, bytes / row, kind)
             : cudaMemcpy2DToArray(to, x, y, from, bytes, bytes, 1, kind);
}
SIMT_WRAPPER cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y,
                                             size_t bytes, cudaMemcpyKind kind) {
  const size_t row = from->RowBytes();
  return x == 0 && bytes % row == 0
             ? cudaMemcpy2DFromArray(to, row, from, 0, y, row, bytes / row, kind)
             : cudaMemcpy2DFromArray(to, bytes, from, x, y, bytes, 1, kind);
}

template <typename Place = void>
SIMT_WRAPPER cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  *pointer = {nullptr, 0, extent.width, extent.height};
  return cudaMallocPitch(reinterpret_cast<char**>(&pointer->ptr), &pointer->pitch, extent.width,
                         extent.height * extent.depth);
}
SIMT_WRAPPER cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  cudaError_t error = cudaSuccess;
  for (size_t z = 0; z < extent.depth && error == cudaSuccess; ++z) {
    error = cudaMemset2D(static_cast<char*>(to.ptr) + z * to.ysize * to.pitch, to.pitch, value,
                         extent.width, extent.height);
  }
  return error;
}

struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;  // In elements where one side is an array, else in bytes.
  cudaMemcpyKind kind;
};
SIMT_WRAPPER cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) {
  const cudaArray* array = p->srcArray != nullptr ? p->srcArray : p->dstArray;
  const size_t element = array == nullptr ? 1 : array->element_bytes;
  const size_t width = p->extent.width * element;
  cudaError_t error = cudaSuccess;
  for (size_t z = 0; z < p->extent.depth && error == cudaSuccess; ++z) {
    const auto plane = [z](const cudaPitchedPtr& at, const cudaPos& from, size_t bytes) {
      return static_cast<char*>(at.ptr) + ((z + from.z) * at.ysize + from.y) * at.pitch +
             from.x * bytes;
    };
    const auto layer = [z](const cudaArray* of, const cudaPos& from) {
      cudaArray one = *of;
      one.data += (z + from.z) * of->Rows() * of->RowBytes();
      return one;
    };
    if (p->dstArray != nullptr && p->srcArray == nullptr) {
      cudaArray to = layer(p->dstArray, p->dstPos);
      error = cudaMemcpy2DToArray(&to, p->dstPos.x * element, p->dstPos.y,
                                  plane(p->srcPtr, p->srcPos, element), p->srcPtr.pitch, width,
                                  p->extent.height, p->kind);
    } else if (p->srcArray != nullptr && p->dstArray == nullptr) {
      const cudaArray from = layer(p->srcArray, p->srcPos);
      error = cudaMemcpy2DFromArray(plane(p->dstPtr, p->dstPos, element), p->dstPtr.pitch, &from,
                                    p->srcPos.x * element, p->srcPos.y, width, p->extent.height,
                                    p->kind);
    } else if (p->srcArray == nullptr) {
      error = cudaMemcpy2D(plane(p->dstPtr, p->dstPos, 1), p->dstPtr.pitch,
                           plane(p->srcPtr, p->srcPos, 1), p->srcPtr.pitch, width, p->extent.height,
                           p->kind);
    } else {
      error = cudaErrorNotSupported;
    }
  }
  return error;
}

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_ARRAYS_H_
