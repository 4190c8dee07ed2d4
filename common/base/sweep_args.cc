#include "common/base/sweep_args.h"

#include <fnmatch.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"

namespace stridewise {
namespace {

std::vector<absl::string_view> SplitList(absl::string_view text) {
  std::vector<absl::string_view> items = absl::StrSplit(text, ',');
  for (absl::string_view& item : items) item = absl::StripAsciiWhitespace(item);
  return items;
}

// Digits only: no sign, no blank, no exponent.
std::optional<int64_t> ParseNumber(absl::string_view text, int64_t min, int64_t max) {
  int64_t value;
  if (!std::all_of(text.begin(), text.end(), absl::ascii_isdigit) ||
      !absl::SimpleAtoi(text, &value) || value < min || value > max) {
    return std::nullopt;
  }
  return value;
}

// Appends the sizes that one item stands for.
absl::Status AppendSizes(absl::string_view flag, absl::string_view item,
                         std::vector<int64_t>* sizes) {
  const std::string kWant = absl::StrCat(
      "N, FIRST:LAST:STEP or FIRST:LAST:*FACTOR with whole numbers from 0 to ", kMaxSize);
  const std::vector<absl::string_view> parts = absl::StrSplit(item, ':');
  if (parts.size() != 1 && parts.size() != 3) return RefuseValue(flag, item, kWant);
  const std::optional<int64_t> first = ParseNumber(parts.front(), 0, kMaxSize);
  if (!first.has_value()) return RefuseValue(flag, item, kWant);
  if (parts.size() == 1) {
    sizes->push_back(*first);
    return absl::OkStatus();
  }

  const std::optional<int64_t> last = ParseNumber(parts[1], 0, kMaxSize);
  absl::string_view step_text = parts[2];
  const bool multiply = absl::ConsumePrefix(&step_text, "*");
  const std::optional<int64_t> step = ParseNumber(step_text, 0, kMaxSize);
  if (!last.has_value() || !step.has_value()) return RefuseValue(flag, item, kWant);
  if (*first > *last)
    return RefuseValue(flag, item, "a range whose first size is not above its last");
  if (multiply && *step < 2) return RefuseValue(flag, item, "a range whose factor is 2 or more");
  if (multiply && *first == 0)
    return RefuseValue(flag, item, "a range whose first size is above 0, as multiples of 0 are 0");
  if (*step < 1) return RefuseValue(flag, item, "a range whose step is 1 or more");

  for (int64_t size = *first; size <= *last; size = multiply ? size * *step : size + *step) {
    if (static_cast<int64_t>(sizes->size()) > kMaxItems) break;  // The caller says so.
    sizes->push_back(size);
  }
  return absl::OkStatus();
}

absl::Status CheckCount(absl::string_view flag, size_t count) {
  if (static_cast<int64_t>(count) <= kMaxItems) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(flag, ": more than ", kMaxItems, " items in the list"));
}

template <typename T>
std::vector<T> WithoutRepeats(const std::vector<T>& items) {
  std::vector<T> result;
  std::set<T> seen;
  for (const T& item : items) {
    if (seen.insert(item).second) result.push_back(item);
  }
  return result;
}

using Extents = std::vector<int64_t>;

// Parses a list of shapes of `dimensions` >= 2 extents with an x between them.
absl::StatusOr<std::vector<Extents>> ParseExtentLists(absl::string_view flag,
                                                      absl::string_view text, size_t dimensions,
                                                      int64_t min, int64_t max, int64_t max_product,
                                                      absl::string_view want) {
  std::vector<Extents> shapes;
  for (absl::string_view item : SplitList(text)) {
    Extents shape;
    for (absl::string_view part : absl::StrSplit(item, absl::ByAnyChar("xX"))) {
      const std::optional<int64_t> extent = ParseNumber(part, min, max);
      if (!extent.has_value()) return RefuseValue(flag, item, want);
      shape.push_back(*extent);
    }
    if (shape.size() != dimensions) return RefuseValue(flag, item, want);
    Extents sorted = shape;
    std::sort(sorted.rbegin(), sorted.rend());
    if (sorted[0] * sorted[1] > max_product) return RefuseValue(flag, item, want);
    shapes.push_back(std::move(shape));
  }
  RETURN_IF_ERROR(CheckCount(flag, shapes.size()));
  return WithoutRepeats(shapes);
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> ParseSizes(absl::string_view flag, absl::string_view text) {
  std::vector<int64_t> sizes;
  for (absl::string_view item : SplitList(text)) {
    RETURN_IF_ERROR(AppendSizes(flag, item, &sizes));
    RETURN_IF_ERROR(CheckCount(flag, sizes.size()));
  }
  return WithoutRepeats(sizes);
}

absl::StatusOr<std::vector<Extents>> ParseExtents(absl::string_view flag, absl::string_view text,
                                                  int dimensions) {
  if (dimensions == 1) {
    ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, ParseSizes(flag, text));
    std::vector<Extents> shapes;
    for (const int64_t size : sizes) shapes.push_back({size});
    return shapes;
  }
  const std::string form = dimensions == 2 ? "ROWSxCOLS"
                           : dimensions == 3
                               ? "MxNxK"
                               : absl::StrCat(dimensions, " extents, x between them,");
  return ParseExtentLists(flag, text, static_cast<size_t>(dimensions), 0, kMaxExtent, kMaxElements,
                          absl::StrCat(form, " with extents from 0 to ", kMaxExtent,
                                       " and matrices of at most ", kMaxElements, " elements"));
}

std::string ShapeText(absl::Span<const int64_t> extents) { return absl::StrJoin(extents, "x"); }

absl::StatusOr<std::vector<Shape3>> ParseShapes(absl::string_view flag, absl::string_view text) {
  ASSIGN_OR_RETURN(const std::vector<Extents> shapes, ParseExtents(flag, text, 3));
  std::vector<Shape3> result;
  for (const Extents& shape : shapes) result.push_back({shape[0], shape[1], shape[2]});
  return result;
}

absl::StatusOr<std::vector<Shape2>> ParseShapes2(absl::string_view flag, absl::string_view text) {
  ASSIGN_OR_RETURN(const std::vector<Extents> shapes, ParseExtents(flag, text, 2));
  std::vector<Shape2> result;
  for (const Extents& shape : shapes) result.push_back({shape[0], shape[1]});
  return result;
}

absl::StatusOr<std::vector<BlockShape>> ParseBlocks(absl::string_view flag,
                                                    absl::string_view text) {
  ASSIGN_OR_RETURN(const std::vector<Extents> shapes,
                   ParseExtentLists(flag, text, 2, 1, 1024, 1024,
                                    "XxY with 1 to 1024 threads each way and at most 1024 in all"));
  std::vector<BlockShape> result;
  for (const Extents& shape : shapes) {
    result.push_back({static_cast<int>(shape[0]), static_cast<int>(shape[1])});
  }
  return result;
}

absl::StatusOr<int64_t> ParseBatch(absl::string_view flag, absl::string_view text) {
  const std::optional<int64_t> batch = ParseNumber(text, 1, kMaxExtent);
  if (batch.has_value()) return *batch;
  return RefuseValue(flag, text, absl::StrCat("a whole number from 1 to ", kMaxExtent));
}

absl::StatusOr<Shard> ParseShard(absl::string_view flag, absl::string_view text) {
  constexpr int64_t kMostShards = 1000000;
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits('/', 1));
  const std::optional<int64_t> count = ParseNumber(parts.second, 1, kMostShards);
  const std::optional<int64_t> index = ParseNumber(parts.first, 1, count.value_or(1));
  if (count.has_value() && index.has_value()) return Shard{*index, *count};
  return RefuseValue(flag, text, absl::StrCat("I/N with 1 <= I <= N <= ", kMostShards));
}

absl::StatusOr<std::vector<size_t>> SelectByGlob(absl::string_view flag, absl::string_view patterns,
                                                 const std::vector<std::string>& available_names) {
  const bool all = absl::StripAsciiWhitespace(patterns).empty();
  std::set<size_t> selected;
  for (absl::string_view pattern : SplitList(all ? "*" : patterns)) {
    const std::string glob(pattern);
    bool matches = all;
    for (size_t i = 0; i < available_names.size(); ++i) {
      const std::string& name = available_names[i];
      if (name != glob && fnmatch(glob.c_str(), name.c_str(), 0) != 0) continue;
      selected.insert(i);
      matches = true;
    }
    if (!matches) {
      return RefuseValue(flag, pattern,
                         absl::StrCat("names and globs of ",
                                      absl::StrJoin(WithoutRepeats(available_names), ", ")));
    }
  }
  return std::vector<size_t>(selected.begin(), selected.end());
}

absl::string_view L2ModeName(L2Mode mode) { return mode == L2Mode::kCold ? "cold" : "hot"; }

absl::StatusOr<L2Mode> ParseL2Mode(absl::string_view flag, absl::string_view text) {
  for (const L2Mode mode : {L2Mode::kCold, L2Mode::kHot}) {
    if (text == L2ModeName(mode)) return mode;
  }
  return RefuseValue(flag, text, "cold or hot");
}

absl::string_view VerifyModeName(VerifyMode mode) {
  return mode == VerifyMode::kFull ? "full" : mode == VerifyMode::kFast ? "fast" : "off";
}

absl::StatusOr<VerifyMode> ParseVerifyMode(absl::string_view flag, absl::string_view text) {
  for (const VerifyMode mode : {VerifyMode::kFull, VerifyMode::kFast, VerifyMode::kOff}) {
    if (text == VerifyModeName(mode)) return mode;
  }
  return RefuseValue(flag, text, "full, fast or off");
}

}  // namespace stridewise
