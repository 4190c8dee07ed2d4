// cuRAND's device functions of its XORWOW and Philox generators. Integers and uniform numbers are
// those of cuRAND; the last bits of normal ones differ, as a GPU has approximate logarithms and
// sines. The states have cuRAND's members, so that what a kernel keeps of them in memory counts the
// same; the tables that curand_init() reads on a GPU are no memory here. Other generators and
// curand_poisson() are not declared, so the compiler names the line that uses them.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CURAND_KERNEL_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CURAND_KERNEL_H_

#include "cuda_runtime.h"

extern "C" void simt_curand_skip(unsigned* v, unsigned long long n);
extern "C" void simt_curand_skip_sequence(unsigned* v, unsigned long long n);

#define CURAND_2POW32_INV (2.3283064e-10f)
#define CURAND_2POW32_INV_DOUBLE (2.3283064365386963e-10)
#define CURAND_2POW53_INV_DOUBLE (1.1102230246251565e-16)

// Numbers that a state keeps: the second of a pair of normal ones.
#define SIMT_CURAND_EXTRA    \
  int boxmuller_flag;        \
  int boxmuller_flag_double; \
  float boxmuller_extra;     \
  double boxmuller_extra_double

struct curandStateXORWOW {
  unsigned d, v[5];
  SIMT_CURAND_EXTRA;
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;

struct curandStatePhilox4_32_10 {
  uint4 ctr;
  uint4 output;
  uint2 key;
  unsigned STATE;
  SIMT_CURAND_EXTRA;
};
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
#undef SIMT_CURAND_EXTRA

// --- XORWOW: Marsaglia, Xorshift RNGs, 2003 ------------------------------------------------------

SIMT_INLINE unsigned curand(curandStateXORWOW_t* state) {
  const unsigned t = state->v[0] ^ state->v[0] >> 2;
  state->v[0] = state->v[1];
  state->v[1] = state->v[2];
  state->v[2] = state->v[3];
  state->v[3] = state->v[4];
  state->v[4] = state->v[4] ^ state->v[4] << 4 ^ t ^ t << 1;
  state->d += 362437;
  return state->v[4] + state->d;
}

// Goes `n` numbers on, or `n` subsequences of 2^67 numbers.
SIMT_INLINE void skipahead(unsigned long long n, curandStateXORWOW_t* state) {
  unsigned v[5];
  for (int i = 0; i < 5; ++i) v[i] = state->v[i];
  simt_curand_skip(v, n);
  for (int i = 0; i < 5; ++i) state->v[i] = v[i];
  state->d += 362437 * static_cast<unsigned>(n);
}
SIMT_INLINE void skipahead_sequence(unsigned long long n, curandStateXORWOW_t* state) {
  unsigned v[5];
  for (int i = 0; i < 5; ++i) v[i] = state->v[i];
  simt_curand_skip_sequence(v, n);
  for (int i = 0; i < 5; ++i) state->v[i] = v[i];
}

SIMT_INLINE void curand_init(unsigned long long seed, unsigned long long subsequence,
                             unsigned long long offset, curandStateXORWOW_t* state) {
  const unsigned t0 = 1099087573u * (static_cast<unsigned>(seed) ^ 0xaad26b49u);
  const unsigned t1 = 2591861531u * (static_cast<unsigned>(seed >> 32) ^ 0xf7dcefddu);
  unsigned v[5] = {123456789u + t0, 362436069u ^ t0, 521288629u + t1, 88675123u ^ t1,
                   5783321u + t0};
  simt_curand_skip_sequence(v, subsequence);
  simt_curand_skip(v, offset);
  for (int i = 0; i < 5; ++i) state->v[i] = v[i];
  state->d = 6615241u + t1 + t0 + 362437u * static_cast<unsigned>(offset);
  state->boxmuller_flag = 0;
  state->boxmuller_flag_double = 0;
  state->boxmuller_extra = 0;
  state->boxmuller_extra_double = 0;
}

// --- Philox4x32-10: Salmon and others, Parallel Random Numbers, 2011 -----------------------------

SIMT_INLINE uint4 curand_Philox4x32_10(uint4 counter, uint2 key) {
  unsigned x = counter.x, y = counter.y, z = counter.z, w = counter.w;
  unsigned key_x = key.x, key_y = key.y;
  for (int round = 0; round < 10; ++round) {
    const unsigned long long first = 0xD2511F53ull * x;
    const unsigned long long second = 0xCD9E8D57ull * z;
    x = static_cast<unsigned>(second >> 32) ^ y ^ key_x;
    y = static_cast<unsigned>(second);
    z = static_cast<unsigned>(first >> 32) ^ w ^ key_y;
    w = static_cast<unsigned>(first);
    key_x += 0x9E3779B9u;
    key_y += 0xBB67AE85u;
  }
  return make_uint4(x, y, z, w);
}

// Adds to the lower or the upper half of the counter of 128 bits.
SIMT_INLINE void Philox_State_Incr(curandStatePhilox4_32_10_t* state, unsigned long long n = 1) {
  const unsigned long long low = static_cast<unsigned long long>(state->ctr.y) << 32 | state->ctr.x;
  const unsigned long long sum = low + n;
  state->ctr.x = static_cast<unsigned>(sum);
  state->ctr.y = static_cast<unsigned>(sum >> 32);
  if (sum < n && ++state->ctr.z == 0) ++state->ctr.w;
}
SIMT_INLINE void Philox_State_Incr_hi(curandStatePhilox4_32_10_t* state, unsigned long long n) {
  const unsigned long long sum =
      (static_cast<unsigned long long>(state->ctr.w) << 32 | state->ctr.z) + n;
  state->ctr.z = static_cast<unsigned>(sum);
  state->ctr.w = static_cast<unsigned>(sum >> 32);
}

SIMT_INLINE void skipahead(unsigned long long n, curandStatePhilox4_32_10_t* state) {
  state->STATE += n & 3;
  n /= 4;
  if (state->STATE > 3) {
    n += 1;
    state->STATE -= 4;
  }
  Philox_State_Incr(state, n);
  state->output = curand_Philox4x32_10(state->ctr, state->key);
}
SIMT_INLINE void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t* state) {
  Philox_State_Incr_hi(state, n);
  state->output = curand_Philox4x32_10(state->ctr, state->key);
}

SIMT_INLINE void curand_init(unsigned long long seed, unsigned long long subsequence,
                             unsigned long long offset, curandStatePhilox4_32_10_t* state) {
  state->ctr = make_uint4(0, 0, 0, 0);
  state->key = make_uint2(static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32));
  state->STATE = 0;
  state->boxmuller_flag = 0;
  state->boxmuller_flag_double = 0;
  state->boxmuller_extra = 0;
  state->boxmuller_extra_double = 0;
  skipahead_sequence(subsequence, state);
  skipahead(offset, state);
}

SIMT_INLINE unsigned curand(curandStatePhilox4_32_10_t* state) {
  const unsigned at = state->STATE++;
  const unsigned number = at == 0   ? state->output.x
                          : at == 1 ? state->output.y
                          : at == 2 ? state->output.z
                                    : state->output.w;
  if (state->STATE == 4) {
    Philox_State_Incr(state);
    state->output = curand_Philox4x32_10(state->ctr, state->key);
    state->STATE = 0;
  }
  return number;
}

SIMT_INLINE uint4 curand4(curandStatePhilox4_32_10_t* state) {
  const uint4 before = state->output;
  Philox_State_Incr(state);
  state->output = curand_Philox4x32_10(state->ctr, state->key);
  const uint4 next = state->output;
  switch (state->STATE) {
    case 0:
      return before;
    case 1:
      return make_uint4(before.y, before.z, before.w, next.x);
    case 2:
      return make_uint4(before.z, before.w, next.x, next.y);
    default:
      return make_uint4(before.w, next.x, next.y, next.z);
  }
}

// --- Distributions -------------------------------------------------------------------------------

// Uniform in (0, 1].
SIMT_INLINE float _curand_uniform(unsigned x) {
  return x * CURAND_2POW32_INV + CURAND_2POW32_INV / 2;
}
SIMT_INLINE double _curand_uniform_double(unsigned x) {
  return x * CURAND_2POW32_INV_DOUBLE + CURAND_2POW32_INV_DOUBLE;
}
SIMT_INLINE double _curand_uniform_double_hq(unsigned x, unsigned y) {
  const unsigned long long z = x ^ static_cast<unsigned long long>(y) << 21;
  return z * CURAND_2POW53_INV_DOUBLE + CURAND_2POW53_INV_DOUBLE / 2;
}

// Two normal numbers of two uniform ones: Box and Muller, 1958.
SIMT_INLINE float2 _curand_box_muller(unsigned x, unsigned y) {
  constexpr float kTwoPi = CURAND_2POW32_INV * 6.2831855f;
  const float v = y * kTwoPi + kTwoPi / 2;
  const float s = sqrtf(-2.0f * logf(_curand_uniform(x)));
  return make_float2(sinf(v) * s, cosf(v) * s);
}
SIMT_INLINE double2 _curand_box_muller_double(unsigned x0, unsigned x1, unsigned y0, unsigned y1) {
  const unsigned long long z = y0 ^ static_cast<unsigned long long>(y1) << 21;
  const double v = z * (2 * CURAND_2POW53_INV_DOUBLE) + CURAND_2POW53_INV_DOUBLE;
  const double s = sqrt(-2.0 * log(_curand_uniform_double_hq(x0, x1)));
  return make_double2(sin(v * M_PI) * s, cos(v * M_PI) * s);
}

SIMT_INLINE double curand_uniform_double(curandStateXORWOW_t* state) {
  const unsigned x = curand(state);
  return _curand_uniform_double_hq(x, curand(state));
}
SIMT_INLINE double curand_uniform_double(curandStatePhilox4_32_10_t* state) {
  return _curand_uniform_double(curand(state));
}

// Two normal numbers as doubles: XORWOW draws four times, Philox draws four at once.
SIMT_INLINE double2 curand_normal2_double(curandStateXORWOW_t* state) {
  const unsigned x0 = curand(state), x1 = curand(state), y0 = curand(state), y1 = curand(state);
  return _curand_box_muller_double(x0, x1, y0, y1);
}
SIMT_INLINE double2 curand_normal2_double(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  return _curand_box_muller_double(x.x, x.y, x.z, x.w);
}

#define SIMT_CURAND_DISTRIBUTIONS(State)                                                    \
  SIMT_INLINE float curand_uniform(State* state) { return _curand_uniform(curand(state)); } \
  SIMT_INLINE float2 curand_normal2(State* state) {                                         \
    const unsigned x = curand(state);                                                       \
    return _curand_box_muller(x, curand(state));                                            \
  }                                                                                         \
  SIMT_INLINE float curand_normal(State* state) {                                           \
    if (state->boxmuller_flag == 1) {                                                       \
      state->boxmuller_flag = 0;                                                            \
      return state->boxmuller_extra;                                                        \
    }                                                                                       \
    const float2 pair = curand_normal2(state);                                              \
    state->boxmuller_extra = pair.y;                                                        \
    state->boxmuller_flag = 1;                                                              \
    return pair.x;                                                                          \
  }                                                                                         \
  SIMT_INLINE double curand_normal_double(State* state) {                                   \
    if (state->boxmuller_flag_double == 1) {                                                \
      state->boxmuller_flag_double = 0;                                                     \
      return state->boxmuller_extra_double;                                                 \
    }                                                                                       \
    const double2 pair = curand_normal2_double(state);                                      \
    state->boxmuller_extra_double = pair.y;                                                 \
    state->boxmuller_flag_double = 1;                                                       \
    return pair.x;                                                                          \
  }                                                                                         \
  SIMT_INLINE float2 curand_log_normal2(State* state, float mean, float deviation) {        \
    const float2 pair = curand_normal2(state);                                              \
    return make_float2(expf(mean + deviation * pair.x), expf(mean + deviation * pair.y));   \
  }                                                                                         \
  SIMT_INLINE float curand_log_normal(State* state, float mean, float deviation) {          \
    if (state->boxmuller_flag == 2) {                                                       \
      state->boxmuller_flag = 0;                                                            \
      return state->boxmuller_extra;                                                        \
    }                                                                                       \
    const float2 pair = curand_log_normal2(state, mean, deviation);                         \
    state->boxmuller_extra = pair.y;                                                        \
    state->boxmuller_flag = 2;                                                              \
    return pair.x;                                                                          \
  }
SIMT_CURAND_DISTRIBUTIONS(curandStateXORWOW_t)
SIMT_CURAND_DISTRIBUTIONS(curandStatePhilox4_32_10_t)
#undef SIMT_CURAND_DISTRIBUTIONS

SIMT_INLINE float4 curand_uniform4(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  return make_float4(_curand_uniform(x.x), _curand_uniform(x.y), _curand_uniform(x.z),
                     _curand_uniform(x.w));
}
SIMT_INLINE double2 curand_uniform2_double(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  return make_double2(_curand_uniform_double_hq(x.x, x.y), _curand_uniform_double_hq(x.z, x.w));
}
SIMT_INLINE float4 curand_normal4(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  const float2 first = _curand_box_muller(x.x, x.y);
  const float2 second = _curand_box_muller(x.z, x.w);
  return make_float4(first.x, first.y, second.x, second.y);
}

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CURAND_KERNEL_H_
