// Memory for packed operands, and how the rows of an operand are cut into panels.

#ifndef STRIDEWISE_MATMUL_CPU_PACK_BUFFERS_H_
#define STRIDEWISE_MATMUL_CPU_PACK_BUFFERS_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace stridewise {

// Memory of the thread for packed panels, which grows and is kept.
template <typename T>
class PackBuffer {
 public:
  T* AtLeast(int64_t elements) {
    if (elements > size_) {
      const size_t bytes = static_cast<size_t>(elements) * sizeof(T);
      memory_.reset();
      memory_.reset(
          static_cast<T*>(std::aligned_alloc(kAlignment, (bytes / kAlignment + 1) * kAlignment)));
      size_ = elements;
    }
    return memory_.get();
  }

 private:
  static constexpr size_t kAlignment = 4096;
  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };

  std::unique_ptr<T, Free> memory_;
  int64_t size_ = 0;
};

template <typename T>
struct PackBuffers {
  PackBuffer<T> a;
  PackBuffer<T> b;
  PackBuffer<T> few;    // Few rows or columns of an operand, or of C.
  PackBuffer<T> sums;   // Of a product that is not stored at once.
  PackBuffer<T> parts;  // Sums of parts along k, which may need `sums` themselves.

  static PackBuffers& OfThread() {
    thread_local PackBuffers buffers;
    return buffers;
  }
};

// Panels of nearly equal heights: a last panel of two rows would take half the time of one of
// fourteen.
class Panels {
 public:
  // Without divisions where there is one panel: they are a tenth of the time of 8 x 8 x 8.
  Panels(int64_t rows, int64_t most)
      : count_(rows <= most ? 1 : (rows + most - 1) / most),
        lower_(count_ == 1 ? rows : rows / count_),
        taller_(count_ == 1 ? 0 : rows % count_) {}

  int64_t lower() const { return lower_; }
  bool differ() const { return taller_ > 0; }

  // Calls fn(first row, rows) for each panel.
  template <typename Fn>
  void ForEach(Fn fn) const {
    for (int64_t panel = 0, row = 0; panel < count_; ++panel) {
      const int64_t rows = lower_ + (panel < taller_ ? 1 : 0);
      fn(row, rows);
      row += rows;
    }
  }

 private:
  int64_t count_;
  int64_t lower_;   // Height of the lower panels.
  int64_t taller_;  // Panels that have one row more.
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_CPU_PACK_BUFFERS_H_
