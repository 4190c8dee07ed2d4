// Counts the calls that were taken and passed on, and says so where the settings ask for it.

#ifndef STRIDEWISE_BINDINGS_CUBLAS_RECORD_H_
#define STRIDEWISE_BINDINGS_CUBLAS_RECORD_H_

#include <cstdint>
#include <string>

namespace stridewise::drop_in {

// What became of a call. All but the first were passed on to the real library.
enum class Outcome {
  kTaken,
  kOff,             // STRIDEWISE_CUBLAS=off.
  kNothingToDo,     // No product, or arguments that only the real library can refuse.
  kDevicePointers,  // alpha and beta are in device memory.
  kMathMode,        // TF32 or another reduced precision is allowed.
  kTypes,           // Other element types or another arithmetic.
  kForm,            // An epilogue, a layout or an operation that we do not have.
  kDevice,          // No GPU that the predictions know.
  kCublasIsFaster,  // By the prediction.
  kMeasured,        // cuBLAS was measured to be faster, or is being measured.
  kRefused,         // Our call returned an error.
};
inline constexpr int kOutcomes = 11;

// Returns such as "TF32 or another reduced precision is allowed".
const char* OutcomeText(Outcome outcome);

// A call as lines and summaries show it.
struct Record {
  const char* function = "";
  Outcome outcome = Outcome::kTaken;
  char op_a = 'n', op_b = 'n';
  int64_t m = 0, n = 0, k = 0, batch = 1;
  // Of calls that were taken: the kernel, and the predicted microseconds of it and of cuBLAS.
  std::string kernel;
  double us = 0, cublas_us = 0;
  std::string message;  // Of a call that was refused.
};

// Returns the line that STRIDEWISE_CUBLAS=verbose writes, without its end.
std::string RecordLine(const Record& record);

// Adds the call to the summary, and writes what the settings ask for. Safe to call from any thread.
void Keep(const Record& record);

// Returns the summary of the calls so far, a few lines.
std::string Summary();

}  // namespace stridewise::drop_in

#endif  // STRIDEWISE_BINDINGS_CUBLAS_RECORD_H_
