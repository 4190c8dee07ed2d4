#include "common/base/flag_parsing.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/reflection.h"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"

namespace stridewise {
namespace {

constexpr size_t kHelpColumns = 100;

// Returns the number of insertions, deletions and replacements that turn `a` into `b`.
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

using FlagsByName = std::map<std::string, absl::CommandLineFlag*>;

FlagsByName AllFlags(absl::Span<const std::string> without) {
  FlagsByName flags;
  for (const auto& [name, flag] : absl::GetAllFlags()) flags.emplace(std::string(name), flag);
  for (const std::string& name : without) flags.erase(name);
  return flags;
}

absl::CommandLineFlag* Find(const FlagsByName& flags, absl::string_view name) {
  const auto found = flags.find(std::string(name));
  return found == flags.end() ? nullptr : found->second;
}

absl::Status UnknownFlag(const FlagsByName& flags, absl::string_view name) {
  // A third of the letters may be wrong, and at least one.
  size_t best = std::max<size_t>(1, name.size() / 3) + 1;
  std::string nearest;
  if (name.size() < 100) {
    for (const auto& [known, flag] : flags) {
      const size_t distance = EditDistance(name, known);
      if (distance >= best) continue;
      best = distance;
      nearest = absl::StrCat("; did you mean --", known, "?");
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown flag --", absl::CHexEscape(name), nearest));
}

// Returns what values of the flag's type look like.
absl::string_view AllowedFor(const absl::CommandLineFlag& flag) {
  if (flag.IsOfType<bool>()) return "true or false";
  if (flag.IsOfType<double>()) return "a number";
  if (flag.IsOfType<uint64_t>()) return "a whole number from 0 to 18446744073709551615";
  if (flag.IsOfType<int>()) return "a whole number from -2147483648 to 2147483647";
  return "a whole number";
}

absl::Status SetFlag(absl::CommandLineFlag* flag, absl::string_view value) {
  std::string error;
  if (flag->ParseFrom(value, &error)) return absl::OkStatus();
  return RefuseValue(absl::StrCat("--", flag->Name()), value, AllowedFor(*flag));
}

// Wraps words and keeps the line breaks of the text.
void AppendWrapped(absl::string_view text, absl::string_view indent, std::string* out) {
  for (absl::string_view paragraph : absl::StrSplit(text, '\n')) {
    std::string line(indent);
    for (absl::string_view word : absl::StrSplit(paragraph, ' ', absl::SkipEmpty())) {
      if (line.size() > indent.size() && line.size() + 1 + word.size() > kHelpColumns) {
        absl::StrAppend(out, line, "\n");
        line = std::string(indent);
      }
      absl::StrAppend(&line, line.size() > indent.size() ? " " : "", word);
    }
    absl::StrAppend(out, line.size() > indent.size() ? line : "", "\n");
  }
}

}  // namespace

absl::StatusOr<CommandLine> ParseFlags(int argc, const char* const* argv, Positional positional,
                                       absl::Span<const std::string> without) {
  const FlagsByName flags = AllFlags(without);
  CommandLine result;
  bool flags_ended = false;
  for (int i = 1; i < argc; ++i) {
    absl::string_view argument = argv[i];
    // A lone dash is a name for standard input or output.
    if (flags_ended || !absl::StartsWith(argument, "-") || argument == "-") {
      if (positional == Positional::kRefuse) {
        return absl::InvalidArgumentError(absl::StrCat(
            "\"", absl::CHexEscape(argument), "\" is not a flag, and nothing else is expected"));
      }
      result.positional.emplace_back(argument);
      continue;
    }
    if (argument == "--") {
      flags_ended = true;
      continue;
    }
    argument.remove_prefix(absl::StartsWith(argument, "--") ? 2 : 1);
    if (argument == "help" || argument == "h") {
      result.help = true;
      return result;
    }

    const size_t equals = argument.find('=');
    const absl::string_view name = argument.substr(0, equals);
    std::optional<absl::string_view> value;
    if (equals != argument.npos) value = argument.substr(equals + 1);

    absl::CommandLineFlag* flag = Find(flags, name);
    absl::string_view positive = name;
    if (flag == nullptr && absl::ConsumePrefix(&positive, "no")) {
      flag = Find(flags, positive);
      if (flag != nullptr && !flag->IsOfType<bool>()) flag = nullptr;
      if (flag != nullptr && value.has_value()) {
        return absl::InvalidArgumentError(absl::StrCat("--", name, " takes no value"));
      }
      value = "false";
    }
    if (flag == nullptr) return UnknownFlag(flags, name);
    if (!value.has_value() && flag->IsOfType<bool>()) value = "true";
    if (!value.has_value()) {
      if (i + 1 == argc || absl::StartsWith(argv[i + 1], "--")) {
        return absl::InvalidArgumentError(
            absl::StrCat("--", name, " needs a value: --", name, "=VALUE"));
      }
      value = argv[++i];
    }
    RETURN_IF_ERROR(SetFlag(flag, *value));
  }
  return result;
}

std::string HelpText(absl::string_view usage, absl::string_view folder,
                     absl::Span<const std::string> without) {
  std::string text = absl::StrCat(absl::StripSuffix(usage, "\n"), "\n\nFlags:\n");
  const std::string inner_folder = absl::StrCat("/", folder);
  for (const auto& [name, flag] : AllFlags(without)) {
    const std::string file = flag->Filename();
    if (!absl::StartsWith(file, folder) && !absl::StrContains(file, inner_folder)) continue;
    const bool quote = flag->IsOfType<std::string>();
    absl::StrAppend(&text, "  --", flag->IsOfType<bool>() ? "[no]" : "", name,
                    " (default: ", quote ? "\"" : "", flag->DefaultValue(), quote ? "\"" : "",
                    ")\n");
    AppendWrapped(flag->Help(), "      ", &text);
  }
  return text;
}

std::string ResolvePath(absl::string_view path) {
  const char* folder = std::getenv("BUILD_WORKING_DIRECTORY");
  if (path.empty() || path == "-" || path[0] == '/' || folder == nullptr || *folder == '\0') {
    return std::string(path);
  }
  return absl::StrCat(folder, "/", path);
}

}  // namespace stridewise
