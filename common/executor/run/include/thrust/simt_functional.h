// Thrust's functors, tuples, random numbers and execution policies: the last say only where a GPU
// would run.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_THRUST_SIMT_FUNCTIONAL_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_THRUST_SIMT_FUNCTIONAL_H_

#include <functional>
#include <random>
#include <tuple>
#include <utility>

#include "../cuda_runtime.h"

namespace thrust {

using std::bit_and;
using std::bit_or;
using std::bit_xor;
using std::divides;
using std::equal_to;
using std::greater;
using std::greater_equal;
using std::less;
using std::less_equal;
using std::logical_and;
using std::logical_not;
using std::logical_or;
using std::minus;
using std::modulus;
using std::multiplies;
using std::negate;
using std::not_equal_to;
using std::plus;

using std::get;
using std::make_pair;
using std::make_tuple;
using std::pair;
using std::tie;
using std::tuple;

template <typename T = void>
struct identity {
  using argument_type = T;
  using result_type = T;
  T operator()(const T& x) const { return x; }
};
template <>
struct identity<void> {
  template <typename T>
  T operator()(const T& x) const {
    return x;
  }
};
template <typename T = void>
struct square {
  T operator()(const T& x) const { return x * x; }
};
template <typename T = void>
struct maximum {
  T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
template <typename T = void>
struct minimum {
  T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};
template <>
struct maximum<void> {
  template <typename T>
  T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};
template <>
struct minimum<void> {
  template <typename T>
  T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};

// Expressions such as `_1 * 2` are not supported.

using default_random_engine = std::minstd_rand;
using minstd_rand = std::minstd_rand;
using std::normal_distribution;
using std::uniform_int_distribution;
using std::uniform_real_distribution;
namespace random {
using thrust::default_random_engine;
using thrust::minstd_rand;
using thrust::normal_distribution;
using thrust::uniform_int_distribution;
using thrust::uniform_real_distribution;
}  // namespace random

struct SimtPolicy {
  SimtPolicy on(cudaStream_t) const { return {}; }
  template <typename Allocator>
  SimtPolicy operator()(const Allocator&) const {
    return {};
  }
};
constexpr SimtPolicy host{}, device{}, seq{};
namespace cuda {
constexpr SimtPolicy par{}, par_nosync{};
}  // namespace cuda
namespace system {
namespace cuda {
using thrust::cuda::par;
}  // namespace cuda
}  // namespace system

}  // namespace thrust

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_THRUST_SIMT_FUNCTIONAL_H_
