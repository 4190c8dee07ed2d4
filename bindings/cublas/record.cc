#include "bindings/cublas/record.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "bindings/cublas/settings.h"

namespace stridewise::drop_in {
namespace {

std::array<std::atomic<int64_t>, kOutcomes> counts;
// Picoseconds, of the calls that were taken: whole numbers can be added by several threads.
std::atomic<int64_t> taken_ps;
std::atomic<int64_t> cublas_ps;

constexpr double kPsInUs = 1e6;
constexpr double kPsInMs = 1e9;

// Not absl::StrFormat(), whose archive does not fit into a shared library.
std::string Decimal(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", decimals, value);
  return text;
}

void WriteSummary() { std::fputs(Summary().c_str(), stderr); }

}  // namespace

const char* OutcomeText(Outcome outcome) {
  switch (outcome) {
    case Outcome::kTaken:
      return "taken";
    case Outcome::kOff:
      return "STRIDEWISE_CUBLAS is off";
    case Outcome::kNothingToDo:
      return "no product, or arguments that cuBLAS refuses";
    case Outcome::kDevicePointers:
      return "alpha and beta are in device memory";
    case Outcome::kMathMode:
      return "TF32 or another reduced precision is allowed";
    case Outcome::kTypes:
      return "other types than FP32";
    case Outcome::kForm:
      return "a form that Stridewise does not have";
    case Outcome::kDevice:
      return "no GPU that Stridewise was measured on";
    case Outcome::kCublasIsFaster:
      return "cuBLAS is predicted to be faster";
    case Outcome::kMeasured:
      return "cuBLAS was measured to be faster, or is being measured";
    case Outcome::kRefused:
      return "Stridewise returned an error";
  }
  return "";
}

std::string RecordLine(const Record& record) {
  std::string line = absl::StrCat("stridewise: ", record.function, " ");
  line += {record.op_a, record.op_b, ' '};
  absl::StrAppend(&line, record.m, "x", record.n, "x", record.k);
  if (record.batch != 1) absl::StrAppend(&line, " batch ", record.batch);
  if (record.outcome == Outcome::kTaken) {
    absl::StrAppend(&line, ": taken, ", record.kernel);
    if (record.us > 0) {
      absl::StrAppend(&line, ", predicted ", Decimal(record.us, 1), " us, cuBLAS ",
                      Decimal(record.cublas_us, 1), " us");
    }
  } else {
    absl::StrAppend(&line, ": passed on, ", OutcomeText(record.outcome));
    if (!record.message.empty()) absl::StrAppend(&line, ": ", record.message);
  }
  return line;
}

void Keep(const Record& record) {
  const Settings& settings = CurrentSettings();
  counts[static_cast<size_t>(record.outcome)].fetch_add(1, std::memory_order_relaxed);
  if (record.outcome == Outcome::kTaken) {
    taken_ps.fetch_add(static_cast<int64_t>(record.us * kPsInUs), std::memory_order_relaxed);
    cublas_ps.fetch_add(static_cast<int64_t>(record.cublas_us * kPsInUs),
                        std::memory_order_relaxed);
  }
  if (settings.summary) {
    static const int registered = std::atexit(WriteSummary);
    (void)registered;
  }
  if (settings.verbose) std::fprintf(stderr, "%s\n", RecordLine(record).c_str());
}

std::string Summary() {
  int64_t passed_on = 0;
  for (size_t i = 1; i < counts.size(); ++i) passed_on += counts[i].load();
  const double ms = static_cast<double>(taken_ps.load()) / kPsInMs;
  const double cublas_ms = static_cast<double>(cublas_ps.load()) / kPsInMs;
  std::string text =
      absl::StrCat("stridewise: ", counts[0].load(), " calls taken, predicted ", Decimal(ms, 3),
                   " ms where cuBLAS takes ", Decimal(cublas_ms, 3), " ms\n",
                   "stridewise: ", passed_on, " calls passed on to cuBLAS\n");
  for (size_t i = 1; i < counts.size(); ++i) {
    if (counts[i].load() == 0) continue;
    absl::StrAppend(&text, "stridewise:   ", counts[i].load(), ": ",
                    OutcomeText(static_cast<Outcome>(i)), "\n");
  }
  return text;
}

}  // namespace stridewise::drop_in
