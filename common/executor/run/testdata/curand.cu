// The numbers of curand_kernel.h against those of cuRAND 10.4, of its own header compiled for the
// host: integers and uniform numbers bit by bit, normal ones up to their last digits.
#include <curand_kernel.h>

#include <cmath>
#include <cstdio>

struct Drawn {
  unsigned integers[12];
  float uniform;
  float normals[6];
  double uniform_double;
  double normals_double[4];
};

struct Case {
  bool philox;
  unsigned long long seed, sequence, offset;
  Drawn drawn;
};

const Case kCases[] = {{false,
                        1234,
                        1,
                        0x1122334455,
                        {{65144507, 2051823560, 314035757, 641119883, 1238186889, 1229906737,
                          3025675597, 2451389299, 780195848, 3511518976, 1312725496, 1241619779},
                         0.704846621f,
                         {-0.902706f, 0.634149f, 0.651987f, -0.299109f, 1.51125f, 1.93398f},
                         0.77142326503742553,
                         {-1.10803674525, 0.658328467677, -1.09637611753, -0.191419248545}}},
                       {false,
                        0xfedcba9876543210,
                        0x123456789abc,
                        6,
                        {{1426148675, 993680911, 1456133805, 894420236, 3346274167, 95347679,
                          1050237452, 92215862, 1607046621, 512879984, 167262239, 1731008716},
                         0.473673016f,
                         {-0.756211f, -0.7666f, -0.328999f, -1.27553f, 1.70102f, 1.96894f},
                         0.39292387939908063,
                         {1.42891671379, -1.23289001278, -0.618382187226, -0.656908054009}}},
                       {true,
                        1234,
                        1,
                        0x1122334455,
                        {{2917086780, 3629010136, 1693768090, 3475026553, 2719446665, 147076336,
                          1785234246, 2623796673, 4247517296, 236186625, 3495287162, 2512948127},
                         0.103792332f,
                         {0.34381f, 1.01314f, 0.614697f, 0.461481f, 1.08307f, 1.63729f},
                         0.22139094327576458,
                         {1.71482079549, -0.963115697071, 0.0692119092393, 0.19531244914}}},
                       {true,
                        0xfedcba9876543210,
                        0x123456789abc,
                        1000003,
                        {{3455958256, 2774185075, 1105114356, 3451959989, 740657542, 9772344,
                          775420978, 2001718582, 3644985546, 1077172098, 3042228061, 1359258601},
                         0.0879575014f,
                         {-0.615502f, 0.498778f, -0.604279f, -1.62347f, 1.79059f, 1.74691f},
                         0.51883835764601827,
                         {-0.979354550483, 2.19974404041, 0.742694892241, 0.729085009535}}}};

template <typename State>
__global__ void Draw(unsigned long long seed, unsigned long long sequence,
                     unsigned long long offset, Drawn* out) {
  State state;
  curand_init(seed, sequence, offset, &state);
  for (int i = 0; i < 9; ++i) out->integers[i] = curand(&state);
  skipahead(5 + offset, &state);
  out->integers[9] = curand(&state);
  skipahead_sequence(3 + sequence, &state);
  out->integers[10] = curand(&state);
  out->uniform = curand_uniform(&state);
  out->normals[0] = curand_normal(&state);
  out->normals[1] = curand_normal(&state);
  const float2 pair = curand_normal2(&state);
  out->normals[2] = pair.x;
  out->normals[3] = pair.y;
  out->normals[4] = curand_log_normal(&state, 0.5f, 0.25f);
  out->normals[5] = curand_log_normal(&state, 0.5f, 0.25f);
  out->uniform_double = curand_uniform_double(&state);
  out->normals_double[0] = curand_normal_double(&state);
  out->normals_double[1] = curand_normal_double(&state);
  const double2 doubles = curand_normal2_double(&state);
  out->normals_double[2] = doubles.x;
  out->normals_double[3] = doubles.y;
  out->integers[11] = curand(&state);
}

// Four at once are the next four, wherever the last draw ended.
__global__ void DrawFour(unsigned* out) {
  curandStatePhilox4_32_10_t state, single;
  curand_init(7, 3, 1, &state);
  curand_init(7, 3, 1, &single);
  unsigned differences = 0;
  for (int i = 0; i < 5; ++i) {
    const uint4 four = curand4(&state);
    differences |= four.x ^ curand(&single);
    differences |= four.y ^ curand(&single);
    differences |= four.z ^ curand(&single);
    differences |= four.w ^ curand(&single);
    differences |= curand(&state) ^ curand(&single);
  }
  *out = differences;
}

int Differences(const Drawn& drawn, const Drawn& expected) {
  int differences = drawn.uniform != expected.uniform;
  differences += drawn.uniform_double != expected.uniform_double;
  for (int i = 0; i < 12; ++i) differences += drawn.integers[i] != expected.integers[i];
  for (int i = 0; i < 6; ++i) {
    differences += !(std::fabs(drawn.normals[i] - expected.normals[i]) < 1e-5f);
  }
  for (int i = 0; i < 4; ++i) {
    differences += !(std::fabs(drawn.normals_double[i] - expected.normals_double[i]) < 1e-11);
  }
  return differences;
}

int main() {
  Drawn* drawn;
  unsigned* four;
  cudaMallocManaged(&drawn, sizeof(Drawn));
  cudaMallocManaged(&four, sizeof(unsigned));
  int differences = 0;
  for (const Case& c : kCases) {
    if (c.philox) {
      Draw<curandStatePhilox4_32_10_t><<<1, 1>>>(c.seed, c.sequence, c.offset, drawn);
    } else {
      Draw<curandState><<<1, 1>>>(c.seed, c.sequence, c.offset, drawn);
    }
    cudaDeviceSynchronize();
    differences += Differences(*drawn, c.drawn);
  }
  DrawFour<<<1, 1>>>(four);
  cudaDeviceSynchronize();
  differences += *four != 0;
  std::printf("%d numbers differ from cuRAND's\n", differences);
  return differences != 0;
}
