// Thrust's algorithms, by loops of the host that are neither checked nor counted: their kernels are
// those of a library and not the program's.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_THRUST_SIMT_ALGORITHMS_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_THRUST_SIMT_ALGORITHMS_H_

#include <algorithm>
#include <numeric>
#include <vector>

#include "simt_functional.h"
#include "simt_iterators.h"
#include "simt_vectors.h"

namespace thrust {

template <typename Iterator>
using SimtValue = typename std::iterator_traits<Iterator>::value_type;

// The same with an execution policy before the other arguments.
#define SIMT_WITH_POLICY(name)                                  \
  template <typename... Arguments>                              \
  auto name(const SimtPolicy&, Arguments&&... arguments) {      \
    return thrust::name(std::forward<Arguments>(arguments)...); \
  }
// An algorithm of the standard library with the same arguments.
#define SIMT_AS_STANDARD(name)                                       \
  template <typename Iterator, typename... Arguments>                \
  auto name(Iterator first, Iterator last, Arguments... arguments) { \
    return std::name(first, last, arguments...);                     \
  }                                                                  \
  SIMT_WITH_POLICY(name)

SIMT_AS_STANDARD(adjacent_difference)
SIMT_AS_STANDARD(all_of)
SIMT_AS_STANDARD(any_of)
SIMT_AS_STANDARD(copy)
SIMT_AS_STANDARD(copy_if)
SIMT_AS_STANDARD(count)
SIMT_AS_STANDARD(count_if)
SIMT_AS_STANDARD(equal)
SIMT_AS_STANDARD(fill)
SIMT_AS_STANDARD(find)
SIMT_AS_STANDARD(find_if)
SIMT_AS_STANDARD(for_each)
SIMT_AS_STANDARD(generate)
SIMT_AS_STANDARD(inner_product)
SIMT_AS_STANDARD(is_sorted)
SIMT_AS_STANDARD(max_element)
SIMT_AS_STANDARD(merge)
SIMT_AS_STANDARD(min_element)
SIMT_AS_STANDARD(minmax_element)
SIMT_AS_STANDARD(none_of)
SIMT_AS_STANDARD(partition)
SIMT_AS_STANDARD(remove)
SIMT_AS_STANDARD(remove_if)
SIMT_AS_STANDARD(replace)
SIMT_AS_STANDARD(replace_if)
SIMT_AS_STANDARD(reverse)
SIMT_AS_STANDARD(sort)
SIMT_AS_STANDARD(stable_sort)
SIMT_AS_STANDARD(transform)
SIMT_AS_STANDARD(unique)
SIMT_AS_STANDARD(swap_ranges)

template <typename From, typename To>
To copy_n(From first, size_t n, To to) {
  return std::copy_n(first, n, to);
}
SIMT_WITH_POLICY(copy_n)
template <typename Iterator, typename T>
Iterator fill_n(Iterator first, size_t n, const T& value) {
  return std::fill_n(first, n, value);
}
SIMT_WITH_POLICY(fill_n)
template <typename Iterator, typename Function>
Iterator for_each_n(Iterator first, size_t n, Function function) {
  for (; n > 0; --n, ++first) function(*first);
  return first;
}
SIMT_WITH_POLICY(for_each_n)

template <typename Iterator, typename T = SimtValue<Iterator>>
void sequence(Iterator first, Iterator last, T value = T(0), T step = T(1)) {
  for (; first != last; ++first, value = value + step) *first = value;
}
SIMT_WITH_POLICY(sequence)
template <typename Iterator, typename Function>
void tabulate(Iterator first, Iterator last, Function function) {
  for (ptrdiff_t i = 0; first != last; ++first, ++i) *first = function(i);
}
SIMT_WITH_POLICY(tabulate)
template <typename Index, typename From, typename To>
To gather(Index first, Index last, From from, To to) {
  for (; first != last; ++first, ++to) *to = from[*first];
  return to;
}
SIMT_WITH_POLICY(gather)
template <typename From, typename Index, typename To>
void scatter(From first, From last, Index index, To to) {
  for (; first != last; ++first, ++index) to[*index] = *first;
}
SIMT_WITH_POLICY(scatter)

template <typename Iterator, typename T = SimtValue<Iterator>, typename Sum = plus<T>>
T reduce(Iterator first, Iterator last, T value = T(), Sum sum = Sum()) {
  for (; first != last; ++first) value = sum(value, *first);
  return value;
}
SIMT_WITH_POLICY(reduce)
template <typename Iterator, typename Function, typename T, typename Sum>
T transform_reduce(Iterator first, Iterator last, Function function, T value, Sum sum) {
  for (; first != last; ++first) value = sum(value, function(*first));
  return value;
}
SIMT_WITH_POLICY(transform_reduce)

template <typename From, typename To, typename Sum = plus<SimtValue<From>>>
To inclusive_scan(From first, From last, To to, Sum sum = Sum()) {
  return std::partial_sum(first, last, to, sum);
}
SIMT_WITH_POLICY(inclusive_scan)
template <typename From, typename To, typename T = SimtValue<From>, typename Sum = plus<T>>
To exclusive_scan(From first, From last, To to, T value = T(), Sum sum = Sum()) {
  for (; first != last; ++first, ++to) {
    const T next = sum(value, *first);  // `to` may be `first`.
    *to = value;
    value = next;
  }
  return to;
}
SIMT_WITH_POLICY(exclusive_scan)

template <typename Keys, typename Values, typename Less = less<SimtValue<Keys>>>
void stable_sort_by_key(Keys first, Keys last, Values values, Less less = Less()) {
  std::vector<std::pair<SimtValue<Keys>, SimtValue<Values>>> pairs;
  for (Keys key = first; key != last; ++key) pairs.emplace_back(*key, values[key - first]);
  std::stable_sort(pairs.begin(), pairs.end(),
                   [&](const auto& a, const auto& b) { return less(a.first, b.first); });
  for (const auto& pair : pairs) {
    *first++ = pair.first;
    *values++ = pair.second;
  }
}
SIMT_WITH_POLICY(stable_sort_by_key)
template <typename Keys, typename Values, typename Less = less<SimtValue<Keys>>>
void sort_by_key(Keys first, Keys last, Values values, Less less = Less()) {
  thrust::stable_sort_by_key(first, last, values, less);
}
SIMT_WITH_POLICY(sort_by_key)
template <typename Keys, typename Values, typename KeysTo, typename ValuesTo,
          typename Equal = equal_to<SimtValue<Keys>>, typename Sum = plus<SimtValue<Values>>>
pair<KeysTo, ValuesTo> reduce_by_key(Keys first, Keys last, Values values, KeysTo keys_to,
                                     ValuesTo values_to, Equal equal = Equal(), Sum sum = Sum()) {
  while (first != last) {
    const SimtValue<Keys> key = *first;
    SimtValue<Values> value = *values;
    for (++first, ++values; first != last && equal(key, *first); ++first, ++values) {
      value = sum(value, *values);
    }
    *keys_to++ = key;
    *values_to++ = value;
  }
  return {keys_to, values_to};
}
SIMT_WITH_POLICY(reduce_by_key)

// Of one value, or of each of several.
template <typename Iterator, typename T>
Iterator lower_bound(Iterator first, Iterator last, const T& value) {
  return std::lower_bound(first, last, value);
}
template <typename Iterator, typename Values, typename To>
To lower_bound(Iterator first, Iterator last, Values value, Values end, To to) {
  for (; value != end; ++value, ++to) *to = std::lower_bound(first, last, *value) - first;
  return to;
}
SIMT_WITH_POLICY(lower_bound)
template <typename Iterator, typename T>
Iterator upper_bound(Iterator first, Iterator last, const T& value) {
  return std::upper_bound(first, last, value);
}
template <typename Iterator, typename Values, typename To>
To upper_bound(Iterator first, Iterator last, Values value, Values end, To to) {
  for (; value != end; ++value, ++to) *to = std::upper_bound(first, last, *value) - first;
  return to;
}
SIMT_WITH_POLICY(upper_bound)

#undef SIMT_AS_STANDARD
#undef SIMT_WITH_POLICY

}  // namespace thrust

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_THRUST_SIMT_ALGORITHMS_H_
