// The C library on the C++ calls: each function reads its arguments, enters the context's device,
// calls, and turns the status into a number and a message. No exception leaves it.

#include "bindings/c/stridewise.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/element_type.h"
#include "common/base/status_macros.h"
#include "common/gpu/device_scope.h"
#include "common/gpu/gpu_runtime.h"
#include "common/gpu/stream_workspace.h"
#include "matmul/context.h"
#include "matmul/matmul.h"
#include "transpose/permute.h"
#include "transpose/transpose.h"

namespace stridewise {
namespace {

// The message of a failure, cut off where it is longer. A reader that ignores the rule about
// threads gets a mixture of two messages, and never memory that was freed.
class Message {
 public:
  void Set(absl::string_view text) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const size_t length = std::min(text.size(), sizeof(text_) - 1);
    std::memcpy(text_, text.data(), length);
    text_[length] = '\0';
  }
  const char* text() const { return text_; }

 private:
  std::mutex mutex_;
  char text_[1024] = "";
};

// Returns the message of calls of this thread that have no context.
Message& MessageWithoutContext() {
  static thread_local Message message;
  return message;
}

stridewise_status StatusOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return STRIDEWISE_OK;
    case absl::StatusCode::kInvalidArgument:
      return STRIDEWISE_INVALID_ARGUMENT;
    case absl::StatusCode::kUnimplemented:
      return STRIDEWISE_UNSUPPORTED;
    case absl::StatusCode::kResourceExhausted:
      return STRIDEWISE_OUT_OF_MEMORY;
    case absl::StatusCode::kUnavailable:
      return STRIDEWISE_NO_DEVICE;
    case absl::StatusCode::kInternal:
      return STRIDEWISE_DEVICE_ERROR;
    default:
      return STRIDEWISE_INTERNAL;
  }
}

// Calls fn(), which returns an absl::Status, and keeps the message of a failure.
template <typename Fn>
stridewise_status Run(Message& message, const Fn& fn) noexcept {
  try {
    const absl::Status status = fn();
    if (!status.ok()) message.Set(status.message());
    return StatusOf(status.code());
  } catch (const std::bad_alloc&) {
    message.Set("host memory is exhausted");
    return STRIDEWISE_OUT_OF_MEMORY;
  } catch (...) {
    message.Set("an unexpected exception inside the library");
    return STRIDEWISE_INTERNAL;
  }
}

// Copies arguments of a caller whose header may be older or newer than this library. `least` is
// the size that the structure had in the first version.
template <typename Args>
absl::Status Read(const Args* given, size_t least, Args* args) {
  if (given == nullptr) return absl::InvalidArgumentError("args is null");
  const size_t size = given->struct_size;
  if (size < least) {
    return absl::InvalidArgumentError(absl::StrCat("args->struct_size is ", size,
                                                   "; allowed is the size of the structure, ",
                                                   sizeof(Args), " in this version"));
  }
  std::memset(args, 0, sizeof(Args));
  std::memcpy(args, given, std::min(size, sizeof(Args)));
  const auto* bytes = reinterpret_cast<const char*>(given);
  for (size_t i = sizeof(Args); i < size; ++i) {
    if (bytes[i] == 0) continue;
    return absl::UnimplementedError(absl::StrCat("args has a field at byte ", i,
                                                 " that this library, version ",
                                                 stridewise_version_string(), ", does not know"));
  }
  return absl::OkStatus();
}

// Which types, precisions and epilogues there are is the library's to say; here numbers become
// names.
absl::StatusOr<ElementType> TypeOf(const char* argument, int32_t type) {
  constexpr ElementType kTypes[] = {ElementType::kFloat, ElementType::kBf16, ElementType::kFp16,
                                    ElementType::kS8,    ElementType::kInt,  ElementType::kE4m3,
                                    ElementType::kE5m2};
  if (type >= STRIDEWISE_FLOAT32 && type <= STRIDEWISE_FLOAT8_E5M2) return kTypes[type];
  return absl::InvalidArgumentError(absl::StrCat(argument, ".type is ", type, "; allowed is ",
                                                 STRIDEWISE_FLOAT32, " to ",
                                                 STRIDEWISE_FLOAT8_E5M2));
}

absl::StatusOr<MatMulPrecision> PrecisionOf(int32_t precision) {
  constexpr MatMulPrecision kPrecisions[] = {MatMulPrecision::kFp32, MatMulPrecision::kFp32Split,
                                             MatMulPrecision::kTf32};
  if (precision >= STRIDEWISE_PRECISION_FP32 && precision <= STRIDEWISE_PRECISION_TF32) {
    return kPrecisions[precision];
  }
  return absl::InvalidArgumentError(absl::StrCat("precision is ", precision, "; allowed is ",
                                                 STRIDEWISE_PRECISION_FP32, " to ",
                                                 STRIDEWISE_PRECISION_TF32));
}

absl::StatusOr<Activation> ActivationOf(int32_t activation) {
  constexpr Activation kActivations[] = {Activation::kNone, Activation::kRelu, Activation::kGelu};
  if (activation >= STRIDEWISE_ACTIVATION_NONE && activation <= STRIDEWISE_ACTIVATION_GELU) {
    return kActivations[activation];
  }
  return absl::InvalidArgumentError(absl::StrCat("activation is ", activation, "; allowed is ",
                                                 STRIDEWISE_ACTIVATION_NONE, " to ",
                                                 STRIDEWISE_ACTIVATION_GELU));
}

// Returns the operand as it is stored, rows x cols.
template <typename Operand, typename Given>
absl::StatusOr<Operand> OperandOf(const char* argument, const Given& given, int64_t rows,
                                  int64_t cols, MatrixLayout layout) {
  Operand operand;
  ASSIGN_OR_RETURN(operand.type, TypeOf(argument, given.type));
  operand.data = given.data;
  const int64_t gapless = layout == MatrixLayout::kRowMajor ? cols : rows;
  operand.ld = given.ld != 0 ? given.ld : gapless;
  operand.stride = given.stride;
  return operand;
}

absl::StatusOr<MatMulInput> InputOf(const char* argument, const stridewise_input& given,
                                    int64_t rows, int64_t cols, MatrixLayout layout) {
  const bool transposed = given.transposed != 0;
  ASSIGN_OR_RETURN(MatMulInput input,
                   OperandOf<MatMulInput>(argument, given, transposed ? cols : rows,
                                          transposed ? rows : cols, layout));
  input.transposed = transposed;
  return input;
}

absl::StatusOr<MatMulProblem> ProblemOf(const stridewise_matmul_args* given) {
  // The first version ends with workspace_bytes.
  constexpr size_t kLeast = offsetof(stridewise_matmul_args, workspace_bytes) + sizeof(int64_t);
  stridewise_matmul_args args;
  RETURN_IF_ERROR(Read(given, kLeast, &args));
  if (args.layout != STRIDEWISE_ROW_MAJOR && args.layout != STRIDEWISE_COLUMN_MAJOR) {
    return absl::InvalidArgumentError(absl::StrCat("layout is ", args.layout, "; allowed is ",
                                                   STRIDEWISE_ROW_MAJOR, " (row-major) and ",
                                                   STRIDEWISE_COLUMN_MAJOR, " (column-major)"));
  }
  MatMulProblem problem;
  problem.m = args.m;
  problem.n = args.n;
  problem.k = args.k;
  problem.layout =
      args.layout == STRIDEWISE_ROW_MAJOR ? MatrixLayout::kRowMajor : MatrixLayout::kColumnMajor;
  ASSIGN_OR_RETURN(problem.a, InputOf("a", args.a, args.m, args.k, problem.layout));
  ASSIGN_OR_RETURN(problem.b, InputOf("b", args.b, args.k, args.n, problem.layout));
  ASSIGN_OR_RETURN(problem.c, OperandOf<MatMulOutput>("c", args.c, args.m, args.n, problem.layout));
  problem.alpha = args.alpha;
  problem.beta = args.beta;
  problem.batch = args.batch;
  ASSIGN_OR_RETURN(problem.precision, PrecisionOf(args.precision));
  problem.epilogue.bias = args.bias;
  ASSIGN_OR_RETURN(problem.epilogue.activation, ActivationOf(args.activation));
  problem.scales = {args.scale_a, args.scale_b, args.scales_per_128 != 0};
  problem.workspace = args.workspace;
  problem.workspace_bytes = args.workspace_bytes;
  return problem;
}

absl::StatusOr<PermuteProblem> PermuteProblemOf(const stridewise_permute_args* given) {
  constexpr size_t kLeast = offsetof(stridewise_permute_args, element_bytes) + sizeof(int64_t);
  stridewise_permute_args args;
  RETURN_IF_ERROR(Read(given, kLeast, &args));
  static_assert(STRIDEWISE_MAX_RANK == kMaxPermuteRank);
  if (args.rank < 0 || args.rank > kMaxPermuteRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank is ", args.rank, "; allowed is 0 to ", kMaxPermuteRank));
  }
  if (args.rank > 0 && (args.extents == nullptr || args.order == nullptr)) {
    return absl::InvalidArgumentError(absl::StrCat(args.extents == nullptr ? "extents" : "order",
                                                   " is null; allowed are ", args.rank, " values"));
  }
  PermuteProblem problem = {};
  problem.rank = args.rank;
  problem.element_bytes = args.element_bytes;
  problem.in = args.in;
  problem.out = args.out;
  std::copy_n(args.extents, args.rank, problem.extents.begin());
  std::copy_n(args.order, args.rank, problem.order.begin());
  for (int64_t i = 0; i < args.rank; ++i) {
    if (args.order[i] >= 0 && args.order[i] < args.rank) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("order[", i, "] is ", args.order[i], "; allowed is 0 to ", args.rank - 1));
  }
  SetGaplessStrides(&problem);
  if (args.strides_in != nullptr) {
    std::copy_n(args.strides_in, args.rank, problem.strides_in.begin());
  }
  if (args.strides_out != nullptr) {
    std::copy_n(args.strides_out, args.rank, problem.strides_out.begin());
  }
  return problem;
}

}  // namespace
}  // namespace stridewise

struct stridewise_context {
  explicit stridewise_context(stridewise::MatMulContext of_products)
      : matmul(std::move(of_products)), scratch(matmul.stream()) {}

  stridewise::MatMulContext matmul;
  stridewise::StreamWorkspace scratch;  // Of transposes in place.
  stridewise::Message message;

  // Calls fn() on the context's device.
  template <typename Fn>
  absl::Status OnDevice(const Fn& fn) {
    stridewise::DeviceScope scope;
    RETURN_IF_ERROR(scope.Enter(matmul.device()));
    return fn();
  }
};

namespace stridewise {
namespace {

// Calls fn(*context) as Run() does, unless there is none.
template <typename Fn>
stridewise_status RunWith(stridewise_context* context, const Fn& fn) noexcept {
  if (context == nullptr) {
    MessageWithoutContext().Set("context is null; allowed is one of stridewise_create()");
    return STRIDEWISE_INVALID_ARGUMENT;
  }
  return Run(context->message, [&] { return fn(*context); });
}

absl::Status CheckBytes(int64_t bytes) {
  if (bytes >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("bytes is ", bytes, "; allowed is 0 or more"));
}

absl::Status NullArgument(const char* argument) {
  return absl::InvalidArgumentError(absl::StrCat(argument, " is null; allowed is its address"));
}

absl::Status TransposeWith(stridewise_context& context, const stridewise_transpose_args* given) {
  constexpr size_t kLeast = offsetof(stridewise_transpose_args, stride_out) + sizeof(int64_t);
  stridewise_transpose_args args;
  RETURN_IF_ERROR(Read(given, kLeast, &args));
  const MatrixView in = {args.in,
                         args.rows,
                         args.cols,
                         args.ld_in != 0 ? args.ld_in : args.cols,
                         args.element_bytes,
                         args.batch,
                         args.stride_in};
  const MutableMatrixView out = {
      args.out,           args.cols,  args.rows,      args.ld_out != 0 ? args.ld_out : args.rows,
      args.element_bytes, args.batch, args.stride_out};
  const cudaStream_t stream = context.matmul.stream();
  return context.OnDevice([&]() -> absl::Status {
    const int64_t bytes = in.data == out.data && in.data != nullptr &&
                                  std::min({in.rows, in.cols, in.element_bytes}) > 0
                              ? TransposeWorkspaceBytes(in, out)
                              : 0;
    if (bytes <= 0) return Transpose(in, out, stream);
    return context.scratch.Use(
        bytes, [&](void* workspace) { return Transpose(in, out, workspace, bytes, stream); });
  });
}

}  // namespace
}  // namespace stridewise

using stridewise::CheckBytes;
using stridewise::NullArgument;
using stridewise::Run;
using stridewise::RunWith;

const char* stridewise_status_name(stridewise_status status) {
  switch (status) {
    case STRIDEWISE_OK:
      return "ok";
    case STRIDEWISE_INVALID_ARGUMENT:
      return "invalid_argument";
    case STRIDEWISE_UNSUPPORTED:
      return "unsupported";
    case STRIDEWISE_OUT_OF_MEMORY:
      return "out_of_memory";
    case STRIDEWISE_NO_DEVICE:
      return "no_device";
    case STRIDEWISE_DEVICE_ERROR:
      return "device_error";
    case STRIDEWISE_INTERNAL:
      return "internal";
  }
  return "unknown";
}

int stridewise_version() { return STRIDEWISE_VERSION; }

#define STRIDEWISE_TEXT_OF(value) #value
#define STRIDEWISE_VERSION_TEXT(major, minor, patch) \
  STRIDEWISE_TEXT_OF(major) "." STRIDEWISE_TEXT_OF(minor) "." STRIDEWISE_TEXT_OF(patch)

const char* stridewise_version_string() {
  return STRIDEWISE_VERSION_TEXT(STRIDEWISE_VERSION_MAJOR, STRIDEWISE_VERSION_MINOR,
                                 STRIDEWISE_VERSION_PATCH);
}

stridewise_status stridewise_create(stridewise_context** context, int device,
                                    stridewise_stream stream) {
  return Run(stridewise::MessageWithoutContext(), [&]() -> absl::Status {
    if (context == nullptr) return NullArgument("context");
    *context = nullptr;
    ASSIGN_OR_RETURN(stridewise::MatMulContext matmul,
                     stridewise::MatMulContext::Create(stream, device));
    *context = new stridewise_context(std::move(matmul));
    return absl::OkStatus();
  });
}

void stridewise_destroy(stridewise_context* context) {
  if (context == nullptr) return;
  stridewise::DeviceScope scope;
  (void)scope.Enter(context->matmul.device());
  delete context;
}

const char* stridewise_message(const stridewise_context* context) {
  return context != nullptr ? context->message.text() : stridewise::MessageWithoutContext().text();
}

stridewise_status stridewise_reserve(stridewise_context* context, int64_t bytes) {
  return RunWith(context, [&](stridewise_context& c) { return c.matmul.Reserve(bytes); });
}

int64_t stridewise_allocated_bytes(const stridewise_context* context) {
  if (context == nullptr) return 0;
  return context->matmul.allocated_bytes() + context->scratch.allocated_bytes();
}

stridewise_status stridewise_allocate(stridewise_context* context, int64_t bytes, void** data) {
  return RunWith(context, [&](stridewise_context& c) -> absl::Status {
    if (data == nullptr) return NullArgument("data");
    *data = nullptr;
    RETURN_IF_ERROR(CheckBytes(bytes));
    return c.OnDevice([&]() -> absl::Status {
      ASSIGN_OR_RETURN(*data, stridewise::gpu::Allocate(static_cast<size_t>(bytes)));
      return absl::OkStatus();
    });
  });
}

stridewise_status stridewise_free(stridewise_context* context, void* data) {
  return RunWith(context, [&](stridewise_context& c) {
    return c.OnDevice([&] { return stridewise::gpu::Free(data); });
  });
}

stridewise_status stridewise_copy(stridewise_context* context, void* to, const void* from,
                                  int64_t bytes) {
  return RunWith(context, [&](stridewise_context& c) -> absl::Status {
    RETURN_IF_ERROR(CheckBytes(bytes));
    if (bytes > 0 && (to == nullptr || from == nullptr)) {
      return absl::InvalidArgumentError(absl::StrCat(
          to == nullptr ? "to" : "from", " is null; allowed is memory of ", bytes, " bytes"));
    }
    return c.OnDevice([&]() -> absl::Status {
      RETURN_IF_ERROR(stridewise::gpu::Synchronize(c.matmul.stream()));
      return stridewise::gpu::Copy(to, from, static_cast<size_t>(bytes));
    });
  });
}

stridewise_status stridewise_synchronize(stridewise_context* context) {
  return RunWith(context, [&](stridewise_context& c) {
    return c.OnDevice([&] { return stridewise::gpu::Synchronize(c.matmul.stream()); });
  });
}

stridewise_status stridewise_transpose(stridewise_context* context,
                                       const stridewise_transpose_args* args) {
  return RunWith(context,
                 [&](stridewise_context& c) { return stridewise::TransposeWith(c, args); });
}

stridewise_status stridewise_permute(stridewise_context* context,
                                     const stridewise_permute_args* args) {
  return RunWith(context, [&](stridewise_context& c) -> absl::Status {
    ASSIGN_OR_RETURN(const stridewise::PermuteProblem problem, stridewise::PermuteProblemOf(args));
    return c.OnDevice([&] { return stridewise::Permute(problem, c.matmul.stream()); });
  });
}

stridewise_status stridewise_matmul(stridewise_context* context,
                                    const stridewise_matmul_args* args) {
  return RunWith(context, [&](stridewise_context& c) -> absl::Status {
    ASSIGN_OR_RETURN(const stridewise::MatMulProblem problem, stridewise::ProblemOf(args));
    if (problem.workspace == nullptr && problem.workspace_bytes == 0) {
      return stridewise::MatMul(c.matmul, problem);
    }
    return c.OnDevice([&] { return stridewise::MatMul(problem, c.matmul.stream()); });
  });
}

stridewise_status stridewise_matmul_workspace(stridewise_context* context,
                                              const stridewise_matmul_args* args, int64_t* bytes) {
  return RunWith(context, [&](stridewise_context& c) -> absl::Status {
    if (bytes == nullptr) return NullArgument("bytes");
    *bytes = 0;
    ASSIGN_OR_RETURN(const stridewise::MatMulProblem problem, stridewise::ProblemOf(args));
    return c.OnDevice([&]() -> absl::Status {
      *bytes = stridewise::MatMulWorkspaceBytes(problem);
      return absl::OkStatus();
    });
  });
}
