// Fits the corrections of the plans of tensor cores: from times of matmul_sweep to
// matmul/tensor_corrections.inc.
//
//   bazel run //benchmarks:matmul_sweep -- --preset=random --types=bf16 --implementations=...
//   bazel run //benchmarks/tuning:tensor_tune -- --times=times.csv --out=tensor_corrections.inc
//
// docs/tuning.md describes it.

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "benchmarks/harness/program_main.h"
#include "benchmarks/tuning/tensor_fit.h"
#include "common/base/flag_parsing.h"
#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"
#include "common/gpu/device_model.h"
#include "matmul/tensor_plans.h"

ABSL_FLAG(std::string, times, "", "Files of matmul_sweep, a list.");
ABSL_FLAG(std::string, out, "", "The file of tables to write. One that is there is replaced.");
ABSL_FLAG(int, count, 60, "Tables of each kernel, 1 to 200.");
ABSL_FLAG(int, memory_gbps, 4917, "The rate of the memory of the GPU, 1 to 100000.");
ABSL_FLAG(int, on_top, 0,
          "Keep the tables that are built in, and add this many to each kernel's for GPUs with a "
          "memory of at least nine tenths of the rate; 0 to 200.");
ABSL_FLAG(std::string, of, "",
          "Kernels that have more with --on_top, a list; all of them where it is empty.");
ABSL_FLAG(bool, kernels, false, "Only say which kernels are to be measured.");

namespace stridewise {
namespace {

constexpr char kUsage[] =
    "tensor_tune: fits the corrections of the predicted times of tensor cores to files of "
    "matmul_sweep. Needs no GPU.";

void PrintRegrets(const char* title, const std::vector<double>& regrets) {
  if (regrets.empty()) return;
  double logs = 0;
  for (const double regret : regrets) logs += std::log(regret);
  const auto part = [&](size_t percent) { return regrets[(regrets.size() - 1) * percent / 100]; };
  std::cout << absl::StrFormat("%-24s geometric mean %.4f, 95 %% %.3f, 99 %% %.3f\n", title,
                               std::exp(logs / static_cast<double>(regrets.size())), part(95),
                               part(99));
}

absl::StatusOr<int> RunProgram() {
  if (absl::GetFlag(FLAGS_kernels)) {
    std::cout << absl::StrJoin(PlannedTensorKernels(), ",") << "\n";
    return kExitOk;
  }
  CorrectionOptions options;
  options.count = absl::GetFlag(FLAGS_count);
  constexpr int kMostTables = 200;
  constexpr int kMostGbps = 100000;
  RETURN_IF_ERROR(CheckRange("--count", options.count, 1, kMostTables));
  const int gbps = absl::GetFlag(FLAGS_memory_gbps);
  RETURN_IF_ERROR(CheckRange("--memory_gbps", gbps, 1, kMostGbps));
  std::vector<std::string> paths;
  for (const absl::string_view path :
       absl::StrSplit(absl::GetFlag(FLAGS_times), ',', absl::SkipEmpty())) {
    paths.push_back(ResolvePath(path));
  }
  const DeviceModel device = WithMemoryRate(H200Model(), gbps);
  ASSIGN_OR_RETURN(const std::vector<TensorProduct> products, ReadTensorProducts(paths, device));
  constexpr double kOfRate = 0.9;
  const int on_top = absl::GetFlag(FLAGS_on_top);
  RETURN_IF_ERROR(CheckRange("--on_top", on_top, 0, kMostTables));
  if (on_top > 0) options.count = on_top;
  const std::set<std::string> of = absl::StrSplit(absl::GetFlag(FLAGS_of), ',', absl::SkipEmpty());
  const std::vector<std::string> planned = PlannedTensorKernels();
  for (const std::string& kernel : of) {
    if (std::find(planned.begin(), planned.end(), kernel) == planned.end()) {
      return absl::InvalidArgumentError(absl::StrCat("--of: no plan of \"", kernel, "\""));
    }
  }
  const auto fit = [&](absl::Span<const TensorProduct> some) {
    return on_top > 0 ? FitOnTop(some, options, kOfRate * gbps, of)
                      : FitTensorTables(some, options);
  };
  // Each fifth of the products is judged by a fit to the others.
  constexpr size_t kParts = 5;
  if (products.size() < kParts) {
    return absl::InvalidArgumentError(
        absl::StrCat("--times: too few products for a fit: ", products.size()));
  }
  std::vector<double> judged;
  for (size_t part = 0; part < kParts; ++part) {
    std::vector<TensorProduct> fitted, held_out;
    for (size_t i = 0; i < products.size(); ++i) {
      (i % kParts == part ? held_out : fitted).push_back(products[i]);
    }
    for (const double regret : RegretsOf(held_out, fit(fitted))) judged.push_back(regret);
  }
  std::sort(judged.begin(), judged.end());
  std::cout << products.size() << " products\n";
  PrintRegrets("built in", RegretsOf(products, BuiltInTensorTables()));
  PrintRegrets("held out of the fit", judged);
  const std::string out = absl::GetFlag(FLAGS_out);
  if (out.empty()) return kExitOk;
  std::ofstream file(ResolvePath(out), std::ios::binary);
  file << TextOf(fit(products)) << std::flush;
  if (!file) return absl::InvalidArgumentError(absl::StrCat("--out: cannot write \"", out, "\""));
  return kExitOk;
}

}  // namespace
}  // namespace stridewise

int main(int argc, char** argv) {
  return stridewise::ProgramMain(argc, argv, stridewise::kUsage, stridewise::RunProgram);
}
