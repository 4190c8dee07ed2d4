// Makes random calls of cuBLAS twice, through the drop-in and directly, compares the results, and
// writes a row for each call to a CSV.
//
//   drop_in_calls --calls=1000 --samples=5 --csv=calls.csv

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "bindings/cublas/offer.h"
#include "bindings/cublas/record.h"
#include "bindings/cublas/test/call_runner.h"
#include "bindings/cublas/test/random_calls.h"
#include "common/gpu/device_model.h"
#include "common/gpu/gpu_runtime.h"

ABSL_FLAG(int, calls, 1000, "The number of random calls.");
ABSL_FLAG(int, samples, 0,
          "How often each call is timed, in turn with the real one; 0: not at all.");
ABSL_FLAG(int, settle, 0,
          "How often each call is made before: with STRIDEWISE_CUBLAS=measure, 8 times decide.");
ABSL_FLAG(double, most_gflop, 50, "The most that a call computes.");
ABSL_FLAG(double, least_gflop, 0, "The least: most random calls are small.");
ABSL_FLAG(bool, plain, false,
          "Draw products as most programs make them: multiples of 8, without gaps, alpha of 1.");
ABSL_FLAG(uint32_t, seed, 1, "Of the calls and of the operands.");
ABSL_FLAG(int, threads, 1, "The calls are made by this number of threads, each with its streams.");
ABSL_FLAG(std::string, csv, "", "Where a row for each call is written to; empty: nowhere.");

namespace stridewise::drop_in {
namespace {

// What the threads write to.
struct Results {
  std::mutex mutex;
  std::ofstream csv;
  double worst = 0;
  int wrong = 0;
  bool failed = false;
};

void WriteRow(const RandomCall& call, const CallResult& result, std::ostream& csv) {
  const absl::StatusOr<const DeviceModel*> device = gpu::CurrentModel();
  const ProductPlan plan = device.ok() ? PlanOf(call, **device) : ProductPlan();
  csv << FunctionName(call.function) << ',' << (call.transpose_a ? 't' : 'n')
      << (call.transpose_b ? 't' : 'n') << ',' << call.m << ',' << call.n << ',' << call.k << ','
      << call.batch << ',' << call.lda << ',' << call.ldb << ',' << call.ldc << ',' << call.stride_a
      << ',' << call.stride_b << ',' << call.offset_a << ',' << call.offset_b << ',' << call.alpha
      << ',' << call.beta << ',' << result.error_over_bound << ',' << result.ours_us << ','
      << result.real_us << ',' << plan.kernel << ',' << plan.us << '\n';
}

// Makes one thread's calls, every eighth captured into a graph unless they are timed.
absl::Status MakeCalls(uint32_t seed, int calls, Results& results) {
  absl::StatusOr<std::unique_ptr<CallRunner>> runner = CallRunner::Create(seed);
  if (!runner.ok()) return runner.status();
  std::mt19937_64 random(seed);
  const int samples = absl::GetFlag(FLAGS_samples);
  const CallKinds kinds = {1e9 * absl::GetFlag(FLAGS_most_gflop),
                           1e9 * absl::GetFlag(FLAGS_least_gflop), absl::GetFlag(FLAGS_plain)};
  for (int i = 0; i < calls; ++i) {
    const RandomCall call = DrawCall(random, kinds);
    const bool captured = samples == 0 && i % 8 == 7;
    const absl::StatusOr<CallResult> result =
        captured ? (*runner)->RunCaptured(call)
                 : (*runner)->Run(call, samples, absl::GetFlag(FLAGS_settle));
    if (!result.ok()) return result.status();
    const std::lock_guard<std::mutex> lock(results.mutex);
    results.worst = std::max(results.worst, result->error_over_bound);
    if (!(result->error_over_bound <= 1)) {
      ++results.wrong;
      std::cerr << "call " << i << " of seed " << seed << (captured ? ", captured: " : ": ");
      WriteRow(call, *result, std::cerr);
    }
    WriteRow(call, *result, results.csv);
  }
  return absl::OkStatus();
}

int Main() {
  Results results;
  const std::string path = absl::GetFlag(FLAGS_csv);
  if (!path.empty()) results.csv.open(path);
  results.csv << "function,ops,m,n,k,batch,lda,ldb,ldc,stride_a,stride_b,offset_a,offset_b,alpha,"
                 "beta,error_over_bound,ours_us,cublas_us,kernel,predicted_us\n";
  const int threads = absl::GetFlag(FLAGS_threads);
  const int calls = absl::GetFlag(FLAGS_calls);
  std::vector<std::thread> running;
  for (int thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      const absl::Status status = MakeCalls(
          absl::GetFlag(FLAGS_seed) + static_cast<uint32_t>(thread), calls / threads, results);
      if (status.ok()) return;
      const std::lock_guard<std::mutex> lock(results.mutex);
      std::cerr << status << "\n";
      results.failed = true;
    });
  }
  for (std::thread& thread : running) thread.join();
  std::cout << calls << " calls, " << results.wrong << " wrong, largest difference "
            << results.worst << " of the bound\n"
            << Summary();
  return results.wrong > 0 || results.failed ? 1 : 0;
}

}  // namespace
}  // namespace stridewise::drop_in

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  return stridewise::drop_in::Main();
}
