// Transposes a matrix on the GPU from C++: a context that ends by itself, and errors as exceptions.

#include <stridewise.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

class Error : public std::runtime_error {
 public:
  Error(stridewise_status status, const char* message)
      : std::runtime_error(std::string(stridewise_status_name(status)) + ": " + message),
        status_(status) {}
  stridewise_status status() const { return status_; }

 private:
  stridewise_status status_;
};

class Context {
 public:
  explicit Context(stridewise_stream stream = nullptr) {
    stridewise_context* made = nullptr;
    const stridewise_status status = stridewise_create(&made, STRIDEWISE_CURRENT_DEVICE, stream);
    if (status != STRIDEWISE_OK) throw Error(status, stridewise_message(nullptr));
    context_.reset(made);
  }
  stridewise_context* get() const { return context_.get(); }
  void Check(stridewise_status status) const {
    if (status != STRIDEWISE_OK) throw Error(status, stridewise_message(get()));
  }

 private:
  struct Destroy {
    void operator()(stridewise_context* context) const { stridewise_destroy(context); }
  };
  std::unique_ptr<stridewise_context, Destroy> context_;
};

// Device memory for a number of elements, with a copy of the host's.
template <typename T>
class Buffer {
 public:
  Buffer(const Context& context, const std::vector<T>& host)
      : context_(context), bytes_(static_cast<int64_t>(host.size() * sizeof(T))) {
    context_.Check(stridewise_allocate(context_.get(), bytes_, &data_));
    context_.Check(stridewise_copy(context_.get(), data_, host.data(), bytes_));
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { (void)stridewise_free(context_.get(), data_); }
  void* data() const { return data_; }
  std::vector<T> Read() const {
    std::vector<T> host(static_cast<size_t>(bytes_) / sizeof(T));
    context_.Check(stridewise_copy(context_.get(), host.data(), data_, bytes_));
    return host;
  }

 private:
  const Context& context_;
  int64_t bytes_;
  void* data_ = nullptr;
};

void Transpose() {
  constexpr int64_t kRows = 1000;
  constexpr int64_t kCols = 777;
  std::vector<uint16_t> host(kRows * kCols);
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<uint16_t>(i * 40503);

  const Context context;
  const Buffer<uint16_t> in(context, host);
  const Buffer<uint16_t> out(context, std::vector<uint16_t>(host.size()));
  stridewise_transpose_args args = stridewise_transpose_defaults();
  args.in = in.data();
  args.out = out.data();
  args.rows = kRows;
  args.cols = kCols;
  args.element_bytes = sizeof(uint16_t);
  context.Check(stridewise_transpose(context.get(), &args));

  const std::vector<uint16_t> result = out.Read();
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t col = 0; col < kCols; ++col) {
      if (result[col * kRows + row] != host[row * kCols + col]) throw std::logic_error("wrong");
    }
  }
  std::printf("%d x %d: correct, by Stridewise %s\n", int{kRows}, int{kCols},
              stridewise_version_string());
}

}  // namespace

int main() {
  try {
    Transpose();
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.status() == STRIDEWISE_NO_DEVICE ? 77 : 1;
  }
  return 0;
}
