// Libraries that are found when they are first called, so that neither the build nor a run needs
// them: NCCL, NVIDIA's libraries and the BLAS libraries on the host that are compared with.

#ifndef STRIDEWISE_COMMON_BASE_SHARED_LIBRARY_H_
#define STRIDEWISE_COMMON_BASE_SHARED_LIBRARY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace stridewise {

// A shared library that is loaded on demand and kept. Its symbols serve only those who ask here:
// two libraries that define the same names do not meet.
class SharedLibrary {
 public:
  // Loads the first of `names` that the system has, or the file that the environment variable
  // `variable` names.
  SharedLibrary(const char* variable, const char* const (&names)[2]);

  // Returns the function of that name; null where the library or the function is missing.
  template <typename Function>
  Function Find(const char* name) const {
    return reinterpret_cast<Function>(Symbol(name));
  }

  bool is_loaded() const { return handle_ != nullptr; }
  const std::string& error() const { return error_; }  // Why it is not.

 private:
  void* Symbol(const char* name) const;

  void* handle_ = nullptr;
  std::string error_;
};

// A library of which a program needs all that it looks up.
class RequiredLibrary {
 public:
  // As SharedLibrary. `title` is the library's name in errors.
  RequiredLibrary(const char* title, const char* variable, const char* const (&names)[2])
      : title_(title), variable_(variable), library_(variable, names) {}

  // Sets *symbol to the function or the variable of that name; to null where there is none.
  template <typename Symbol>
  void Find(const char* name, Symbol* symbol) {
    *symbol = library_.Find<Symbol>(name);
    if (*symbol == nullptr && missing_ == nullptr) missing_ = name;
  }

  // Returns Unavailable, in one line that names the variable, where there is no library or it has
  // not all that was looked up.
  absl::Status status() const;

  // Returns Unavailable, in one line that names the variable: the library has not `what`.
  absl::Status Lacks(const char* what) const;

  const SharedLibrary& library() const { return library_; }

 private:
  const char* title_;
  const char* variable_;
  const char* missing_ = nullptr;
  SharedLibrary library_;
};

// Returns what Load() returns, which is called once in a process and kept.
template <typename Functions, absl::StatusOr<Functions> Load()>
absl::StatusOr<const Functions*> LoadedOnce() {
  static const auto& loaded = *new absl::StatusOr<Functions>(Load());
  if (!loaded.ok()) return loaded.status();
  return &*loaded;
}

// Debian's libopenblas0, libblis4 and libdnnl2.
const SharedLibrary& OpenBlas();
const SharedLibrary& Blis();
const SharedLibrary& OneDnn();

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_SHARED_LIBRARY_H_
