// Finds the functions of the libraries that this one stands before.

#ifndef STRIDEWISE_BINDINGS_CUBLAS_REAL_FUNCTION_H_
#define STRIDEWISE_BINDINGS_CUBLAS_REAL_FUNCTION_H_

namespace stridewise::drop_in {

enum class Library { kCublas, kCublasLt };

// Returns the library's function: the next definition in the program's order of search, or that of
// the library that the program has opened, or of the one that can be opened. Null if there is none.
void* FindRealFunction(const char* name, Library library);

// Is a function of this thread on its way to the real library? The real library calls itself, and
// such calls are not ours to take.
bool IsInsideRealCall();

// Marks the calling thread for as long as it exists.
class RealCall {
 public:
  RealCall();
  RealCall(const RealCall&) = delete;
  RealCall& operator=(const RealCall&) = delete;
  ~RealCall();
};

}  // namespace stridewise::drop_in

// Evaluates to the address of the real function of this name, looked up once; null if there is
// none.
#define STRIDEWISE_REAL_ADDRESS(function, library)                     \
  ([] {                                                                \
    static void* const real = ::stridewise::drop_in::FindRealFunction( \
        #function, ::stridewise::drop_in::Library::library);           \
    return real;                                                       \
  }())

// Evaluates to a pointer of the function's type.
#define STRIDEWISE_REAL(function, library) \
  (reinterpret_cast<decltype(&function)>(STRIDEWISE_REAL_ADDRESS(function, library)))

#endif  // STRIDEWISE_BINDINGS_CUBLAS_REAL_FUNCTION_H_
