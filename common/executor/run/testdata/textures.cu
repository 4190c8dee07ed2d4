// Textures and surfaces: what a fetch gives for each way to filter and to treat addresses, beside
// values that follow from the CUDA programming guide's formulas.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                        \
  if (const cudaError_t error = (call)) {                                  \
    std::fprintf(stderr, "%d: %s\n", __LINE__, cudaGetErrorString(error)); \
    std::exit(1);                                                          \
  }

__global__ void Fetch2D(cudaTextureObject_t t, float x, float y, float* out) {
  *out = tex2D<float>(t, x, y);
}
__global__ void Fetch3D(cudaTextureObject_t t, float x, float y, float z, float* out) {
  *out = tex3D<float>(t, x, y, z);
}
__global__ void FetchLinear(cudaTextureObject_t t, int first, int* out, int n) {
  if (threadIdx.x < n) out[threadIdx.x] = tex1Dfetch<int>(t, first + static_cast<int>(threadIdx.x));
}
__global__ void FetchBytes(cudaTextureObject_t t, float4* out) {
  *out = tex2D<float4>(t, 1.5f, 0.5f);
}
__global__ void DoubleSurface(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width) {
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(blockIdx.x);
  if (x >= width) return;
  float2 v;
  surf2Dread(&v, from, x * static_cast<int>(sizeof(float2)), y);
  surf2Dwrite(make_float2(2 * v.x, 2 * v.y), to, x * static_cast<int>(sizeof(float2)), y);
}

constexpr int kWidth = 5, kHeight = 3, kDepth = 2;
float Value(int x, int y) { return static_cast<float>(x + 10 * y); }

struct Case {
  const char* name;
  cudaTextureAddressMode mode;
  cudaTextureFilterMode filter;
  int normalized;
  float x, y, wanted;
};
// Column x, row y holds x + 10 y.
const Case kCases[] = {
    {"a point", cudaAddressModeClamp, cudaFilterModePoint, 0, 2.9f, 1.1f, 12},
    {"clamped on both sides", cudaAddressModeClamp, cudaFilterModePoint, 0, -3.f, 7.f, 20},
    {"the border", cudaAddressModeBorder, cudaFilterModePoint, 0, 5.f, 1.f, 0.5f},
    {"normalized", cudaAddressModeClamp, cudaFilterModePoint, 1, 0.5f, 0.5f, 12},
    {"wrapped", cudaAddressModeWrap, cudaFilterModePoint, 1, 1.5f, -0.5f, 12},
    {"mirrored", cudaAddressModeMirror, cudaFilterModePoint, 1, 1.1f, 0.5f, 14},
    {"between columns", cudaAddressModeClamp, cudaFilterModeLinear, 0, 2.f, 0.5f, 1.5f},
    {"between rows", cudaAddressModeClamp, cudaFilterModeLinear, 0, 0.5f, 1.25f, 7.5f},
    {"a weight of 8 bits", cudaAddressModeClamp, cudaFilterModeLinear, 0, 1.502f, 0.5f,
     1 + 1 / 256.f},
    {"half of the border", cudaAddressModeBorder, cudaFilterModeLinear, 0, 5.f, 0.5f, 2.25f},
};

int failures = 0;
void Expect(const char* what, double got, double wanted) {
  if (std::fabs(got - wanted) < 1e-6) return;
  ++failures;
  std::fprintf(stderr, "%s: %g, wanted %g\n", what, got, wanted);
}

cudaTextureObject_t Texture(const cudaResourceDesc& from, cudaTextureDesc how = {}) {
  how.borderColor[0] = 0.5f;
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &from, &how, nullptr));
  return texture;
}

cudaResourceDesc OfArray(cudaArray_t array) {
  cudaResourceDesc from = {};
  from.resType = cudaResourceTypeArray;
  from.res.array.array = array;
  return from;
}

void TestArrays(float* out) {
  std::vector<float> host;
  for (int i = 0; i < kWidth * kHeight * kDepth; ++i) {
    host.push_back(Value(i % kWidth, i / kWidth % kHeight) + 100.f * (i / kWidth / kHeight));
  }
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t plane, volume;
  CHECK(cudaMallocArray(&plane, &format, kWidth, kHeight));
  CHECK(cudaMemcpy2DToArray(plane, 0, 0, host.data(), kWidth * 4, kWidth * 4, kHeight,
                            cudaMemcpyHostToDevice));
  for (const Case& c : kCases) {
    cudaTextureDesc how = {};
    for (auto& mode : how.addressMode) mode = c.mode;
    how.filterMode = c.filter;
    how.normalizedCoords = c.normalized;
    const cudaTextureObject_t texture = Texture(OfArray(plane), how);
    Fetch2D<<<1, 1>>>(texture, c.x, c.y, out);
    CHECK(cudaDeviceSynchronize());
    Expect(c.name, *out, c.wanted);
    CHECK(cudaDestroyTextureObject(texture));
  }
  CHECK(cudaMalloc3DArray(&volume, &format, make_cudaExtent(kWidth, kHeight, kDepth)));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(host.data(), kWidth * 4, kWidth, kHeight);
  copy.dstArray = volume;
  copy.extent = make_cudaExtent(kWidth, kHeight, kDepth);
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  Fetch3D<<<1, 1>>>(Texture(OfArray(volume)), 3.5f, 2.5f, 1.5f, out);
  CHECK(cudaDeviceSynchronize());
  Expect("of a volume", *out, 123);
  CHECK(cudaFreeArray(plane));
  CHECK(cudaFreeArray(volume));
}

void TestLinear() {
  constexpr int kValues = 40;
  int *values, *out;
  CHECK(cudaMallocManaged(&values, kValues * sizeof(int)));
  CHECK(cudaMallocManaged(&out, kValues * sizeof(int)));
  for (int i = 0; i < kValues; ++i) values[i] = (1 << 30) + i;  // More bits than a float has.
  cudaResourceDesc from = {};
  from.resType = cudaResourceTypeLinear;
  from.res.linear.devPtr = values;
  from.res.linear.desc = cudaCreateChannelDesc<int>();
  from.res.linear.sizeInBytes = kValues * sizeof(int);
  FetchLinear<<<1, 64>>>(Texture(from), 1, out, kValues);
  CHECK(cudaDeviceSynchronize());
  Expect("the first of linear memory", out[0], (1 << 30) + 1);
  Expect("behind linear memory", out[kValues - 1], 0);
}

void TestPitched(float4* out) {
  uchar4* pixels;
  size_t pitch;
  CHECK(cudaMallocPitch(&pixels, &pitch, 3 * sizeof(uchar4), 2));
  const uchar4 host[3] = {{0, 0, 0, 0}, {255, 51, 0, 102}, {1, 1, 1, 1}};
  CHECK(cudaMemcpy2D(pixels, pitch, host, sizeof(host), sizeof(host), 1, cudaMemcpyHostToDevice));
  cudaResourceDesc from = {};
  from.resType = cudaResourceTypePitch2D;
  from.res.pitch2D.devPtr = pixels;
  from.res.pitch2D.desc = cudaCreateChannelDesc<uchar4>();
  from.res.pitch2D.width = 3;
  from.res.pitch2D.height = 2;
  from.res.pitch2D.pitchInBytes = pitch;
  cudaTextureDesc how = {};
  how.readMode = cudaReadModeNormalizedFloat;
  FetchBytes<<<1, 1>>>(Texture(from, how), out);
  CHECK(cudaDeviceSynchronize());
  Expect("a scaled byte, x", out->x, 1);
  Expect("a scaled byte, y", out->y, 0.2f);
  Expect("a scaled byte, w", out->w, 0.4f);
}

void TestSurfaces() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
  cudaArray_t arrays[2];
  cudaSurfaceObject_t surfaces[2];
  for (int i = 0; i < 2; ++i) {
    CHECK(cudaMallocArray(&arrays[i], &format, kWidth, kHeight, cudaArraySurfaceLoadStore));
    const cudaResourceDesc from = OfArray(arrays[i]);
    CHECK(cudaCreateSurfaceObject(&surfaces[i], &from));
  }
  std::vector<float2> host(kWidth * kHeight, make_float2(1, 2));
  host[7] = make_float2(3, -4);
  const size_t row = kWidth * sizeof(float2);
  CHECK(
      cudaMemcpy2DToArray(arrays[0], 0, 0, host.data(), row, row, kHeight, cudaMemcpyHostToDevice));
  DoubleSurface<<<kHeight, 32>>>(surfaces[0], surfaces[1], kWidth);
  CHECK(cudaMemcpy2DFromArray(host.data(), row, arrays[1], 0, 0, row, kHeight,
                              cudaMemcpyDeviceToHost));
  Expect("a surface, x", host[7].x, 6);
  Expect("a surface, y", host[7].y, -8);
  Expect("a surface's end", host[14].y, 4);
}

int main() {
  float4* out;
  CHECK(cudaMallocManaged(&out, sizeof(*out)));
  TestArrays(&out->x);
  TestLinear();
  TestPitched(out);
  TestSurfaces();
  return failures;
}
