#include "common/executor/fiber.h"

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

#include <cstring>

#include "absl/strings/str_cat.h"

#ifndef __x86_64__
#include <boost/context/detail/fcontext.hpp>
#endif

namespace stridewise::executor {

#ifdef __x86_64__

// Boost.Context's switch also keeps the control words of the floating-point units, which no kernel
// changes, and spends four fifths of its time on these.
//
// simt_switch(void** from, void* to) pushes the registers that a function has to keep, stores the
// stack pointer to *from, and goes on where that was done to get `to`. It jumps, as a return to
// another place than where the call came from would be predicted wrongly.
// simt_enter, at which a fiber begins, calls r12 with rbx.
asm(R"(
.pushsection .text
.balign 16
.type simt_switch, @function
simt_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rcx
  jmpq *%rcx
.size simt_switch, . - simt_switch

.balign 16
.type simt_enter, @function
simt_enter:
  movq %rbx, %rdi
  jmpq *%r12
.size simt_enter, . - simt_enter
.popsection
)");
extern "C" void simt_switch(void** from, void* to);
extern "C" void simt_enter();

void Fiber::Start(void* stack_top, size_t, Function function, void* argument) {
  // What simt_switch pops, in its order; the last is the place to which `function` does not return.
  const uintptr_t frame[] = {0,
                             0,
                             0,
                             reinterpret_cast<uintptr_t>(function),
                             reinterpret_cast<uintptr_t>(argument),
                             0,
                             reinterpret_cast<uintptr_t>(simt_enter),
                             0};
  context_ = static_cast<char*>(stack_top) - sizeof(frame);
  std::memcpy(context_, frame, sizeof(frame));
}

void Fiber::Resume() { simt_switch(&context_, context_); }

void Fiber::Suspend() { simt_switch(&context_, context_); }

#else

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

#endif

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
