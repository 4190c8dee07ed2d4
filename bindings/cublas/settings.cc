#include "bindings/cublas/settings.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/strings/string_view.h"

namespace stridewise::drop_in {
namespace {

// Reads a value of STRIDEWISE_SGEMM; returns false if there is none such.
bool ReadPrecision(absl::string_view value, MatMulPrecision* precision) {
  constexpr std::pair<absl::string_view, MatMulPrecision> kValues[] = {
      {"fp32", MatMulPrecision::kFp32}, {"split", MatMulPrecision::kFp32Split},
      {"tf32", MatMulPrecision::kTf32}, {"bf16", MatMulPrecision::kBf16},
      {"fp16", MatMulPrecision::kFp16},
  };
  for (const auto& [name, meant] : kValues) {
    if (value != name) continue;
    *precision = meant;
    return true;
  }
  return false;
}

}  // namespace

Settings ParseSettings(const char* mode, const char* sgemm, const char* summary,
                       const char** error) {
  Settings settings;
  *error = nullptr;
  const absl::string_view wanted = mode == nullptr ? "on" : mode;
  settings.takes_calls = wanted != "off";
  settings.always = wanted == "always";
  settings.measures = wanted == "measure";
  settings.verbose = wanted == "verbose";
  if (settings.takes_calls && !settings.always && !settings.measures && !settings.verbose &&
      wanted != "on") {
    *error = "STRIDEWISE_CUBLAS is none of off, on, always, measure and verbose; taken for on";
  }
  if (!ReadPrecision(sgemm == nullptr ? "fp32" : sgemm, &settings.sgemm)) {
    *error = "STRIDEWISE_SGEMM is none of fp32, split, tf32, bf16 and fp16; taken for fp32";
  }
  const absl::string_view at_exit = summary == nullptr ? "0" : summary;
  settings.summary = at_exit == "1";
  if (!settings.summary && at_exit != "0") {
    *error = "STRIDEWISE_CUBLAS_SUMMARY is neither 0 nor 1; taken for 0";
  }
  return settings;
}

const Settings& CurrentSettings() {
  static const Settings settings = [] {
    const char* error = nullptr;
    const Settings parsed =
        ParseSettings(std::getenv("STRIDEWISE_CUBLAS"), std::getenv("STRIDEWISE_SGEMM"),
                      std::getenv("STRIDEWISE_CUBLAS_SUMMARY"), &error);
    if (error != nullptr) std::fprintf(stderr, "stridewise: %s\n", error);
    return parsed;
  }();
  return settings;
}

}  // namespace stridewise::drop_in
