#include "common/gpu/counters.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"

namespace stridewise {
namespace {

// More than all counters of a GPU need: only a mistake asks for more.
constexpr int kMaxPasses = 10000;

bool IsCounterName(absl::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
  });
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ParseCounterNames(absl::string_view flag,
                                                           absl::string_view text) {
  std::vector<std::string> names;
  if (text.empty()) return names;
  for (absl::string_view name : absl::StrSplit(text, ',')) {
    name = absl::StripAsciiWhitespace(name);
    if (!IsCounterName(name)) {
      return RefuseValue(flag, name, "a list of names such as dram__bytes_read.sum");
    }
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  }
  return names;
}

absl::StatusOr<std::vector<double>> ReadCounters(CounterSource& source, const CountedWork& work) {
  ASSIGN_OR_RETURN(const std::unique_ptr<CounterSession> session, source.Begin());
  for (int pass = 0; pass < kMaxPasses; ++pass) {
    if (work.prepare) RETURN_IF_ERROR(work.prepare());
    RETURN_IF_ERROR(session->StartPass());
    const absl::Status ran = work.run();
    const absl::StatusOr<bool> last = session->StopPass();
    RETURN_IF_ERROR(ran);
    RETURN_IF_ERROR(last.status());
    if (*last) return session->Values();
  }
  return absl::InternalError(absl::StrCat("counters: not all there after ", kMaxPasses, " passes"));
}

std::string CountersText(absl::Span<const std::string> names, absl::Span<const double> values) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), values.size()); ++i) {
    if (!std::isfinite(values[i])) continue;
    absl::StrAppend(&text, text.empty() ? "" : ";", names[i], "=",
                    absl::StrFormat("%.9g", values[i]));
  }
  return text;
}

}  // namespace stridewise
