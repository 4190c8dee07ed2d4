// Thrust's vectors and pointers. Both kinds of vectors lie in managed memory, so that the host's
// loops reach what kernels write.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_THRUST_SIMT_VECTORS_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_THRUST_SIMT_VECTORS_H_

#include <cstddef>
#include <iterator>
#include <new>
#include <vector>

#include "../cuda_runtime.h"

namespace thrust {

// A pointer to memory of the device, which the host may follow.
template <typename T>
class device_ptr {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::remove_cv_t<T>;
  using difference_type = ptrdiff_t;
  using pointer = T*;
  using reference = T&;

  device_ptr() = default;
  explicit device_ptr(T* pointer) : pointer_(pointer) { simt_run_let_host_write(pointer); }
  template <typename U, typename = std::enable_if_t<std::is_convertible<U*, T*>::value>>
  device_ptr(const device_ptr<U>& other) : pointer_(other.get()) {}

  T* get() const { return pointer_; }
  T& operator*() const { return *pointer_; }
  T* operator->() const { return pointer_; }
  T& operator[](ptrdiff_t i) const { return pointer_[i]; }
  device_ptr& operator+=(ptrdiff_t n) {
    pointer_ += n;
    return *this;
  }
  device_ptr& operator-=(ptrdiff_t n) { return *this += -n; }
  device_ptr& operator++() { return *this += 1; }
  device_ptr& operator--() { return *this += -1; }
  device_ptr operator++(int) {
    const device_ptr before = *this;
    *this += 1;
    return before;
  }
  device_ptr operator--(int) {
    const device_ptr before = *this;
    *this -= 1;
    return before;
  }
  device_ptr operator+(ptrdiff_t n) const {
    device_ptr there = *this;
    return there += n;
  }
  device_ptr operator-(ptrdiff_t n) const { return *this + -n; }
  ptrdiff_t operator-(const device_ptr& other) const { return pointer_ - other.pointer_; }
  bool operator==(const device_ptr& other) const { return pointer_ == other.pointer_; }
  bool operator!=(const device_ptr& other) const { return pointer_ != other.pointer_; }
  bool operator<(const device_ptr& other) const { return pointer_ < other.pointer_; }

 private:
  T* pointer_ = nullptr;
};

template <typename T>
T* raw_pointer_cast(T* pointer) {
  return pointer;
}
template <typename T>
T* raw_pointer_cast(const device_ptr<T>& pointer) {
  return pointer.get();
}
template <typename T>
device_ptr<T> device_pointer_cast(T* pointer) {
  return device_ptr<T>(pointer);
}

template <typename T>
struct SimtAllocator {
  using value_type = T;
  SimtAllocator() = default;
  template <typename U>
  SimtAllocator(const SimtAllocator<U>&) {}
  T* allocate(size_t n) {
    void* pointer = nullptr;
    if (simt_run_allocate(&pointer, n * sizeof(T), 2, __FILE__, __LINE__) != cudaSuccess) {
      throw std::bad_alloc();
    }
    return static_cast<T*>(pointer);
  }
  void deallocate(T* pointer, size_t) { cudaFree(pointer); }
  template <typename U>
  bool operator==(const SimtAllocator<U>&) const {
    return true;
  }
  template <typename U>
  bool operator!=(const SimtAllocator<U>&) const {
    return false;
  }
};

template <typename T>
device_ptr<T> device_malloc(size_t n) {
  return device_ptr<T>(SimtAllocator<T>().allocate(n));
}
template <typename T>
void device_free(device_ptr<T> pointer) {
  cudaFree(pointer.get());
}

// A vector that another of Thrust's or of the standard library converts to.
template <typename T, typename Allocator>
class SimtVector : public std::vector<T, Allocator> {
  using Base = std::vector<T, Allocator>;

 public:
  using Base::Base;
  SimtVector() = default;
  template <typename OtherAllocator>
  SimtVector(const std::vector<T, OtherAllocator>& other) : Base(other.begin(), other.end()) {}
  template <typename OtherAllocator>
  SimtVector& operator=(const std::vector<T, OtherAllocator>& other) {
    this->assign(other.begin(), other.end());
    return *this;
  }
};

template <typename T, typename Allocator = std::allocator<T>>
class host_vector : public SimtVector<T, Allocator> {
 public:
  using SimtVector<T, Allocator>::SimtVector;
  using SimtVector<T, Allocator>::operator=;
};

template <typename T, typename Allocator = SimtAllocator<T>>
class device_vector : public SimtVector<T, Allocator> {
  using Base = SimtVector<T, Allocator>;

 public:
  using Base::Base;
  using Base::operator=;
  using pointer = device_ptr<T>;
  device_ptr<T> data() { return device_ptr<T>(Base::data()); }
  device_ptr<const T> data() const { return device_ptr<const T>(Base::data()); }
};

}  // namespace thrust

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_THRUST_SIMT_VECTORS_H_
