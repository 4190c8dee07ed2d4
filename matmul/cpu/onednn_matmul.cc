// oneDNN's matmul primitive for bfloat16, as an implementation: the vendor's figure that products
// of bfloat16 on the host are compared with, on one core and on all.
//
// The declarations are those of oneDNN 2 that are needed, so that neither the build nor a run needs
// the library; version 3 describes products in another way and is reported as one without them.

#include <cstdint>
#include <memory>
#include <tuple>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/host_threads.h"
#include "common/base/shared_library.h"
#include "common/base/status_macros.h"
#include "matmul/args.h"
#include "matmul/cpu/scale.h"

namespace stridewise {
namespace {

using Handle = void*;  // Of an engine, a stream, a primitive and so on.

// A description that the library fills, of at most 2800 bytes in version 2.6.
struct alignas(16) Description {
  char bytes[4096];
};

struct Argument {
  int index;
  Handle memory;
};
constexpr int kSource = 1;
constexpr int kWeights = 33;
constexpr int kDestination = 17;
constexpr int kCpu = 1;
constexpr unsigned kInOrder = 1;
constexpr int kBf16Type = 2;
constexpr int kFloatType = 3;
constexpr int kMaxDimensions = 12;

// Returns what a failed call of the library says.
absl::Status Check(int status, const char* function) {
  if (status == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(function, " returned the status ", status));
}

// Calls a function of the library by its name.
template <typename... Args>
absl::Status Call(const char* function, Args... args) {
  const auto found = OneDnn().Find<int (*)(Args...)>(function);
  if (found == nullptr) {
    return absl::UnavailableError(
        OneDnn().is_loaded() ? absl::StrCat("the library has no ", function) : OneDnn().error());
  }
  return Check(found(args...), function);
}

struct Destroy {
  const char* function = nullptr;
  void operator()(Handle handle) const { Call(function, handle).IgnoreError(); }
};
using Owned = std::unique_ptr<void, Destroy>;

Owned Own(Handle handle, const char* destroy) { return Owned(handle, Destroy{destroy}); }

absl::Status Describe(int64_t rows, int64_t cols, int64_t row_step, int64_t col_step, int type,
                      Description* description) {
  const int64_t dims[kMaxDimensions] = {rows, cols};
  const int64_t steps[kMaxDimensions] = {row_step, col_step};
  return Call("dnnl_memory_desc_init_by_strides", description, 2, &dims[0], type, &steps[0]);
}

int TypeOf(ElementType type) { return type == ElementType::kFloat ? kFloatType : kBf16Type; }

// A primitive for one shape, made once and kept, as a program would that multiplies it often.
class Prepared {
 public:
  using Key = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, bool, bool,
                         ElementType, double, double, int>;

  static Key KeyOf(const MatMulArgs& args, int threads) {
    return {args.m,
            args.n,
            args.k,
            args.a.ld,
            args.b.ld,
            args.c.ld,
            args.a.transposed,
            args.b.transposed,
            args.c.type,
            args.alpha,
            args.beta,
            threads};
  }

  static absl::StatusOr<std::unique_ptr<Prepared>> Make(const MatMulArgs& args, int threads) {
    auto prepared = std::make_unique<Prepared>();
    RETURN_IF_ERROR(prepared->Init(args));
    prepared->key_ = KeyOf(args, threads);
    return prepared;
  }

  const Key& key() const { return key_; }

  // Functions are found once: a product of 64 x 64 x 64 takes 1.4 us.
  absl::Status Run(const MatMulArgs& args) {
    static const auto set_data =
        OneDnn().Find<int (*)(Handle, const void*)>("dnnl_memory_set_data_handle");
    static const auto execute =
        OneDnn().Find<int (*)(Handle, Handle, int, const Argument*)>("dnnl_primitive_execute");
    static const auto wait = OneDnn().Find<int (*)(Handle)>("dnnl_stream_wait");
    const Argument arguments[] = {{kSource, memories_[0].get()},
                                  {kWeights, memories_[1].get()},
                                  {kDestination, memories_[2].get()}};
    const void* const data[] = {args.a.data, args.b.data, args.c.data};
    for (int i = 0; i < 3; ++i) {
      RETURN_IF_ERROR(Check(set_data(arguments[i].memory, data[i]), "dnnl_memory_set_data_handle"));
    }
    RETURN_IF_ERROR(Check(execute(primitive_.get(), stream_.get(), 3, &arguments[0]),
                          "dnnl_primitive_execute"));
    return Check(wait(stream_.get()), "dnnl_stream_wait");
  }

 private:
  absl::Status Init(const MatMulArgs& args) {
    Handle handle = nullptr;
    RETURN_IF_ERROR(Call("dnnl_engine_create", &handle, kCpu, size_t{0}));
    engine_ = Own(handle, "dnnl_engine_destroy");
    RETURN_IF_ERROR(Call("dnnl_stream_create", &handle, engine_.get(), kInOrder));
    stream_ = Own(handle, "dnnl_stream_destroy");
    Description a, b, c, product;
    const int type = TypeOf(args.a.type);
    const auto step = [](const MatMulInput& input, bool of_rows) {
      return input.transposed == of_rows ? int64_t{1} : input.ld;
    };
    RETURN_IF_ERROR(Describe(args.m, args.k, step(args.a, true), step(args.a, false), type, &a));
    RETURN_IF_ERROR(Describe(args.k, args.n, step(args.b, true), step(args.b, false), type, &b));
    RETURN_IF_ERROR(Describe(args.m, args.n, args.c.ld, 1, TypeOf(args.c.type), &c));
    RETURN_IF_ERROR(Call("dnnl_matmul_desc_init", &product, &a, &b,
                         static_cast<const Description*>(nullptr), &c));
    RETURN_IF_ERROR(Call("dnnl_primitive_attr_create", &handle));
    const Owned attributes = Own(handle, "dnnl_primitive_attr_destroy");
    const auto alpha = static_cast<float>(args.alpha);
    if (alpha != 1) {
      RETURN_IF_ERROR(
          Call("dnnl_primitive_attr_set_output_scales", attributes.get(), int64_t{1}, 0, &alpha));
    }
    if (args.beta != 0) {
      RETURN_IF_ERROR(Call("dnnl_post_ops_create", &handle));
      const Owned post = Own(handle, "dnnl_post_ops_destroy");
      RETURN_IF_ERROR(Call("dnnl_post_ops_append_sum", post.get(), static_cast<float>(args.beta)));
      RETURN_IF_ERROR(Call("dnnl_primitive_attr_set_post_ops", attributes.get(), post.get()));
    }
    RETURN_IF_ERROR(Call("dnnl_primitive_desc_create", &handle, &product, attributes.get(),
                         engine_.get(), static_cast<Handle>(nullptr)));
    const Owned description = Own(handle, "dnnl_primitive_desc_destroy");
    RETURN_IF_ERROR(Call("dnnl_primitive_create", &handle, description.get()));
    primitive_ = Own(handle, "dnnl_primitive_destroy");
    const Description* const operands[] = {&a, &b, &c};
    for (int i = 0; i < 3; ++i) {
      RETURN_IF_ERROR(Call("dnnl_memory_create", &handle, operands[i], engine_.get(),
                           static_cast<void*>(nullptr)));
      memories_[i] = Own(handle, "dnnl_memory_destroy");
    }
    return absl::OkStatus();
  }

  Key key_;
  Owned engine_, stream_, primitive_;
  Owned memories_[3];
};

LaunchStatus Run(const MatMulArgs& args, int threads) {
  // That of the OpenMP library which oneDNN itself is linked with.
  static const auto set_threads = OneDnn().Find<void (*)(int)>("omp_set_num_threads");
  if (set_threads == nullptr) return absl::UnavailableError(OneDnn().error());
  set_threads(threads);
  if (args.m == 0 || args.n == 0) return LaunchStatus();
  thread_local std::unique_ptr<Prepared> last;
  for (int64_t i = 0; i < args.batch; ++i) {
    const MatMulArgs one = OneOfBatch(args, i);
    if (one.k == 0 || one.alpha == 0) {
      ForElementType<float, Bf16>(one.c.type,
                                  [&](auto element) { ScaleByBeta<decltype(element)>(one); });
      continue;
    }
    if (last == nullptr || last->key() != Prepared::KeyOf(one, threads)) {
      last.reset();
      ASSIGN_OR_RETURN(last, Prepared::Make(one, threads));
    }
    RETURN_IF_ERROR(last->Run(one));
  }
  return LaunchStatus();
}

}  // namespace

LaunchStatus MatMulOneDnnMatMul(const MatMulArgs& args) { return Run(args, HostThreads()); }
LaunchStatus MatMulOneDnnMatMulOneCore(const MatMulArgs& args) { return Run(args, 1); }

}  // namespace stridewise
