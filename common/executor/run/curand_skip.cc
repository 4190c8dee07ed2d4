// Jumps of the XORWOW generator for curand_kernel.h. A step is linear in the 160 bits of the
// generator's state, so n steps are a power of one matrix over the field of two elements. Its
// powers of two are computed when they are first needed, which takes a few milliseconds; cuRAND has
// them as tables in global memory.

#include <stddef.h>

#include <array>
#include <cstdint>
#include <vector>

namespace {

constexpr int kWords = 5;
constexpr int kBits = 32 * kWords;
constexpr int kSequenceLog2 = 67;  // Of the steps from one subsequence to the next.

using State = std::array<uint32_t, kWords>;
using Matrix = std::array<State, kBits>;  // Column i is the image of bit i.

State Step(const State& v) {
  const uint32_t t = v[0] ^ v[0] >> 2;
  return {v[1], v[2], v[3], v[4], v[4] ^ v[4] << 4 ^ t ^ t << 1};
}

State Times(const Matrix& matrix, const State& v) {
  State result = {};
  for (int i = 0; i < kBits; ++i) {
    if ((v[i / 32] >> i % 32 & 1) == 0) continue;
    for (int word = 0; word < kWords; ++word) result[word] ^= matrix[i][word];
  }
  return result;
}

// Element k makes 2^k steps.
std::vector<Matrix> PowersOfTwo() {
  std::vector<Matrix> powers(kSequenceLog2 + 64);
  for (int i = 0; i < kBits; ++i) {
    State bit = {};
    bit[i / 32] = 1u << i % 32;
    powers[0][i] = Step(bit);
  }
  for (size_t k = 1; k < powers.size(); ++k) {
    for (int i = 0; i < kBits; ++i) powers[k][i] = Times(powers[k - 1], powers[k - 1][i]);
  }
  return powers;
}

void Skip(uint32_t* v, unsigned long long n, int log2_steps) {
  static const auto* const kPowers = new std::vector<Matrix>(PowersOfTwo());
  State state;
  for (int i = 0; i < kWords; ++i) state[i] = v[i];
  for (int k = 0; k < 64; ++k) {
    if ((n >> k & 1) != 0) state = Times((*kPowers)[static_cast<size_t>(k + log2_steps)], state);
  }
  for (int i = 0; i < kWords; ++i) v[i] = state[i];
}

}  // namespace

extern "C" {

// Make n steps, or go n subsequences on.
void simt_curand_skip(uint32_t* v, unsigned long long n) { Skip(v, n, 0); }
void simt_curand_skip_sequence(uint32_t* v, unsigned long long n) { Skip(v, n, kSequenceLog2); }

}  // extern "C"
