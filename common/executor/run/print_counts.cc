// What printf() in a kernel loads and stores on a GPU, for compiled accesses.
//
// It loads the format byte by byte, and each text of a %s, and writes to a buffer in global memory.
// Counted by Nsight Compute on an H200, for 14 formats and 1 to 32 lanes of a warp, all of these
// are equal (docs/results/h200/printf_counters.csv): 3 loads for each character of the format and 5
// more, 3 for each character of a text and 3 more, of one sector each, as all lanes load the same;
// and 222 stores less 7 for each argument, of one sector for each lane.

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>

// Of common/executor/hooks.cc. They do nothing outside of kernels, but for simt_vprintf().
extern "C" {
int simt_vprintf(const char* format, va_list arguments);
void simt_block_at(const void* place);
void simt_count_loads_at(const void* address, int times, const void* place);
void simt_count_stores_at(int times, const void* place);
}

namespace {

constexpr int kLoadsOfCharacter = 3, kLoadsOfText = 3, kLoadsOfFormat = 5;
constexpr int kStores = 222, kStoresOfArgument = 7;

using Place = const char*;

int LoadsOf(const char* text) { return kLoadsOfCharacter * static_cast<int>(std::strlen(text)); }

// Steps over the argument of one conversion, which begins behind its %, and returns its letter.
char Skip(const char** at, va_list* arguments, const char** text) {
  int longs = 0;
  for (;; ++*at) {
    const char c = **at;
    if (c == '*') va_arg(*arguments, int);
    if (c == 'l' || c == 'z' || c == 'j' || c == 't') ++longs;
    if (c != '\0' && std::strchr("0123456789.+-# *hlzjt", c) != nullptr) continue;
    *text = nullptr;
    if (c == 's') *text = va_arg(*arguments, const char*);
    if (c == 'p') va_arg(*arguments, void*);
    if (c != '\0' && std::strchr("eEfFgGaA", c) != nullptr) va_arg(*arguments, double);
    if (c != '\0' && std::strchr("diouxXc", c) != nullptr) {
      if (longs > 0) {
        va_arg(*arguments, long);  // NOLINT(google-runtime-int)
      } else {
        va_arg(*arguments, int);
      }
    }
    return c;
  }
}

void Count(const char* format, va_list arguments, Place place) {
  va_list left;
  va_copy(left, arguments);
  // Each event has a place of its own within the bytes of the call.
  simt_block_at(place - 3);
  simt_count_loads_at(format, LoadsOf(format) + kLoadsOfFormat, place - 1);
  int count = 0;
  for (const char* at = format; *at != '\0'; ++at) {
    if (*at != '%') continue;
    const char* text = nullptr;
    const char letter = Skip(&++at, &left, &text);
    if (text != nullptr) simt_count_loads_at(text, LoadsOf(text) + kLoadsOfText, place - 1);
    if (letter == '\0') break;
    count += letter == '%' ? 0 : 1;
  }
  simt_count_stores_at(kStores - kStoresOfArgument * count, place - 2);
  simt_block_at(place);
  va_end(left);
}

}  // namespace

#define PLACE static_cast<Place>(__builtin_return_address(0))

extern "C" {

int simt_counted_vprintf(const char* format, va_list arguments) {
  Count(format, arguments, PLACE);
  return simt_vprintf(format, arguments);
}
int simt_counted_printf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Count(format, arguments, PLACE);
  const int length = simt_vprintf(format, arguments);
  va_end(arguments);
  return length;
}

}  // extern "C"
