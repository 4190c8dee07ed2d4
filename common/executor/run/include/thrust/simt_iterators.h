// Thrust's iterators that compute what they give.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_THRUST_SIMT_ITERATORS_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_THRUST_SIMT_ITERATORS_H_

#include <iterator>
#include <tuple>
#include <utility>

#include "simt_functional.h"

namespace thrust {

// A random access iterator of `Self`, which has At(n), what lies `n` further than where it was
// made, and From(other), how far it was made behind another.
template <typename Self, typename Value, typename Reference>
class SimtIterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Value;
  using difference_type = ptrdiff_t;
  using pointer = void;
  using reference = Reference;

  Reference operator*() const { return self().At(at_); }
  Reference operator[](ptrdiff_t n) const { return self().At(at_ + n); }
  Self& operator+=(ptrdiff_t n) {
    at_ += n;
    return static_cast<Self&>(*this);
  }
  Self& operator-=(ptrdiff_t n) { return *this += -n; }
  Self& operator++() { return *this += 1; }
  Self& operator--() { return *this += -1; }
  Self operator++(int) {
    Self before = self();
    *this += 1;
    return before;
  }
  Self operator+(ptrdiff_t n) const {
    Self there = self();
    there += n;
    return there;
  }
  Self operator-(ptrdiff_t n) const { return *this + -n; }
  ptrdiff_t operator-(const Self& other) const { return self().From(other) + at_ - other.at_; }
  bool operator==(const Self& other) const { return *this - other == 0; }
  bool operator!=(const Self& other) const { return *this - other != 0; }
  bool operator<(const Self& other) const { return *this - other < 0; }

 private:
  const Self& self() const { return static_cast<const Self&>(*this); }
  ptrdiff_t at_ = 0;
};

template <typename T>
class counting_iterator : public SimtIterator<counting_iterator<T>, T, T> {
 public:
  explicit counting_iterator(T first = T()) : first_(first) {}
  T At(ptrdiff_t n) const { return static_cast<T>(first_ + static_cast<T>(n)); }
  ptrdiff_t From(const counting_iterator& other) const {
    return static_cast<ptrdiff_t>(first_) - static_cast<ptrdiff_t>(other.first_);
  }

 private:
  T first_;
};
template <typename T>
counting_iterator<T> make_counting_iterator(T first) {
  return counting_iterator<T>(first);
}

template <typename T>
class constant_iterator : public SimtIterator<constant_iterator<T>, T, T> {
 public:
  explicit constant_iterator(T value, ptrdiff_t at = 0) : value_(value), origin_(at) {}
  T At(ptrdiff_t) const { return value_; }
  ptrdiff_t From(const constant_iterator& other) const { return origin_ - other.origin_; }

 private:
  T value_;
  ptrdiff_t origin_;
};
template <typename T>
constant_iterator<T> make_constant_iterator(T value) {
  return constant_iterator<T>(value);
}

template <typename Function, typename Iterator>
class transform_iterator
    : public SimtIterator<
          transform_iterator<Function, Iterator>,
          std::decay_t<decltype(std::declval<Function>()(*std::declval<Iterator>()))>,
          decltype(std::declval<Function>()(*std::declval<Iterator>()))> {
 public:
  transform_iterator(Iterator first, Function function) : first_(first), function_(function) {}
  auto At(ptrdiff_t n) const { return function_(first_[n]); }
  ptrdiff_t From(const transform_iterator& other) const { return first_ - other.first_; }

 private:
  Iterator first_;
  Function function_;
};
template <typename Function, typename Iterator>
transform_iterator<Function, Iterator> make_transform_iterator(Iterator first, Function function) {
  return {first, function};
}

template <typename Tuple>
class zip_iterator;
template <typename... Iterators>
class zip_iterator<std::tuple<Iterators...>>
    : public SimtIterator<zip_iterator<std::tuple<Iterators...>>,
                          std::tuple<typename std::iterator_traits<Iterators>::value_type...>,
                          std::tuple<typename std::iterator_traits<Iterators>::reference...>> {
 public:
  using References = std::tuple<typename std::iterator_traits<Iterators>::reference...>;
  explicit zip_iterator(std::tuple<Iterators...> first) : first_(first) {}
  References At(ptrdiff_t n) const { return AtAll(n, std::index_sequence_for<Iterators...>()); }
  ptrdiff_t From(const zip_iterator& other) const {
    return std::get<0>(first_) - std::get<0>(other.first_);
  }

 private:
  template <size_t... kI>
  References AtAll(ptrdiff_t n, std::index_sequence<kI...>) const {
    return References(std::get<kI>(first_)[n]...);
  }
  std::tuple<Iterators...> first_;
};
template <typename... Iterators>
zip_iterator<std::tuple<Iterators...>> make_zip_iterator(std::tuple<Iterators...> first) {
  return zip_iterator<std::tuple<Iterators...>>(first);
}
template <typename... Iterators>
zip_iterator<std::tuple<Iterators...>> make_zip_iterator(Iterators... first) {
  return zip_iterator<std::tuple<Iterators...>>(std::tuple<Iterators...>(first...));
}

}  // namespace thrust

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_THRUST_SIMT_ITERATORS_H_
