// The part of cuRAND's host API that programs fill buffers with: other numbers than cuRAND's, of
// the same distributions, by XORWOW on the host. Quasirandom generators are not supported.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CURAND_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CURAND_H_

#include <math.h>

#include <random>
#include <vector>

#include "curand_kernel.h"

enum curandStatus_t {
  CURAND_STATUS_SUCCESS = 0,
  CURAND_STATUS_NOT_INITIALIZED = 101,
  CURAND_STATUS_ALLOCATION_FAILED = 102,
  CURAND_STATUS_TYPE_ERROR = 103,
  CURAND_STATUS_OUT_OF_RANGE = 104,
  CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
  CURAND_STATUS_LAUNCH_FAILURE = 201,
  CURAND_STATUS_PREEXISTING_FAILURE = 202,
  CURAND_STATUS_INITIALIZATION_FAILED = 203,
  CURAND_STATUS_ARCH_MISMATCH = 204,
  CURAND_STATUS_INTERNAL_ERROR = 999,
};
typedef enum curandStatus_t curandStatus;
enum curandRngType_t {
  CURAND_RNG_PSEUDO_DEFAULT = 100,
  CURAND_RNG_PSEUDO_XORWOW = 101,
  CURAND_RNG_PSEUDO_MRG32K3A = 121,
  CURAND_RNG_PSEUDO_MTGP32 = 141,
  CURAND_RNG_PSEUDO_MT19937 = 142,
  CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
};
typedef enum curandRngType_t curandRngType;
enum curandOrdering_t {
  CURAND_ORDERING_PSEUDO_BEST = 100,
  CURAND_ORDERING_PSEUDO_DEFAULT = 101,
  CURAND_ORDERING_PSEUDO_SEEDED = 102,
};

struct curandGenerator_st {
  curandStateXORWOW_t state;
  unsigned long long seed, offset;
};
typedef struct curandGenerator_st* curandGenerator_t;

#define SIMT_CURAND static inline __attribute__((unused, no_sanitize("coverage"))) curandStatus_t

SIMT_CURAND SimtCurandRestart(curandGenerator_t generator) {
  curand_init(generator->seed, 0, generator->offset, &generator->state);
  return CURAND_STATUS_SUCCESS;
}
SIMT_CURAND curandCreateGenerator(curandGenerator_t* generator, curandRngType_t) {
  *generator = new curandGenerator_st();
  return SimtCurandRestart(*generator);
}
SIMT_CURAND curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t type) {
  return curandCreateGenerator(generator, type);
}
SIMT_CURAND curandDestroyGenerator(curandGenerator_t generator) {
  delete generator;
  return CURAND_STATUS_SUCCESS;
}
SIMT_CURAND curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                               unsigned long long seed) {
  generator->seed = seed;
  return SimtCurandRestart(generator);
}
SIMT_CURAND curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  generator->offset = offset;
  return SimtCurandRestart(generator);
}
SIMT_CURAND curandSetGeneratorOrdering(curandGenerator_t, curandOrdering_t) {
  return CURAND_STATUS_SUCCESS;
}
SIMT_CURAND curandSetStream(curandGenerator_t, cudaStream_t) { return CURAND_STATUS_SUCCESS; }
SIMT_CURAND curandGenerateSeeds(curandGenerator_t) { return CURAND_STATUS_SUCCESS; }
SIMT_CURAND curandGetVersion(int* version) {
  *version = 100400;
  return CURAND_STATUS_SUCCESS;
}

// Of the device or of the host.
template <typename T, typename Draw>
SIMT_CURAND SimtCurandFill(T* to, size_t n, const Draw& draw) {
  std::vector<T> numbers(n);
  for (T& number : numbers) number = draw();
  const cudaError_t error = cudaMemcpy(to, numbers.data(), n * sizeof(T), cudaMemcpyDefault);
  return error == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
}
SIMT_CURAND curandGenerate(curandGenerator_t g, unsigned* to, size_t n) {
  return SimtCurandFill(to, n, [g] { return curand(&g->state); });
}
SIMT_CURAND curandGenerateUniform(curandGenerator_t g, float* to, size_t n) {
  return SimtCurandFill(to, n, [g] { return curand_uniform(&g->state); });
}
SIMT_CURAND curandGenerateUniformDouble(curandGenerator_t g, double* to, size_t n) {
  return SimtCurandFill(to, n, [g] { return curand_uniform_double(&g->state); });
}
// As cuRAND has it, normal numbers come in pairs.
SIMT_CURAND curandGenerateNormal(curandGenerator_t g, float* to, size_t n, float mean,
                                 float deviation) {
  if (n % 2 != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return SimtCurandFill(to, n, [=] { return mean + deviation * curand_normal(&g->state); });
}
SIMT_CURAND curandGenerateNormalDouble(curandGenerator_t g, double* to, size_t n, double mean,
                                       double deviation) {
  if (n % 2 != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return SimtCurandFill(to, n, [=] { return mean + deviation * curand_normal_double(&g->state); });
}
SIMT_CURAND curandGenerateLogNormal(curandGenerator_t g, float* to, size_t n, float mean,
                                    float deviation) {
  if (n % 2 != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return SimtCurandFill(to, n, [=] { return curand_log_normal(&g->state, mean, deviation); });
}
SIMT_CURAND curandGeneratePoisson(curandGenerator_t g, unsigned* to, size_t n, double mean) {
  std::minstd_rand bits(curand(&g->state));
  std::poisson_distribution<unsigned> poisson(mean);
  return SimtCurandFill(to, n, [&] { return poisson(bits); });
}

#undef SIMT_CURAND

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CURAND_H_
