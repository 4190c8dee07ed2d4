// How long the host takes to choose a kernel for a product, and to find a plan. Needs no GPU, since
// it chooses for an H200, but the kernels that are chosen among: device code.
//
//   bazel run --//third_party/cuda:device_code=always //benchmarks/tuning:choice_time

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "benchmarks/harness/operation.h"
#include "benchmarks/harness/program_main.h"
#include "benchmarks/matmul/operation.h"
#include "benchmarks/matmul/product_args.h"
#include "benchmarks/tuning/kernel_times.h"
#include "common/base/clock.h"
#include "common/base/status_macros.h"
#include "matmul/dispatch.h"
#include "matmul/plan.h"

namespace stridewise {
namespace {

constexpr char kUsage[] =
    "choice_time: how long the host takes to choose a kernel for a random product, and to find a "
    "plan.";

constexpr int64_t kProducts = 300;
constexpr int kCalls = 16;    // Between two looks at the clock.
constexpr int kRepeats = 30;  // The fastest counts: others were interrupted.

// Prints the distribution of what `call` takes for the products, each called kCalls times in turn.
void Print(const std::string& name, const std::function<void(size_t product)>& call) {
  const SteadyClock clock;
  std::vector<double> ns;
  for (size_t product = 0; product < kProducts; ++product) {
    double best = std::numeric_limits<double>::infinity();
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      const double start = clock.Now();
      for (int i = 0; i < kCalls; ++i) call(product);
      best = std::min(best, (clock.Now() - start) / kCalls);
    }
    ns.push_back(1e9 * best);
  }
  std::sort(ns.begin(), ns.end());
  std::cout << absl::StrFormat("%-34s median %5.0f ns, 95 %% %5.0f ns, most %5.0f ns\n", name,
                               ns[ns.size() / 2], ns[ns.size() * 95 / 100], ns.back());
}

absl::StatusOr<int> RunProgram() {
  const DeviceModel h200 = H200Model();
  ASSIGN_OR_RETURN(const std::vector<TuneShape> shapes, DrawTuneShapes(kProducts, /*seed=*/7));
  std::vector<MatMulArgs> with, without;
  std::vector<MatMulProblem> problems;
  MatMulPlans plans;
  MatMulPlanOptions options;
  options.device_model = &h200;
  for (const TuneShape& shape : shapes) {
    without.push_back(GaplessArgs(shape.point));
    with.push_back(WithAnyWorkspace(without.back()));
    problems.push_back(ProblemOf(without.back()));
    RETURN_IF_ERROR(plans.Get(problems.back(), options).status());
  }
  const MatMulChooser& chooser = ChooserFor(h200);
  Print("a choice, with any workspace",
        [&](size_t i) { (void)chooser.Choose(with[i], h200, RunsOn::kDevice); });
  Print("a choice, without a workspace",
        [&](size_t i) { (void)chooser.Choose(without[i], h200, RunsOn::kDevice); });
  Print("a choice that was made before", [&](size_t i) { (void)ChooseMatMul(with[i], h200); });
  Print("a plan that is found", [&](size_t i) { (void)plans.Get(problems[i], options); });
  return kExitOk;
}

}  // namespace
}  // namespace stridewise

int main(int argc, char** argv) {
  return stridewise::ProgramMain(argc, argv, stridewise::kUsage, stridewise::RunProgram,
                                 stridewise::AxisFlagsOf({&stridewise::MatMulOperation()}));
}
