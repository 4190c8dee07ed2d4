#include "benchmarks/harness/limits.h"

#include <algorithm>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/harness/row_comparison.h"
#include "common/base/status_macros.h"
#include "common/base/table.h"

namespace stridewise {
namespace {

// Returns the last correct row of the implementation for the configuration's problem that was
// measured under the conditions of `like`, where there is one. Null for none.
const ResultRow* FindRow(absl::Span<const ResultRow> rows, const Config& config,
                         absl::string_view implementation, const ResultRow* like) {
  ResultRow problem;
  SetProblemColumns(*config.operation, config.point, &problem);
  const ResultRow* found = nullptr;
  for (const ResultRow& row : rows) {
    if (row.Get(Column::kImplementation) != implementation || !IsOk(row)) continue;
    problem.Set(Column::kOperation, row.Get(Column::kOperation));  // A peer may be a copy.
    if (!SameProblem(row, problem)) continue;
    if (like != nullptr && (row.Get(Column::kL2) != like->Get(Column::kL2) ||
                            row.Get(Column::kHostMemory) != like->Get(Column::kHostMemory))) {
      continue;
    }
    found = &row;
  }
  return found;
}

// Returns the speed of the row over the peer's of that name; see JudgeLimits().
std::optional<double> RatioTo(absl::string_view name, const ResultRow& row, const Config& config,
                              absl::Span<const ResultRow> rows) {
  const Operation& operation = *config.operation;
  if (name == kPeakPeer) {
    const std::optional<double> percent = Number(row, Column::kPctOfPeak);
    return percent.has_value() ? std::optional<double>(*percent / 100) : std::nullopt;
  }
  if (const Peer* peer = operation.FindPeer(name)) {
    const std::optional<double> paired = Number(row, peer->column);
    if (paired.has_value()) return *paired / peer->scale;
  }
  const ResultRow* other = FindRow(rows, config, name, &row);
  if (other == nullptr) return std::nullopt;
  for (const Peer& third : operation.peers()) {
    const std::optional<double> own_ratio = Number(row, third.column);
    const std::optional<double> its_ratio = Number(*other, third.column);
    if (own_ratio.has_value() && its_ratio.value_or(0) > 0) return *own_ratio / *its_ratio;
  }
  return std::nullopt;
}

LimitVerdict JudgeOne(const Limit& limit, const Config& config, absl::Span<const ResultRow> rows) {
  LimitVerdict verdict = {&limit, config, {}, Verdict::kPass, ""};
  const ResultRow* row = FindRow(rows, config, config.implementation->name, nullptr);
  if (row != nullptr) verdict.git_commit = row->Get(Column::kGitCommit);
  for (const Floor& floor : limit.floors) {
    verdict.ratios.push_back(row == nullptr ? std::nullopt
                                            : RatioTo(floor.peer, *row, config, rows));
  }
  for (size_t i = 0; i < limit.floors.size(); ++i) {
    const std::optional<double>& ratio = verdict.ratios[i];
    if (!ratio.has_value() && verdict.verdict == Verdict::kPass) {
      verdict.verdict = Verdict::kNotMeasured;
    }
    // NaN fails.
    if (ratio.has_value() && !(*ratio >= limit.floors[i].floor)) verdict.verdict = Verdict::kFail;
  }
  return verdict;
}

// The peers of all limits of a preset, in the order in which they are first named.
struct PeerColumns {
  std::string name;
  bool has_aim = false;
};

std::vector<PeerColumns> PeersOf(const Operation& operation, absl::string_view preset) {
  std::vector<PeerColumns> peers;
  for (const Limit& limit : operation.limits()) {
    if (preset != limit.preset) continue;
    for (const Floor& floor : limit.floors) {
      auto peer = std::find_if(peers.begin(), peers.end(),
                               [&](const PeerColumns& p) { return p.name == floor.peer; });
      if (peer == peers.end()) peer = peers.insert(peers.end(), {floor.peer, false});
      peer->has_aim = peer->has_aim || floor.aim > 0;
    }
  }
  return peers;
}

std::string LimitText(double limit) { return limit > 0 ? absl::StrCat(limit) : ""; }

// Appends the ratio, its floor and, where any limit has one, its aim.
void AppendRatio(const PeerColumns& peer, const LimitVerdict& v, std::vector<std::string>* cells) {
  const auto& floors = v.limit->floors;
  const auto floor = std::find_if(floors.begin(), floors.end(),
                                  [&](const Floor& f) { return peer.name == f.peer; });
  const bool has = floor != floors.end();
  const std::optional<double> ratio =
      has ? v.ratios[static_cast<size_t>(floor - floors.begin())] : std::nullopt;
  cells->push_back(ratio.has_value() ? absl::StrFormat("%.4f", *ratio) : "");
  cells->push_back(has ? LimitText(floor->floor) : "");
  if (peer.has_aim) cells->push_back(has ? LimitText(floor->aim) : "");
}

// Returns the cells that both the table and the file have behind the problem.
std::vector<std::string> Outcome(const Operation& operation, const LimitVerdict& verdict) {
  std::vector<std::string> cells;
  for (const PeerColumns& peer : PeersOf(operation, verdict.limit->preset)) {
    AppendRatio(peer, verdict, &cells);
  }
  cells.emplace_back(VerdictName(verdict.verdict));
  return cells;
}

void Append(const std::vector<std::string>& more, std::vector<std::string>* cells) {
  cells->insert(cells->end(), more.begin(), more.end());
}

}  // namespace

const char* VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "pass";
    case Verdict::kFail:
      return "FAIL";
    case Verdict::kNotMeasured:
      break;
  }
  return "";
}

absl::StatusOr<std::vector<LimitVerdict>> JudgeLimits(const Operation& operation,
                                                      absl::Span<const ResultRow> rows,
                                                      absl::string_view preset_name) {
  std::vector<LimitVerdict> verdicts;
  for (const Limit& limit : operation.limits()) {
    if (preset_name != limit.preset) continue;
    Preset preset;
    preset.name = limit.name;
    preset.selections = {limit.selection};
    ASSIGN_OR_RETURN(const std::vector<Config> plan, MakePlan(operation, preset, {}));
    for (const Config& config : plan) verdicts.push_back(JudgeOne(limit, config, rows));
  }
  return verdicts;
}

std::string LimitTable(const Operation& operation, absl::Span<const LimitVerdict> verdicts,
                       absl::string_view preset) {
  std::vector<TableColumn> columns = {
      {"case", 24, false}, {"shape", 17, false}, {"type", 6, false}, {"batch", 6, true}};
  for (const Axis& axis : operation.axes()) {
    columns.push_back({std::string(ColumnName(axis.column)), 6, false});
  }
  for (const PeerColumns& peer : PeersOf(operation, preset)) {
    columns.push_back(
        {"vs " + peer.name, std::max<int>(9, static_cast<int>(peer.name.size()) + 3), true});
    columns.push_back({"floor", 5, true});
    if (peer.has_aim) columns.push_back({"aim", 5, true});
  }
  columns.push_back({"verdict", 7, false});
  std::ostringstream text;
  Table table(columns, &text);
  table.PrintHeader();
  int counts[3] = {};
  for (const LimitVerdict& v : verdicts) {
    ++counts[static_cast<int>(v.verdict)];
    std::vector<std::string> cells = {v.limit->name, ShapeText(v.config), v.config.point.type,
                                      absl::StrCat(v.config.point.batch)};
    Append(v.config.point.axes, &cells);
    Append(Outcome(operation, v), &cells);
    std::replace(cells.begin(), cells.end(), std::string(), std::string("-"));
    table.PrintRow(cells);
  }
  return absl::StrCat("\n", text.str(), "limits: ", counts[0], " passed, ", counts[1], " failed, ",
                      counts[2], " not measured\n");
}

std::vector<std::vector<std::string>> LimitRecords(const Operation& operation,
                                                   absl::Span<const LimitVerdict> verdicts,
                                                   absl::string_view preset) {
  std::vector<std::string> header = {"case", "implementation"};
  for (const Column column : operation.extent_columns()) header.emplace_back(ColumnName(column));
  header.emplace_back("dtype");
  for (const Axis& axis : operation.axes()) header.emplace_back(ColumnName(axis.column));
  header.emplace_back("batch");
  bool first = true;
  for (const PeerColumns& peer : PeersOf(operation, preset)) {
    header.push_back("ratio_to_" + peer.name);
    header.push_back(first ? "floor" : "floor_vs_" + peer.name);
    if (peer.has_aim) header.push_back(first ? "aim" : "aim_vs_" + peer.name);
    first = false;
  }
  header.emplace_back("verdict");
  header.emplace_back("git_commit");
  std::vector<std::vector<std::string>> records = {header};
  for (const LimitVerdict& v : verdicts) {
    const Point& point = v.config.point;
    std::vector<std::string> record = {v.limit->name, v.config.implementation->name};
    for (const int64_t extent : point.extents) record.push_back(absl::StrCat(extent));
    record.push_back(point.type);
    Append(point.axes, &record);
    record.push_back(absl::StrCat(point.batch));
    Append(Outcome(operation, v), &record);
    record.push_back(v.git_commit);
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace stridewise
