// Plans that are kept by what they are for, and written as text.

#include <cmath>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/status_macros.h"
#include "common/gpu/device_scope.h"
#include "common/gpu/gpu_runtime.h"
#include "matmul/dispatch.h"
#include "matmul/plan.h"
#include "matmul/plan_key.h"
#include "matmul/row_major.h"

namespace stridewise {
namespace {

constexpr absl::string_view kFirstLine = "stridewise_plans 2";
constexpr absl::string_view kFirstLineWithoutRates = "stridewise_plans 1";

}  // namespace

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
  std::unordered_map<MatMulPlanKey, size_t, HashOfPlanKey> by_key;
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
