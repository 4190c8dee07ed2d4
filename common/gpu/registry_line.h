// How a line of a registry's list describes an implementation: as a chain of calls, each of which
// says one thing by its name.
//
//   Step(5).AnyBlock(16, 16).Text("reads along rows, writes along columns", "strided stores ...")
//
// Each operation derives its own line and adds what only its entries have. Without more, an entry
// runs on any GPU and has no block of its own.

#ifndef STRIDEWISE_COMMON_GPU_REGISTRY_LINE_H_
#define STRIDEWISE_COMMON_GPU_REGISTRY_LINE_H_

#include <cstdint>
#include <utility>

#include "common/gpu/implementation.h"

namespace stridewise {

// `Line` is the derived class and `Entry` the operation's entry, derived from Implementation.
template <typename Line, typename Entry>
class RegistryLine {
 public:
  Line& Text(const char* summary, const char* teaches) {
    entry_.summary = summary;
    entry_.teaches = teaches;
    return line();
  }
  // Lets the caller choose the block; this one is the default.
  Line& AnyBlock(int64_t x, int64_t y) {
    entry_.blocks = Blocks::kAny;
    return FixedBlock(x, y);
  }
  Line& FixedBlock(int64_t x, int64_t y) {
    entry_.default_block = {x, y, 1};
    return line();
  }
  Line& On(const Target& target) {
    entry_.target.where = target.where;
    entry_.target.min_compute_capability = target.min_compute_capability;
    entry_.target.on_later_gpus = target.on_later_gpus;
    return line();
  }
  Line& SharedBytes(int bytes) {
    entry_.target.shared_bytes = bytes;
    return line();
  }

  // Returns the finished entry. `run` is null where the build lacks what the function needs.
  template <typename Function>
  Entry Finish(const char* name, Executor executor, Function run) {
    entry_.name = name;
    entry_.executor = executor;
    entry_.is_built_in = run != nullptr;
    entry_.run = run;
    return std::move(entry_);
  }

 protected:
  explicit RegistryLine(int step) { entry_.step = step; }

  Line& line() { return static_cast<Line&>(*this); }

  Entry entry_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_REGISTRY_LINE_H_
