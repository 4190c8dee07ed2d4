// What can be known of addresses in shared memory from LLVM's text form: which of them lie at
// constant distances, and where in 16 bytes they lie.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_SHARED_ADDRESSES_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_SHARED_ADDRESSES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/executor/run/word_structures.h"

namespace stridewise::executor {

constexpr int kSegment = 4;  // Elements of 4 bytes in 16.

// An address as a root, which addresses at constant distances have in common, and an offset.
struct SharedAddress {
  std::string root;
  std::string variable;  // Or pointer that is indexed.
  std::string index;
  int scale = 1;       // Elements of 4 bytes that the index counts at once.
  int64_t offset = 0;  // In bytes behind the root.
};

class SharedAddresses {
 public:
  // `lines` are those of a function and `shared` names variables in shared memory; all three must
  // outlive this.
  SharedAddresses(const std::vector<std::string>& lines, const std::set<std::string>& shared,
                  const std::map<std::string, WordStructure>& structures);

  // Follows the pointer to where it comes from, but for constant offsets. An index `x | 5` of an
  // `x` that 4 divides is one element behind `x | 4`.
  SharedAddress Resolve(const std::string& pointer);

  // Takes notice that 16 divides the address.
  void SetAligned(const SharedAddress& address);

  // Returns the root's element of its segment, where it is known and in shared memory.
  std::optional<int> Remainder(const SharedAddress& address);

 private:
  // Follows an address of a structure's member. Returns whether it is constant.
  bool ResolveMember(absl::string_view operation, const std::string& from, SharedAddress* address);
  void SplitIndex(const std::string& pointer, const std::string& index, SharedAddress* address);
  std::optional<int> ValueRemainder(absl::string_view value);
  std::optional<int> ValueRemainder(absl::string_view value, std::map<std::string, int>* assumed);
  std::optional<int> PhiRemainder(absl::string_view name, absl::string_view operation,
                                  const std::map<std::string, int>& assumed);
  // What defines the name, without debug information, or "".
  absl::string_view DefinitionOf(absl::string_view name) const;

  const std::vector<std::string>& lines_;
  const std::set<std::string>& shared_;
  const std::map<std::string, WordStructure>& structures_;
  int steps_ = 0;
  std::map<std::string, size_t> definitions_;
  std::map<std::string, int> remainders_;  // Of roots, in elements.
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_SHARED_ADDRESSES_H_
