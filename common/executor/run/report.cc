#include "common/executor/run/report.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "common/executor/trace.h"

namespace stridewise::executor {
namespace {

std::string ExtentText(const Extent3& e) {
  if (e.z > 1) return absl::StrCat(e.x, "x", e.y, "x", e.z);
  return e.y > 1 ? absl::StrCat(e.x, "x", e.y) : absl::StrCat(e.x);
}

std::string Plural(uint64_t count, const char* what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "es");
}

// "12288 req, 4.0 sectors, 100 %", or nothing.
std::string GlobalText(const MemoryCounters& c) {
  if (c.requests == 0) return "-";
  return absl::StrFormat("%d * %.1f (%.0f%%)", c.requests, c.SectorsPerRequest(),
                         100 * c.SectorEfficiency());
}
std::string SharedText(const MemoryCounters& c) {
  if (c.requests == 0) return "-";
  return absl::StrFormat("%d * %.1f", c.requests, c.WavefrontsPerRequest());
}

std::string TimesText(const LaunchSummary& s) {
  if (s.left_out == 0) return absl::StrCat(s.launches);
  return absl::StrCat(s.launches, " of ", s.launches + s.left_out);
}

std::string CsvText(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

// "0-3 7"
std::string OrderText(const LaunchSummary& s) {
  return absl::StrJoin(s.order, " ", [](std::string* to, const std::pair<uint64_t, uint64_t>& run) {
    absl::StrAppend(to, run.first);
    if (run.second > run.first) absl::StrAppend(to, "-", run.second);
  });
}

// The name alone, of "(ns::Kernel<float, 4>)".
absl::string_view BaseName(absl::string_view name) {
  name = name.substr(0, name.find('<'));
  while (!name.empty() && (name.back() == ')' || name.back() == ' ')) name.remove_suffix(1);
  const size_t before = name.find_last_of(":( &*");
  return before == absl::string_view::npos ? name : name.substr(before + 1);
}

}  // namespace

void AddToOrder(uint64_t index, LaunchSummary* summary) {
  auto& order = summary->order;
  if (!order.empty() && order.back().second + 1 == index) {
    order.back().second = index;
  } else {
    order.emplace_back(index, index);
  }
}

bool NamesKernel(absl::string_view name, absl::string_view kernel) {
  return BaseName(name) == BaseName(kernel);
}

std::string PlaceOf(absl::string_view file, int line) {
  const size_t slash = file.rfind('/');
  return absl::StrCat(slash == absl::string_view::npos ? file : file.substr(slash + 1), ":", line);
}

std::string ReportText(const std::vector<LaunchSummary>& summaries, uint64_t findings) {
  uint64_t launches = 0;
  for (const LaunchSummary& s : summaries) launches += s.launches;
  std::string text = absl::StrCat("simt_run: ", Plural(launches, "launch"), ", ", findings,
                                  " finding", findings == 1 ? "" : "s", "\n");
  if (summaries.empty()) return text;
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "at", "grid", "block", "times", "global loads", "global stores", "shared loads",
       "shared stores", "barriers", "divergent", "findings"}};
  for (const LaunchSummary& s : summaries) {
    const Profile& p = s.profile;
    MemoryCounters shared_stores = p.Total(EventKind::kSharedStore);
    shared_stores.Add(p.Total(EventKind::kSharedCopy));
    rows.push_back(
        {s.kernel, s.place, ExtentText(s.grid), ExtentText(s.block), TimesText(s),
         GlobalText(p.Total(EventKind::kGlobalLoad)), GlobalText(p.Total(EventKind::kGlobalStore)),
         SharedText(p.Total(EventKind::kSharedLoad)), SharedText(shared_stores),
         absl::StrCat(p.barriers), absl::StrCat(p.divergent_branches), absl::StrCat(s.findings)});
  }
  std::vector<size_t> widths(rows[0].size(), 0);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    text += " ";
    for (size_t i = 0; i < row.size(); ++i) {
      absl::StrAppend(&text, " ", row[i],
                      i + 1 < row.size() ? std::string(widths[i] - row[i].size() + 1, ' ') : "");
    }
    text += "\n";
  }
  absl::StrAppend(&text,
                  "  (loads and stores: requests of warps, summed over the launches, * sectors or "
                  "wavefronts of each; % of the moved bytes that were asked for; cp.async stores "
                  "too)\n");
  return text;
}

std::string ReportCsv(const std::vector<LaunchSummary>& summaries) {
  std::string text =
      "kernel,at,grid,block,shared_bytes,launches,order,findings,seconds,global_load_requests,"
      "global_load_sectors,global_store_requests,global_store_sectors,global_atomic_requests,"
      "shared_load_requests,shared_load_wavefronts,shared_store_requests,"
      "shared_store_wavefronts,shared_copy_requests,shared_copy_wavefronts,barriers,"
      "divergent_branches\n";
  for (const LaunchSummary& s : summaries) {
    const Profile& p = s.profile;
    const MemoryCounters load = p.Total(EventKind::kGlobalLoad);
    const MemoryCounters store = p.Total(EventKind::kGlobalStore);
    const MemoryCounters shared_load = p.Total(EventKind::kSharedLoad);
    const MemoryCounters shared_store = p.Total(EventKind::kSharedStore);
    const MemoryCounters shared_copy = p.Total(EventKind::kSharedCopy);
    absl::StrAppend(
        &text,
        absl::StrJoin(
            std::vector<std::string>{CsvText(s.kernel),
                                     CsvText(s.place),
                                     ExtentText(s.grid),
                                     ExtentText(s.block),
                                     absl::StrCat(s.shared_bytes),
                                     absl::StrCat(s.launches),
                                     OrderText(s),
                                     absl::StrCat(s.findings),
                                     absl::StrCat(s.seconds),
                                     absl::StrCat(load.requests),
                                     absl::StrCat(load.sectors),
                                     absl::StrCat(store.requests),
                                     absl::StrCat(store.sectors),
                                     absl::StrCat(p.Total(EventKind::kGlobalAtomic).requests),
                                     absl::StrCat(shared_load.requests),
                                     absl::StrCat(shared_load.wavefronts),
                                     absl::StrCat(shared_store.requests),
                                     absl::StrCat(shared_store.wavefronts),
                                     absl::StrCat(shared_copy.requests),
                                     absl::StrCat(shared_copy.wavefronts),
                                     absl::StrCat(p.barriers),
                                     absl::StrCat(p.divergent_branches)},
            ","),
        "\n");
  }
  return text;
}

}  // namespace stridewise::executor
