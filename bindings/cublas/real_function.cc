#include "bindings/cublas/real_function.h"

#include <dlfcn.h>

#include <initializer_list>

namespace stridewise::drop_in {
namespace {

thread_local int real_calls = 0;

// The versions of CUDA whose interface is the one that we were compiled with.
constexpr const char* kCublasNames[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so"};
constexpr const char* kCublasLtNames[] = {"libcublasLt.so.13", "libcublasLt.so.12",
                                          "libcublasLt.so"};

template <int kNames>
void* FindIn(const char* function, const char* const (&libraries)[kNames]) {
  // What the program has open comes before what we would open.
  for (const int flags : {RTLD_LAZY | RTLD_NOLOAD, RTLD_LAZY}) {
    for (const char* library : libraries) {
      void* const handle = dlopen(library, flags);
      if (handle == nullptr) continue;
      if (void* const found = dlsym(handle, function)) return found;
    }
  }
  return nullptr;
}

}  // namespace

void* FindRealFunction(const char* name, Library library) {
  if (void* const next = dlsym(RTLD_NEXT, name)) return next;
  return library == Library::kCublas ? FindIn(name, kCublasNames) : FindIn(name, kCublasLtNames);
}

bool IsInsideRealCall() { return real_calls > 0; }
RealCall::RealCall() { ++real_calls; }
RealCall::~RealCall() { --real_calls; }

}  // namespace stridewise::drop_in
