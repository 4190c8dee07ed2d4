#include "bindings/cublas/settings.h"

#include <cstdio>
#include <cstdlib>

#include "absl/strings/string_view.h"

namespace stridewise::drop_in {

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
  const absl::string_view products = sgemm == nullptr ? "fp32" : sgemm;
  settings.split = products == "split";
  if (!settings.split && products != "fp32") {
    *error = "STRIDEWISE_SGEMM is neither fp32 nor split; taken for fp32";
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
