#include "benchmarks/tuning/block_searcher.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/harness/interrupt.h"
#include "common/base/progress.h"
#include "common/base/status_macros.h"

namespace stridewise {
namespace {

constexpr int kFirstRoundSamples = 5;
constexpr double kFirstRoundWarmupSeconds = 0.05;  // The round itself keeps the clock up.
constexpr double kFirstRoundMargin = 1.2;          // Slower than this times the best: pruned.

// The median kernel time of a row that is ok.
std::optional<double> OkMs(const ResultRow& row) {
  double ms = 0;
  if (!HasStatus(row, RowStatus::kOk) || !absl::SimpleAtod(row.Get(Column::kKernelMsMedian), &ms)) {
    return std::nullopt;
  }
  return ms;
}

bool IsDefaultBlock(const Config& config) {
  const Block& block = config.implementation->default_block;
  return config.block.x == block.x && config.block.y == block.y;
}

std::string GroupText(const Config& config) {
  return absl::StrCat(config.implementation->name, " ", config.point.type, " ", ShapeText(config));
}

}  // namespace

BlockSearcher::BlockSearcher(const SweepOptions* options, const Machine* machine, const Peer* peer,
                             Sweep* sweep)
    : options_(*options), machine_(*machine), sweep_(*sweep), runner_(options, machine) {
  row_options_.peer = peer;
}

absl::Status BlockSearcher::Run(const BlockSearchGroup& group) {
  Rows known = RowsInFile(group);
  const Rows first = FirstRound(group, known);
  std::optional<double> best;
  known.insert(first.begin(), first.end());
  for (const auto& [key, row] : known) {
    const std::optional<double> ms = OkMs(row);
    if (ms.has_value()) best = std::min(best.value_or(*ms), *ms);
  }
  for (const Config& config : group) {
    if (Interrupted()) break;
    ResultRow row = runner_.Describe(config);
    const auto quick = first.find(RowKey(row));
    RETURN_IF_ERROR(sweep_.Run(row, [&](ResultRow* result) {
      if (quick == first.end()) return;  // Ctrl-C came before it was its turn.
      *result = quick->second;
      const std::optional<double> ms = OkMs(quick->second);
      if (!ms.has_value()) return;  // More samples would not help.
      *result = row;
      if (*ms > kFirstRoundMargin * *best && !IsDefaultBlock(config)) {
        machine_.Describe(/*device_row=*/true, result);
        result->SetStatus(
            RowStatus::kSkipped,
            absl::StrFormat("pruned: %.4g ms in the first round, the best %.4g ms", *ms, *best));
        return;
      }
      runner_.Measure(config, row_options_, result);
    }));
  }
  return absl::OkStatus();
}

std::string BlockSearcher::Conclusion(const BlockSearchGroup& group) const {
  const Config* best = nullptr;
  std::optional<double> best_ms, default_ms;
  int measured = 0;
  int pruned = 0;
  const Rows rows = RowsInFile(group);
  for (const Config& config : group) {
    const auto row = rows.find(RowKey(runner_.Describe(config)));
    if (row == rows.end()) continue;
    pruned += HasStatus(row->second, RowStatus::kSkipped) ? 1 : 0;
    const std::optional<double> ms = OkMs(row->second);
    if (!ms.has_value()) continue;
    ++measured;
    if (IsDefaultBlock(config)) default_ms = ms;
    if (best_ms.has_value() && *ms >= *best_ms) continue;
    best = &config;
    best_ms = ms;
  }
  if (best == nullptr) return "";
  std::string text = absl::StrFormat("%s: best is %dx%d, %.4g ms", GroupText(*best), best->block.x,
                                     best->block.y, *best_ms);
  if (default_ms.has_value()) {
    const Block& block = best->implementation->default_block;
    absl::StrAppendFormat(&text, ", %.3f times as fast as the default %dx%d",
                          *default_ms / *best_ms, block.x, block.y);
  }
  absl::StrAppendFormat(&text, "; of %d blocks %d measured in full, %d pruned\n", group.size(),
                        measured, pruned);
  return text;
}

BlockSearcher::Rows BlockSearcher::RowsInFile(const BlockSearchGroup& group) const {
  Rows all, rows;
  for (const ResultRow& row : sweep_.rows()) all.emplace(RowKey(row), row);
  for (const Config& config : group) {
    const auto found = all.find(RowKey(runner_.Describe(config)));
    if (found != all.end()) rows.insert(*found);
  }
  return rows;
}

BlockSearcher::Rows BlockSearcher::FirstRound(const BlockSearchGroup& group, const Rows& known) {
  SweepOptions options = options_;
  options.verify = VerifyMode::kOff;  // What can win is verified when it is measured in full.
  options.sampling.min_samples = kFirstRoundSamples;
  options.sampling.max_samples = kFirstRoundSamples;
  options.sampling.max_warmup_seconds = kFirstRoundWarmupSeconds;
  Runner runner(&options, &machine_);
  Progress progress(static_cast<int>(group.size()), isatty(STDERR_FILENO) != 0, &std::cerr,
                    &clock_);
  Rows rows;
  for (const Config& config : group) {
    if (Interrupted()) break;
    ResultRow row = runner.Describe(config);
    const std::string key = RowKey(row);
    if (known.count(key) == 1) {
      progress.Skip();
      continue;
    }
    progress.Start(absl::StrCat("first round, ", GroupText(config), ", block ", config.block.x, "x",
                                config.block.y));
    runner.Measure(config, row_options_, &row);
    rows.emplace(key, row);
  }
  return rows;
}

}  // namespace stridewise
