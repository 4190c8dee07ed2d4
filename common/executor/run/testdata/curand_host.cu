// cuRAND's host API: distributions by their moments, seeds, offsets, and buffers of both sides.
#include <curand.h>

#include <cmath>
#include <cstdio>
#include <vector>

int failures = 0;
void Expect(const char* what, double got, double wanted, double tolerance = 0) {
  if (std::fabs(got - wanted) <= tolerance) return;
  ++failures;
  std::fprintf(stderr, "%s: %g, wanted %g\n", what, got, wanted);
}

constexpr size_t kN = 20000;

template <typename T>
void ExpectMoments(const char* what, const T* numbers, double mean, double deviation) {
  std::vector<T> host(kN);
  cudaMemcpy(host.data(), numbers, kN * sizeof(T), cudaMemcpyDeviceToHost);
  double sum = 0, squares = 0;
  for (const T number : host) {
    sum += number;
    squares += (number - mean) * (number - mean);
  }
  Expect(what, sum / kN, mean, 5 * deviation / std::sqrt(1.0 * kN));
  Expect(what, std::sqrt(squares / kN), deviation, 0.05 * deviation);
}

int main() {
  float* floats;
  unsigned* integers;
  double* doubles;
  cudaMalloc(&floats, kN * sizeof(float));
  cudaMalloc(&integers, kN * sizeof(unsigned));
  cudaMalloc(&doubles, kN * sizeof(double));
  curandGenerator_t generator;
  Expect("created", curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT),
         CURAND_STATUS_SUCCESS);
  curandSetPseudoRandomGeneratorSeed(generator, 7);
  curandGenerateUniform(generator, floats, kN);
  ExpectMoments("uniform", floats, 0.5, std::sqrt(1 / 12.0));
  curandGenerateUniformDouble(generator, doubles, kN);
  ExpectMoments("uniform double", doubles, 0.5, std::sqrt(1 / 12.0));
  curandGenerateNormal(generator, floats, kN, 3, 2);
  ExpectMoments("normal", floats, 3, 2);
  curandGenerateNormalDouble(generator, doubles, kN, -1, 0.5);
  ExpectMoments("normal double", doubles, -1, 0.5);
  curandGeneratePoisson(generator, integers, kN, 9);
  ExpectMoments("Poisson", integers, 9, 3);
  Expect("an odd number of normal ones", curandGenerateNormal(generator, floats, 3, 0, 1),
         CURAND_STATUS_LENGTH_NOT_MULTIPLE);

  unsigned first[8], again[4];
  curandSetPseudoRandomGeneratorSeed(generator, 9);
  curandGenerate(generator, first, 8);
  curandSetPseudoRandomGeneratorSeed(generator, 9);
  curandSetGeneratorOffset(generator, 4);
  curandGenerate(generator, again, 4);
  for (int i = 0; i < 4; ++i) Expect("behind an offset", again[i], first[i + 4]);
  curandSetPseudoRandomGeneratorSeed(generator, 10);
  curandGenerate(generator, again, 4);
  Expect("another seed", again[0] != first[4], 1);
  curandDestroyGenerator(generator);
  return failures;
}
