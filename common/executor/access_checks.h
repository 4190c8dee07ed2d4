// Small things that the fast and the exact checks of accesses have in common.

#ifndef STRIDEWISE_COMMON_EXECUTOR_ACCESS_CHECKS_H_
#define STRIDEWISE_COMMON_EXECUTOR_ACCESS_CHECKS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "common/executor/lane.h"

namespace stridewise::executor {

inline bool Stores(AccessOp op) { return op != AccessOp::kLoad; }

// Flags, one for each byte of memory; most accesses have 4 bytes.
inline constexpr uint32_t kFourFlags = 0x01010101;

inline bool AllWritten(const uint8_t* written, int bytes) {
  if (bytes == 4) return std::memcmp(written, &kFourFlags, 4) == 0;
  for (int i = 0; i < bytes; ++i) {
    if (written[i] == 0) return false;
  }
  return true;
}

inline void SetWritten(uint8_t* written, int bytes) {
  if (bytes == 4) {
    std::memcpy(written, &kFourFlags, 4);
  } else {
    std::memset(written, 1, static_cast<size_t>(bytes));
  }
}

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_ACCESS_CHECKS_H_
