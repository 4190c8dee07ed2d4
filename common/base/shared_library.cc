#include "common/base/shared_library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace stridewise {

SharedLibrary::SharedLibrary(const char* variable, const char* const (&names)[2]) {
  const char* chosen = std::getenv(variable);
  for (const char* name : names) {
    handle_ = dlopen(chosen != nullptr ? chosen : name, RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) return;
    if (error_.empty()) error_ = dlerror();
  }
  absl::StrAppend(&error_, "; install it, or set ", variable, " to its file");
}

void* SharedLibrary::Symbol(const char* name) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, name);
}

absl::Status RequiredLibrary::status() const {
  if (!library_.is_loaded()) {
    return absl::UnavailableError(absl::StrCat(title_, ": ", library_.error()));
  }
  return missing_ == nullptr ? absl::OkStatus() : Lacks(missing_);
}

absl::Status RequiredLibrary::Lacks(const char* what) const {
  return absl::UnavailableError(
      absl::StrCat(title_, ": the library has not ", what, "; set ", variable_, " to another"));
}

// The plain name first, then where Debian keeps the library if another one is the default BLAS.
const SharedLibrary& OpenBlas() {
#if defined(__x86_64__)
  // The releases of Debian 12 take processors that are younger than they for the oldest of all.
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) {
    setenv("OPENBLAS_CORETYPE", "SKYLAKEX", /*overwrite=*/0);
  }
#endif
  static const auto& library = *new SharedLibrary(
      "STRIDEWISE_OPENBLAS",
      {"libopenblas.so.0", "/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0"});
  return library;
}

const SharedLibrary& Blis() {
  static const auto& library = *new SharedLibrary(
      "STRIDEWISE_BLIS", {"libblis.so.4", "/usr/lib/x86_64-linux-gnu/blis-pthread/libblis.so.4"});
  return library;
}

const SharedLibrary& OneDnn() {
  static const auto& library =
      *new SharedLibrary("STRIDEWISE_ONEDNN", {"libdnnl.so.2", "libdnnl.so.3"});
  return library;
}

}  // namespace stridewise
