// The C library on the C++ calls: each function reads its arguments, enters the context's device,
// and calls.

#include "bindings/c/stridewise.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "bindings/c/arguments.h"
#include "bindings/c/context.h"
#include "common/base/status_macros.h"
#include "common/gpu/device_scope.h"
#include "common/gpu/gpu_runtime.h"
#include "matmul/context.h"
#include "matmul/matmul.h"
#include "transpose/permute.h"
#include "transpose/transpose.h"

namespace stridewise {
namespace {

absl::Status CheckBytes(int64_t bytes) {
  if (bytes >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("bytes is ", bytes, "; allowed is 0 or more"));
}

absl::Status NullArgument(const char* argument) {
  return absl::InvalidArgumentError(absl::StrCat(argument, " is null; allowed is its address"));
}

absl::Status TransposeWith(stridewise_context& context, const stridewise_transpose_args* args) {
  ASSIGN_OR_RETURN(const TransposeViews views, ViewsOf(args));
  const MatrixView& in = views.in;
  const MutableMatrixView& out = views.out;
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
using stridewise::c_library::MessageWithoutContext;
using stridewise::c_library::Run;
using stridewise::c_library::RunWith;

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
  return Run(MessageWithoutContext(), [&]() -> absl::Status {
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
  return context != nullptr ? context->message.text() : MessageWithoutContext().text();
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
    ASSIGN_OR_RETURN(const stridewise::PermuteProblem problem, stridewise::ProblemOf(args));
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
