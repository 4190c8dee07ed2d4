#include "common/executor/fiber.h"

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

#include <boost/context/detail/fcontext.hpp>

#include "absl/strings/str_cat.h"

namespace stridewise::executor {

namespace context = boost::context::detail;

void Fiber::Start(void* stack_top, size_t stack_bytes, Function function, void* argument) {
  function_ = function;
  argument_ = argument;
  context_ = context::make_fcontext(stack_top, stack_bytes, [](context::transfer_t from) {
    auto* fiber = static_cast<Fiber*>(from.data);
    fiber->context_ = from.fctx;
    fiber->function_(fiber->argument_);
  });
}

void Fiber::Resume() { context_ = context::jump_fcontext(context_, this).fctx; }

void Fiber::Suspend() { context_ = context::jump_fcontext(context_, nullptr).fctx; }

absl::StatusOr<std::unique_ptr<FiberStacks>> FiberStacks::Create(int count) {
  const size_t bytes = count * kStride;
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    return absl::ResourceExhaustedError(absl::StrCat("no ", bytes, " bytes for stacks"));
  }
  std::unique_ptr<FiberStacks> stacks(new FiberStacks(reinterpret_cast<uintptr_t>(base), bytes));
  for (int i = 0; i < count && count <= kMaxGuarded; ++i) {
    mprotect(reinterpret_cast<void*>(stacks->base_ + i * kStride), kStride - kStackBytes,
             PROT_NONE);
  }
  return stacks;
}

FiberStacks::~FiberStacks() {
  // Fibers end in the middle of functions, whose stack frames AddressSanitizer would see in
  // whatever is mapped here next.
  ASAN_UNPOISON_MEMORY_REGION(reinterpret_cast<void*>(base_), bytes_);
  munmap(reinterpret_cast<void*>(base_), bytes_);
}

}  // namespace stridewise::executor
