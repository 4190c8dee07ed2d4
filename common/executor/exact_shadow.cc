#include "common/executor/exact_shadow.h"

#include <algorithm>

namespace stridewise::executor {

std::optional<ExactShadow::Access> ExactShadow::Touch(
    uint64_t address, int bytes, const Access& access,
    absl::FunctionRef<bool(const Access&)> ordered) {
  const auto unordered = [&](const Access& other) {
    return !(other.atomic && access.atomic) && !ordered(other);
  };
  std::optional<Access> race;
  for (int i = 0; i < bytes; ++i) {
    Byte& byte = bytes_[address + i];
    if (!race && byte.written && unordered(byte.writer)) race = byte.writer;
    if (access.store) {
      if (!race) {
        const auto reader = std::find_if(byte.readers.begin(), byte.readers.end(), unordered);
        if (reader != byte.readers.end()) race = *reader;
      }
      byte.readers.clear();
      byte.written = true;
      byte.writer = access;
      continue;
    }
    byte.readers.erase(std::remove_if(byte.readers.begin(), byte.readers.end(), ordered),
                       byte.readers.end());
    if (byte.readers.size() < kMaxReaders) byte.readers.push_back(access);
  }
  return race;
}

const ExactShadow::Access* ExactShadow::WriterOf(uint64_t address) const {
  const auto found = bytes_.find(address);
  return found != bytes_.end() && found->second.written ? &found->second.writer : nullptr;
}

}  // namespace stridewise::executor
