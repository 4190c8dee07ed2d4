// What the environment says of the drop-in. It is read once, at the first call.
//
//   STRIDEWISE_CUBLAS=on         Takes calls; the default.
//   STRIDEWISE_CUBLAS=off        Passes everything on.
//   STRIDEWISE_CUBLAS=always     Takes calls that cuBLAS is predicted to be faster at, too.
//   STRIDEWISE_CUBLAS=measure    Makes the first calls of each shape both ways, and the others the
//                                faster way.
//   STRIDEWISE_CUBLAS=verbose    Takes calls, and writes a line for each to standard error.
//   STRIDEWISE_SGEMM=fp32        Multiplies floats on the FP32 units; the default.
//   STRIDEWISE_SGEMM=split       Multiplies them on tensor cores, each as two FP16 numbers, where
//                                that is faster; docs/fp32_split.md has the bound of the error.
//   STRIDEWISE_SGEMM=tf32        Rounds them to TF32 first where that is faster, which loses
//   digits. STRIDEWISE_SGEMM=bf16, fp16  Rounds them to 16 bits, or to TF32.
//   STRIDEWISE_CUBLAS_SUMMARY=1  Writes a summary to standard error when the program ends.

#ifndef STRIDEWISE_BINDINGS_CUBLAS_SETTINGS_H_
#define STRIDEWISE_BINDINGS_CUBLAS_SETTINGS_H_

#include "matmul/operands.h"

namespace stridewise::drop_in {

struct Settings {
  bool takes_calls = true;
  bool always = false;
  bool measures = false;
  bool verbose = false;
  MatMulPrecision sgemm = MatMulPrecision::kFp32;
  bool summary = false;
};

// Returns the settings that these values of STRIDEWISE_CUBLAS, STRIDEWISE_SGEMM and
// STRIDEWISE_CUBLAS_SUMMARY mean; null where one is not set. Anything else than the values above is
// an error, which `error` says in one line, and is taken for the default.
Settings ParseSettings(const char* mode, const char* sgemm, const char* summary,
                       const char** error);

// Returns those of the environment. Writes an error to standard error, once.
const Settings& CurrentSettings();

}  // namespace stridewise::drop_in

#endif  // STRIDEWISE_BINDINGS_CUBLAS_SETTINGS_H_
