// Functions that kernels of whole programs call (run/): printing, failing, and what counts accesses
// that no instruction of the host's code makes.
//
// Outside of a running kernel they print and fail as host code does, and count nothing.

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "common/executor/shim/simt_entry_points.h"
#include "common/executor/worker.h"

using stridewise::executor::AccessOp;
using stridewise::executor::EventKind;
using stridewise::executor::Lane;
using stridewise::executor::running_lane;

// Whole programs define it (run/runtime.cc): it prints the report before an assertion of host code
// ends the program.
extern "C" [[gnu::weak]] void simt_program_fails();

namespace {

// Prints from a kernel, or from host code.
int PrintFormatted(const char* format, va_list arguments) {
  Lane* lane = running_lane;
  if (lane == nullptr) return std::vprintf(format, arguments);
  char text[4096];
  const int length = std::vsnprintf(text, sizeof(text), format, arguments);
  lane->worker->Print(*lane, text);
  return length;
}

}  // namespace

#define PC __builtin_return_address(0)

extern "C" {

// What printf(), puts(), putchar() and assert() become in whole programs (run/compiler.cc).
int simt_printf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = PrintFormatted(format, arguments);
  va_end(arguments);
  return length;
}
int simt_vprintf(const char* format, va_list arguments) {
  return PrintFormatted(format, arguments);
}
int simt_puts(const char* text) { return simt_printf("%s\n", text); }
int simt_putchar(int c) { return simt_printf("%c", c) < 0 ? -1 : c; }
void simt_assert_fail(const char* assertion, const char* file, unsigned line,
                      const char* function) {
  Lane* lane = running_lane;
  if (lane == nullptr) {
    std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, assertion);
    if (simt_program_fails != nullptr) simt_program_fails();
    std::abort();
  }
  lane->worker->Fail(*lane, assertion, reinterpret_cast<uintptr_t>(PC));
}
void simt_trap() {
  if (running_lane == nullptr) std::abort();
  running_lane->worker->Fail(*running_lane, "__trap()", reinterpret_cast<uintptr_t>(PC));
}

// Of functions whose code on a GPU is another one (run/math_tables.cc).
void simt_load_at(const void* address, size_t bytes, const void* place) {
  Lane* lane = running_lane;
  if (lane == nullptr) return;
  lane->worker->Access(*lane, reinterpret_cast<uintptr_t>(address), __builtin_ctzll(bytes),
                       AccessOp::kLoad, reinterpret_cast<uintptr_t>(place));
}
// The same without checks, for accesses to memory that no program sees (run/print_counts.cc): loads
// of one byte by all lanes, and stores by each lane to a sector of its own.
void simt_count_loads_at(const void* address, int times, const void* place) {
  Lane* lane = running_lane;
  if (lane == nullptr) return;
  lane->worker->Count(*lane, EventKind::kGlobalLoad, reinterpret_cast<uintptr_t>(address), times,
                      reinterpret_cast<uintptr_t>(place));
}
void simt_count_stores_at(int times, const void* place) {
  Lane* lane = running_lane;
  if (lane == nullptr) return;
  lane->worker->Count(*lane, EventKind::kGlobalStore, reinterpret_cast<uintptr_t>(lane), times,
                      reinterpret_cast<uintptr_t>(place));
}
void simt_block_at(const void* place) {
  Lane* lane = running_lane;
  if (lane != nullptr) lane->worker->BasicBlock(*lane, reinterpret_cast<uintptr_t>(place));
}

}  // extern "C"
