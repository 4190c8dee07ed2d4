// Libraries that are found when they are first called, so that neither the build nor a run needs
// them: NCCL, and the BLAS libraries on the host that are compared with.

#ifndef STRIDEWISE_COMMON_BASE_SHARED_LIBRARY_H_
#define STRIDEWISE_COMMON_BASE_SHARED_LIBRARY_H_

#include <string>

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

  // Sets *function to the function of that name. Where there is none, sets it to null and, if it is
  // the first one, *missing to the name.
  template <typename Function>
  void Find(const char* name, Function* function, const char** missing) const {
    *function = Find<Function>(name);
    if (*function == nullptr && *missing == nullptr) *missing = name;
  }

  bool is_loaded() const { return handle_ != nullptr; }
  const std::string& error() const { return error_; }  // Why it is not.

 private:
  void* Symbol(const char* name) const;

  void* handle_ = nullptr;
  std::string error_;
};

// Debian's libopenblas0, libblis4 and libdnnl2.
const SharedLibrary& OpenBlas();
const SharedLibrary& Blis();
const SharedLibrary& OneDnn();

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_SHARED_LIBRARY_H_
