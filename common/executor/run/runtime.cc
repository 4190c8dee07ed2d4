#include "common/executor/run/runtime.h"

#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>

#include "absl/strings/numbers.h"
#include "common/executor/run/device_variables.h"
#include "common/executor/run/math_tables.h"
#include "common/executor/symbolizer.h"

namespace stridewise::executor {
namespace {

constexpr int kExitWithFindings = 3;
constexpr int kExitOutOfTime = 4;
constexpr int kMultiprocessors = 132;  // Of an H200.

// simt_run's flags come to the program in its environment.
int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  int64_t value = otherwise;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

// When the program ends, by return or by exit().
void AtExit(int /*status*/, void*) {
  std::fflush(nullptr);
  std::cout.flush();
  if (Runtime::Get().Finish() > 0) _exit(kExitWithFindings);
}

}  // namespace

Runtime& Runtime::Get() {
  static auto* const runtime = new Runtime();
  return *runtime;
}

Runtime::Runtime() {
  ExecutorOptions options;
  options.threads = static_cast<int>(FromEnvironment("SIMT_RUN_THREADS", 0));
  options.schedule_seed = static_cast<uint64_t>(FromEnvironment("SIMT_RUN_SEED", 0));
  options.check = FromEnvironment("SIMT_RUN_CHECK", 1) != 0;
  options.end_at_max_findings = false;
  options.profile = FromEnvironment("SIMT_RUN_PROFILE", 1) != 0;
  multiprocessors_ =
      static_cast<int>(FromEnvironment("SIMT_RUN_MULTIPROCESSORS", kMultiprocessors));
  max_repeats_ = FromEnvironment("SIMT_RUN_MAX_REPEATS", 0);
  auto executor = Executor::Create(options);
  if (!executor.ok()) {
    std::fprintf(stderr, "simt_run: %s\n", std::string(executor.status().message()).c_str());
    _exit(1);
  }
  executor_ = *std::move(executor);
  for (const DeviceVariable& variable : DeviceVariablesOfProgram()) {
    // The rewriter aligns each to 256 bytes.
    auto region = executor_->memory().Adopt(variable.name, variable.address, variable.bytes,
                                            (variable.bytes + 255) / 256 * 256);
    if (!region.ok()) continue;
    (*region)->constant = (*region)->read_only = variable.constant;
  }
  for (const MathTable& table : MathTables()) {
    auto region = executor_->memory().Adopt(table.name, reinterpret_cast<uintptr_t>(table.address),
                                            table.bytes, table.bytes);
    if (region.ok()) (*region)->read_only = true;
  }
  on_exit(AtExit, nullptr);
  if (const int64_t limit = FromEnvironment("SIMT_RUN_MAX_CPU_SECONDS", 0); limit > 0) {
    std::thread([this, limit] { StopInTime(limit); }).detach();
  }
}

void Runtime::StopInTime(int64_t cpu_seconds) {
  timespec used{};
  while (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0 && used.tv_sec < cpu_seconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  const std::lock_guard<std::mutex> lock(report_mutex_);
  std::fflush(stdout);
  std::fprintf(stderr, "simt_run: stopped after %lld s of CPU time%s\n",
               static_cast<long long>(cpu_seconds), running_.c_str());
  _exit(Finish() > 0 ? kExitWithFindings : kExitOutOfTime);
}

void Runtime::CalledAsFunction(uintptr_t pc) {
  std::fprintf(stderr,
               "simt_run: a kernel is called without <<<...>>>: it runs on the host at %s\n",
               SymbolizeCalls({pc}).front().ToString().c_str());
  ++findings_;
  std::exit(kExitWithFindings);  // The kernel cannot go on; the report follows.
}

uint64_t Runtime::Finish() {
  if (FromEnvironment("SIMT_RUN_REPORT", 1) != 0 || findings_ > 0) {
    std::fputs(ReportText(summaries_, findings_).c_str(), stderr);
  }
  if (const char* csv = std::getenv("SIMT_RUN_CSV")) std::ofstream(csv) << ReportCsv(summaries_);
  return findings_;
}

}  // namespace stridewise::executor

// A kernel that is called as a function: nvcc's would not run. Called by hooks.cc.
extern "C" [[noreturn]] void simt_not_in_kernel(uintptr_t pc) {
  stridewise::executor::Runtime::Get().CalledAsFunction(pc);
}

// An assertion of host code, which ends the program: with what its kernels did.
extern "C" void simt_program_fails() {
  std::fflush(stdout);
  stridewise::executor::Runtime::Get().Finish();
}
