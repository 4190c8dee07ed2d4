// Textures and surfaces by objects, of CUDA arrays, linear and pitched memory: points and linear
// filtering with the 8 fractional bits of the hardware's weights, and its ways to treat addresses
// outside. Fetches are neither checked nor counted: no counter of global memory has them on a GPU.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_TEXTURES_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_TEXTURES_H_

#include <math.h>

#include "simt_arrays.h"

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;

enum cudaResourceType {
  cudaResourceTypeArray,
  cudaResourceTypeMipmappedArray,
  cudaResourceTypeLinear,
  cudaResourceTypePitch2D,
};
enum cudaTextureAddressMode {
  cudaAddressModeWrap,
  cudaAddressModeClamp,
  cudaAddressModeMirror,
  cudaAddressModeBorder,
};
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaSurfaceBoundaryMode {
  cudaBoundaryModeZero,
  cudaBoundaryModeClamp,
  cudaBoundaryModeTrap,
};
struct cudaResourceDesc {
  enum cudaResourceType resType;
  union {
    struct {
      cudaArray_t array;
    } array;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      size_t width, height, pitchInBytes;
    } pitch2D;
  } res;
};
struct cudaTextureDesc {
  enum cudaTextureAddressMode addressMode[3];
  enum cudaTextureFilterMode filterMode;
  enum cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  enum cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization;
};
struct cudaResourceViewDesc {};

namespace simt_cuda {

// What a texture or a surface reads: up to three dimensions of elements.
struct Texture {
  cudaTextureDesc how;
  cudaChannelFormatDesc format;
  char* data;
  int size[3];
  size_t pitch, layer, element;

  int Members() const { return 1 + (format.y != 0) + (format.z != 0) + (format.w != 0); }
};

template <typename Object>
SIMT_WRAPPER cudaError_t MakeTexture(Object* object, const cudaResourceDesc& from,
                                     const cudaTextureDesc& how) {
  auto* made = new Texture{how, {}, nullptr, {1, 1, 1}, 0, 0, 0};
  if (from.resType == cudaResourceTypeArray) {
    const cudaArray& array = *from.res.array.array;
    made->format = array.format;
    made->data = array.data;
    made->size[0] = static_cast<int>(array.extent.width);
    made->size[1] = static_cast<int>(array.Rows());
    made->size[2] = static_cast<int>(array.Layers());
    made->pitch = array.RowBytes();
  } else if (from.resType == cudaResourceTypeLinear) {
    made->format = from.res.linear.desc;
    made->data = static_cast<char*>(from.res.linear.devPtr);
  } else if (from.resType == cudaResourceTypePitch2D) {
    made->format = from.res.pitch2D.desc;
    made->data = static_cast<char*>(from.res.pitch2D.devPtr);
    made->size[0] = static_cast<int>(from.res.pitch2D.width);
    made->size[1] = static_cast<int>(from.res.pitch2D.height);
    made->pitch = from.res.pitch2D.pitchInBytes;
  } else {
    delete made;
    return cudaErrorNotSupported;
  }
  const cudaChannelFormatDesc& f = made->format;
  made->element = static_cast<size_t>(f.x + f.y + f.z + f.w) / 8;
  if (from.resType == cudaResourceTypeLinear) {
    made->size[0] = static_cast<int>(from.res.linear.sizeInBytes / made->element);
  }
  made->layer = made->pitch * static_cast<size_t>(made->size[1]);
  *object = reinterpret_cast<Object>(made);
  return cudaSuccess;
}

// The member `m` of an element as a number, or scaled to [0, 1] or [-1, 1].
SIMT_WRAPPER double Member(const Texture& t, const char* element, int m) {
  const bool scaled = t.how.readMode == cudaReadModeNormalizedFloat;
  const char* at = element + m * (t.format.x / 8);
  if (t.format.f == cudaChannelFormatKindFloat) return *reinterpret_cast<const float*>(at);
  if (t.format.f == cudaChannelFormatKindUnsigned) {
    if (t.format.x == 8) return *reinterpret_cast<const uint8_t*>(at) / (scaled ? 255.0 : 1.0);
    if (t.format.x == 16) return *reinterpret_cast<const uint16_t*>(at) / (scaled ? 65535.0 : 1.0);
    return *reinterpret_cast<const uint32_t*>(at);
  }
  const double value = t.format.x == 8    ? *reinterpret_cast<const int8_t*>(at)
                       : t.format.x == 16 ? *reinterpret_cast<const int16_t*>(at)
                                          : *reinterpret_cast<const int32_t*>(at);
  return scaled ? fmax(-1.0, value / (t.format.x == 8 ? 127.0 : 32767.0)) : value;
}

// Where an index outside leads; -1 is the border.
SIMT_WRAPPER int Inside(int index, int size, cudaTextureAddressMode mode, bool normalized) {
  if (index >= 0 && index < size) return index;
  if (mode == cudaAddressModeBorder) return -1;
  if (mode == cudaAddressModeWrap && normalized) return (index % size + size) % size;
  if (mode == cudaAddressModeMirror && normalized) {
    const int there = (index % (2 * size) + 2 * size) % (2 * size);
    return there < size ? there : 2 * size - 1 - there;
  }
  return index < 0 ? 0 : size - 1;
}

SIMT_WRAPPER double Texel(const Texture& t, const int* index, int m) {
  size_t offset = 0;
  const size_t step[3] = {t.element, t.pitch, t.layer};
  for (int d = 0; d < 3; ++d) {
    const int at = Inside(index[d], t.size[d], t.how.addressMode[d], t.how.normalizedCoords != 0);
    if (at < 0) return t.how.borderColor[m];
    offset += static_cast<size_t>(at) * step[d];
  }
  return Member(t, t.data + offset, m);
}

// Of an element, as numbers that hold all of its bits.
struct Members {
  double x, y, z, w;
};

// All members of the texture at a place; coordinates in units of elements, or of the whole.
__attribute__((noinline, pure, unused, no_sanitize("coverage"))) static Members Fetch(
    unsigned long long object, int dims, float x, float y, float z) {
  const Texture& t = *reinterpret_cast<const Texture*>(object);
  const float place[3] = {x, y, z};
  const bool linear = t.how.filterMode == cudaFilterModeLinear;
  int base[3] = {0, 0, 0};
  double weight[3] = {0, 0, 0};
  for (int d = 0; d < dims; ++d) {
    const float scaled =
        t.how.normalizedCoords != 0 ? place[d] * static_cast<float>(t.size[d]) : place[d];
    const double at = linear ? static_cast<double>(scaled) - 0.5 : scaled;
    base[d] = static_cast<int>(floor(at));
    if (linear) weight[d] = rint((at - floor(at)) * 256) / 256;
  }
  double members[4] = {0, 0, 0, 0};
  for (int m = 0; m < t.Members(); ++m) {
    double sum = 0;
    for (int corner = 0; corner < (linear ? 1 << dims : 1); ++corner) {
      double part = 1;
      int index[3];
      for (int d = 0; d < 3; ++d) {
        const int next = corner >> d & 1;
        index[d] = base[d] + next;
        if (linear && d < dims) part *= next != 0 ? weight[d] : 1 - weight[d];
      }
      if (part != 0) sum += part * Texel(t, index, m);
    }
    members[m] = sum;
  }
  return {members[0], members[1], members[2], members[3]};
}

// An element of linear memory: zeros outside.
__attribute__((noinline, pure, unused, no_sanitize("coverage"))) static Members Fetch(
    unsigned long long object, int x) {
  const Texture& t = *reinterpret_cast<const Texture*>(object);
  double members[4] = {0, 0, 0, 0};
  if (x >= 0 && x < t.size[0]) {
    const char* element = t.data + static_cast<size_t>(x) * t.element;
    for (int m = 0; m < t.Members(); ++m) members[m] = Member(t, element, m);
  }
  return {members[0], members[1], members[2], members[3]};
}

// The address in a surface, whose `x` counts bytes, or null outside.
__attribute__((noinline, pure, unused, no_sanitize("coverage"))) static char* Element(
    unsigned long long object, int x, int y, int z) {
  const Texture& t = *reinterpret_cast<const Texture*>(object);
  if (x < 0 || y < 0 || z < 0 || y >= t.size[1] || z >= t.size[2]) return nullptr;
  const auto at = static_cast<size_t>(x);
  if (at >= static_cast<size_t>(t.size[0]) * t.element) return nullptr;
  return t.data + static_cast<size_t>(z) * t.layer + static_cast<size_t>(y) * t.pitch + at;
}

template <typename T>
__attribute__((noinline, pure, no_sanitize("coverage"))) T Load(const char* from) {
  T value = T();
  if (from != nullptr) __builtin_memcpy(&value, from, sizeof(T));
  return value;
}
template <typename T>
__attribute__((noinline, no_sanitize("coverage"))) void Store(char* to, T value) {
  if (to != nullptr) __builtin_memcpy(to, &value, sizeof(T));
}

// What the program asks for.
template <typename T>
struct As {
  static SIMT_INLINE T Of(const Members& v) { return static_cast<T>(v.x); }
};
#define SIMT_TEXTURE_VECTORS(T, name)                                                              \
  template <>                                                                                      \
  struct As<name##1> {                                                                             \
    static SIMT_INLINE name##1 Of(const Members& v) { return {static_cast<T>(v.x)}; }              \
  };                                                                                               \
  template <>                                                                                      \
  struct As<name##2> {                                                                             \
    static SIMT_INLINE name##2 Of(const Members& v) {                                              \
      return {static_cast<T>(v.x), static_cast<T>(v.y)};                                           \
    }                                                                                              \
  };                                                                                               \
  template <>                                                                                      \
  struct As<name##4> {                                                                             \
    static SIMT_INLINE name##4 Of(const Members& v) {                                              \
      return {static_cast<T>(v.x), static_cast<T>(v.y), static_cast<T>(v.z), static_cast<T>(v.w)}; \
    }                                                                                              \
  };
SIMT_TEXTURE_VECTORS(signed char, char)
SIMT_TEXTURE_VECTORS(unsigned char, uchar)
SIMT_TEXTURE_VECTORS(short, short)
SIMT_TEXTURE_VECTORS(unsigned short, ushort)
SIMT_TEXTURE_VECTORS(int, int)
SIMT_TEXTURE_VECTORS(unsigned, uint)
SIMT_TEXTURE_VECTORS(float, float)
#undef SIMT_TEXTURE_VECTORS

}  // namespace simt_cuda

SIMT_WRAPPER cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture,
                                                 const cudaResourceDesc* from,
                                                 const cudaTextureDesc* how,
                                                 const cudaResourceViewDesc* = nullptr) {
  return simt_cuda::MakeTexture(texture, *from, *how);
}
SIMT_WRAPPER cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  delete reinterpret_cast<simt_cuda::Texture*>(texture);
  return cudaSuccess;
}
SIMT_WRAPPER cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface,
                                                 const cudaResourceDesc* from) {
  return simt_cuda::MakeTexture(surface, *from, cudaTextureDesc());
}
SIMT_WRAPPER cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
  return cudaDestroyTextureObject(surface);
}

template <typename T>
SIMT_INLINE T tex1Dfetch(cudaTextureObject_t t, int x) {
  return simt_cuda::As<T>::Of(simt_cuda::Fetch(t, x));
}
template <typename T>
SIMT_INLINE T tex1D(cudaTextureObject_t t, float x) {
  return simt_cuda::As<T>::Of(simt_cuda::Fetch(t, 1, x, 0, 0));
}
template <typename T>
SIMT_INLINE T tex2D(cudaTextureObject_t t, float x, float y) {
  return simt_cuda::As<T>::Of(simt_cuda::Fetch(t, 2, x, y, 0));
}
template <typename T>
SIMT_INLINE T tex3D(cudaTextureObject_t t, float x, float y, float z) {
  return simt_cuda::As<T>::Of(simt_cuda::Fetch(t, 3, x, y, z));
}

// `x` of surfaces counts bytes.
template <typename T>
SIMT_INLINE T surf1Dread(cudaSurfaceObject_t s, int x,
                         cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {
  return simt_cuda::Load<T>(simt_cuda::Element(s, x, 0, 0));
}
template <typename T>
SIMT_INLINE T surf2Dread(cudaSurfaceObject_t s, int x, int y,
                         cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {
  return simt_cuda::Load<T>(simt_cuda::Element(s, x, y, 0));
}
template <typename T>
SIMT_INLINE void surf2Dread(T* to, cudaSurfaceObject_t s, int x, int y,
                            cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {
  *to = surf2Dread<T>(s, x, y);
}
template <typename T>
SIMT_INLINE T surf3Dread(cudaSurfaceObject_t s, int x, int y, int z,
                         cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {
  return simt_cuda::Load<T>(simt_cuda::Element(s, x, y, z));
}
template <typename T>
SIMT_INLINE void surf1Dwrite(T value, cudaSurfaceObject_t s, int x,
                             cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {
  simt_cuda::Store<T>(simt_cuda::Element(s, x, 0, 0), value);
}
template <typename T>
SIMT_INLINE void surf2Dwrite(T value, cudaSurfaceObject_t s, int x, int y,
                             cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {
  simt_cuda::Store<T>(simt_cuda::Element(s, x, y, 0), value);
}
template <typename T>
SIMT_INLINE void surf3Dwrite(T value, cudaSurfaceObject_t s, int x, int y, int z,
                             cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {
  simt_cuda::Store<T>(simt_cuda::Element(s, x, y, z), value);
}

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_TEXTURES_H_
