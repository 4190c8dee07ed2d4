#include "matmul/plan.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/status_macros.h"
#include "common/gpu/argument_checks.h"
#include "common/gpu/device_scope.h"
#include "common/gpu/gpu_runtime.h"
#include "matmul/dispatch.h"
#include "matmul/library_call.h"
#include "matmul/measure_plan.h"
#include "matmul/registry.h"
#include "matmul/row_major.h"

namespace stridewise {
namespace {

constexpr absl::string_view kFirstLine = "stridewise_plans 2";
constexpr absl::string_view kFirstLineWithoutRates = "stridewise_plans 1";
constexpr int64_t kAnyRate = 0;
constexpr int64_t kAlignment = 16;

// Stands for a pointer that is not given yet.
constexpr uintptr_t kAligned = 256;

// What is at multiples of 16 bytes: the first element and, from it, each row and each matrix.
template <typename Operand>
bool IsAligned(const Operand& operand, int64_t batch) {
  const int64_t strides = operand.ld | (batch == 1 ? 0 : operand.stride);
  return reinterpret_cast<uintptr_t>(operand.data) % kAlignment == 0 &&
         strides * ElementBytes(operand.type) % kAlignment == 0;
}

// 0 for FP32.
int TypesOf(const MatMulArgs& args) {
  constexpr int kUnit = 512;
  static_assert(kNumElementTypes <= 16, "a type is 4 bits");
  if (args.a.type == ElementType::kFloat) return kUnit * 256 * static_cast<int>(args.precision);
  const int of_b = args.b.type == args.a.type ? 0 : 8 + static_cast<int>(args.b.type);
  return kUnit * (static_cast<int>(args.a.type) + 16 * static_cast<int>(args.c.type) + 256 * of_b);
}

MatMulPlanKey KeyOf(const MatMulArgs& args, const DeviceModel& device) {
  const int form =
      (args.a.transposed ? 1 : 0) + (args.b.transposed ? 2 : 0) +
      (IsAligned(args.a, args.batch) ? 4 : 0) + (IsAligned(args.b, args.batch) ? 8 : 0) +
      (IsAligned(args.c, args.batch) ? 16 : 0) + (args.batch > 1 && args.a.stride == 0 ? 32 : 0) +
      (args.batch > 1 && args.b.stride == 0 ? 64 : 0) + (args.alpha == 0 ? 128 : 0) +
      (args.beta == 0 ? 256 : 0) + TypesOf(args);
  return {{device.compute_capability, device.multiprocessors, device.memory_gbps, args.m, args.n,
           args.k, args.batch, args.a.ld, args.b.ld, args.c.ld, form}};
}

MatMulPlanKey ForAnyRate(MatMulPlanKey key) {
  key.numbers[MatMulPlanKey::kMemoryRate] = kAnyRate;
  return key;
}

struct HashOfKey {
  size_t operator()(const MatMulPlanKey& key) const {
    uint64_t hash = 0;
    for (const int64_t number : key.numbers) {
      hash = (hash ^ static_cast<uint64_t>(number)) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

// Sets what stands for pointers that are null.
MatMulProblem WithPointers(MatMulProblem problem) {
  void* const some = reinterpret_cast<void*>(kAligned);  // NOLINT(performance-no-int-to-ptr)
  if (problem.a.data == nullptr) problem.a.data = some;
  if (problem.b.data == nullptr) problem.b.data = some;
  if (problem.c.data == nullptr) problem.c.data = some;
  problem.workspace = nullptr;
  problem.workspace_bytes = 0;
  return problem;
}

absl::Status CheckOptions(const MatMulPlanOptions& options) {
  RETURN_IF_ERROR(CheckAtLeast("max_workspace_bytes", options.max_workspace_bytes, 0));
  RETURN_IF_ERROR(CheckAtLeast("candidates", options.candidates, 1));
  RETURN_IF_ERROR(CheckAtLeast("samples", options.samples, 1));
  if (options.planning == MatMulPlanning::kMeasure && options.device_model != nullptr) {
    return absl::InvalidArgumentError(
        "device_model is given; allowed is none where plans are measured");
  }
  return absl::OkStatus();
}

}  // namespace

const std::string& MatMulPlan::kernel() const { return row_->entry->name; }
const MatMulImplementation& MatMulPlan::implementation() const { return *row_->entry; }

absl::StatusOr<MatMulPlan> PlanMatMul(const MatMulProblem& problem,
                                      const MatMulPlanOptions& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  MatMulArgs args;
  RETURN_IF_ERROR(PrepareMatMul(WithPointers(problem), options.stream, &args));
  DeviceScope scope;
  const DeviceModel* device = options.device_model;
  if (device == nullptr) {
    RETURN_IF_ERROR(scope.Enter(problem.device));
    ASSIGN_OR_RETURN(device, gpu::CurrentModel());
  }
  args.device_model = device;
  args.workspace_bytes = options.max_workspace_bytes;
  MatMulPlan plan;
  plan.key_ = KeyOf(args, *device);
  bool uses_workspace = true;
  const bool is_empty = args.m == 0 || args.n == 0 || args.batch == 0;
  // Only of FP32 there are several to measure.
  const bool one_kernel =
      args.a.type != ElementType::kFloat || args.precision != MatMulPrecision::kFp32;
  if (options.planning == MatMulPlanning::kEstimate || is_empty || one_kernel) {
    const MatMulPrediction best = PredictMatMul(args, *device);
    plan.row_ = best.row;
    plan.us_ = best.us;
    uses_workspace = best.uses_workspace;
  } else {
    std::vector<MatMulPrediction> predictions =
        ChooserFor(*device).PredictAll(args, *device, RunsOn::kDevice);
    std::stable_sort(
        predictions.begin(), predictions.end(),
        [](const MatMulPrediction& x, const MatMulPrediction& y) { return x.us < y.us; });
    if (predictions.size() > static_cast<size_t>(options.candidates)) {
      predictions.resize(static_cast<size_t>(options.candidates));
    }
    std::vector<const MatMulImplementation*> candidates;
    for (const MatMulPrediction& prediction : predictions) {
      candidates.push_back(prediction.row->entry);
    }
    ASSIGN_OR_RETURN(const MeasuredMatMul best, FastestMatMul(args, candidates, options.samples));
    plan.row_ = predictions[best.number].row;
    plan.us_ = best.us;
    plan.is_measured_ = true;
  }
  plan.workspace_bytes_ =
      is_empty || !uses_workspace
          ? 0
          : std::min(MatMulWorkspaceBytes(*plan.row_->entry, args), options.max_workspace_bytes);
  return plan;
}

absl::Status MatMul(const MatMulPlan& plan, const MatMulProblem& problem, cudaStream_t stream) {
  MatMulArgs args;
  RETURN_IF_ERROR(PrepareMatMul(problem, stream, &args));
  if (args.m == 0 || args.n == 0 || args.batch == 0) return absl::OkStatus();
  DeviceScope scope;
  RETURN_IF_ERROR(scope.Enter(problem.device));
  ASSIGN_OR_RETURN(args.device_model, gpu::CurrentModel());
  const MatMulPlanKey key = KeyOf(args, *args.device_model);
  if (!(key == plan.key()) && !(ForAnyRate(key) == plan.key())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the plan is of ", absl::StrJoin(plan.key().numbers, " "), ", the problem of ",
        absl::StrJoin(key.numbers, " "),
        " (compute capability, multiprocessors, GB/s, m, n, k, batch, lda, ldb, ldc, form: see "
        "MatMulPlanKey); allowed is the same"));
  }
  // What a text said may be wrong.
  if (!TakesCall(*plan.row_, args, *args.device_model, RunsOn::kDevice)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the plan's kernel, ", plan.kernel(), ", does not take the call"));
  }
  if (plan.workspace_bytes_ == 0) args.workspace_bytes = 0;  // It is slower with one.
  return RunChosenEntry(*plan.row_->entry, args);
}

struct MatMulPlans::State {
  // Adds the plan, or replaces that of the same key. REQUIRES: the mutex is held.
  void Put(const MatMulPlan& plan) {
    const auto [place, is_new] = by_key.emplace(plan.key(), plans.size());
    if (is_new) {
      plans.push_back(plan);
    } else {
      plans[place->second] = plan;
    }
  }

  mutable std::shared_mutex mutex;
  std::vector<MatMulPlan> plans;  // In the order in which they were made.
  std::unordered_map<MatMulPlanKey, size_t, HashOfKey> by_key;
};

MatMulPlans::MatMulPlans() : state_(std::make_unique<State>()) {}
MatMulPlans::~MatMulPlans() = default;

std::optional<MatMulPlan> MatMulPlans::Find(const MatMulProblem& problem,
                                            const MatMulPlanOptions& options) const {
  const MatMulArgs args = RowMajorArgs(WithPointers(problem));
  const DeviceModel* device = options.device_model;
  if (device == nullptr) {
    DeviceScope scope;
    if (!scope.Enter(problem.device).ok()) return std::nullopt;
    const absl::StatusOr<const DeviceModel*> current = gpu::CurrentModel();
    if (!current.ok()) return std::nullopt;
    device = *current;
  }
  const MatMulPlanKey key = KeyOf(args, *device);
  const std::shared_lock<std::shared_mutex> lock(state_->mutex);
  auto found = state_->by_key.find(key);
  if (found == state_->by_key.end()) found = state_->by_key.find(ForAnyRate(key));
  if (found == state_->by_key.end()) return std::nullopt;
  return state_->plans[found->second];
}

void MatMulPlans::Add(const MatMulPlan& plan) {
  const std::unique_lock<std::shared_mutex> lock(state_->mutex);
  state_->Put(plan);
}

absl::StatusOr<MatMulPlan> MatMulPlans::Get(const MatMulProblem& problem,
                                            const MatMulPlanOptions& options) {
  const std::optional<MatMulPlan> found = Find(problem, options);
  if (found.has_value()) return *found;
  ASSIGN_OR_RETURN(const MatMulPlan plan, PlanMatMul(problem, options));
  Add(plan);
  return plan;
}

size_t MatMulPlans::size() const {
  const std::shared_lock<std::shared_mutex> lock(state_->mutex);
  return state_->plans.size();
}

void MatMulPlans::Clear() {
  const std::unique_lock<std::shared_mutex> lock(state_->mutex);
  state_->plans.clear();
  state_->by_key.clear();
}

std::string MatMulPlans::ToText() const {
  const std::shared_lock<std::shared_mutex> lock(state_->mutex);
  std::string text = absl::StrCat(kFirstLine, "\n");
  for (const MatMulPlan& plan : state_->plans) {
    absl::StrAppend(&text, absl::StrJoin(plan.key().numbers, " "), " ", plan.kernel(), " ",
                    plan.workspace_bytes(), " ", plan.is_measured() ? "measured" : "estimated",
                    absl::StrFormat(" %.6g\n", plan.us()));
  }
  return text;
}

absl::Status MatMulPlans::AddText(absl::string_view text) {
  constexpr size_t kNumbers = MatMulPlanKey::kNumbers;
  std::vector<MatMulPlan> plans;
  bool has_rates = true;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    const auto wrong = [&](absl::string_view why) {
      return absl::InvalidArgumentError(absl::StrCat("line ", number, ": ", why));
    };
    if (number == 1) {
      has_rates = line == kFirstLine;
      if (has_rates || line == kFirstLineWithoutRates) continue;
      return wrong(absl::StrCat("not '", kFirstLine, "'"));
    }
    if (line.empty()) continue;
    std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    const size_t expected = kNumbers + 4 - (has_rates ? 0 : 1);
    if (words.size() != expected) {
      return wrong(absl::StrCat("it has ", words.size(), " words; a plan has ", expected));
    }
    if (!has_rates) words.insert(words.begin() + MatMulPlanKey::kMemoryRate, "0");
    MatMulPlan plan;
    for (size_t i = 0; i < kNumbers; ++i) {
      if (!absl::SimpleAtoi(words[i], &plan.key_.numbers[i]) || plan.key_.numbers[i] < 0) {
        return wrong(absl::StrCat("'", words[i], "' is not a number from 0 on"));
      }
    }
    plan.is_measured_ = words[kNumbers + 2] == "measured";
    if (!absl::SimpleAtoi(words[kNumbers + 1], &plan.workspace_bytes_) ||
        plan.workspace_bytes_ < 0 || (!plan.is_measured_ && words[kNumbers + 2] != "estimated") ||
        !absl::SimpleAtod(words[kNumbers + 3], &plan.us_) || !std::isfinite(plan.us_) ||
        plan.us_ < 0) {
      return wrong("a kernel is followed by bytes, measured or estimated, and microseconds");
    }
    // Only kernels that `auto` may choose: a plan must not run one that does not take its call.
    for (const MatMulDispatch& row : MatMulDispatchTable()) {
      if (words[kNumbers] == row.implementation) plan.row_ = &row;
    }
    if (plan.row_ != nullptr) plans.push_back(plan);
  }
  const std::unique_lock<std::shared_mutex> lock(state_->mutex);
  for (const MatMulPlan& plan : plans) state_->Put(plan);
  return absl::OkStatus();
}

}  // namespace stridewise
