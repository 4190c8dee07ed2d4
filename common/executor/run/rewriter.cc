#include "common/executor/run/rewriter.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/executor/run/device_declarations.h"
#include "common/executor/run/launch_sites.h"
#include "common/executor/run/token_view.h"

namespace stridewise::executor {
namespace {

class Rewriter {
 public:
  Rewriter(absl::string_view text, absl::string_view section_prefix)
      : text_(text),
        t_(text),
        declarations_(FindDeviceDeclarations(t_, section_prefix)),
        replacement_(declarations_.replacement) {}

  RewrittenSource Run() {
    for (const auto& [token, what] : declarations_.unsupported) AddUnsupported(token, what);
    FindLaunches();
    for (const auto& [begin, end] : FindCastsOfKernels(t_)) {
      // The launch needs the kernel's type.
      for (int i = begin; i < end; ++i) replacement_[i] = "";
    }
    FindInlinePtx();
    FindDeviceClock();
    FindVolatile();
    FindStructures();
    FindHostFunctions();
    result_.has_device_code = !declarations_.bodies.empty();
    result_.launches = static_cast<int>(launches_.size());
    const int count = t_.size();
    if (count == 0) {
      result_.text = std::string(text_);
      return std::move(result_);
    }
    result_.text = std::string(text_.substr(0, t_.Begin(0)));
    absl::StrAppend(&result_.text, Text(0, count, false), text_.substr(t_.End(count - 1)));
    return std::move(result_);
  }

 private:
  void AddUnsupported(int i, std::string what) {
    result_.unsupported.push_back({t_.FileOf(i), t_[i].line, std::move(what)});
  }

  bool InDeviceBody(int i) const {
    return std::any_of(declarations_.bodies.begin(), declarations_.bodies.end(),
                       [i](TokenRange body) { return i > body.first && i < body.second; });
  }

  void FindLaunches() {
    for (const LaunchSite& launch : FindLaunchSites(t_)) {
      if (InDeviceBody(launch.open)) {
        AddUnsupported(launch.open, "a kernel launch in device code (dynamic parallelism)");
      } else {
        launches_[launch.callee] = launch;
      }
    }
  }

  // Notes the definitions of functions of the host in namespaces. The instrumentation, which is the
  // compiler's for a whole file, leaves them out: they run as fast as they would without it.
  // Functions that device code may call, without being marked, are constexpr.
  void FindHostFunctions() {
    for (int i = 0; i < t_.size(); ++i) {
      if (!t_.Is(i, "{") || t_.Match(i) == TokenView::kNone) continue;
      if (IsNamespace(i)) continue;
      const int close = i - 1;
      if (t_.IsOwn(i) && t_.Is(close, ")") && t_.Match(close) > 1 &&
          t_.IsWord(t_.Match(close) - 1)) {
        MarkAsHosts(t_.Match(close) - 1, i);
      }
      i = t_.Match(i);
    }
  }
  bool IsNamespace(int open) const {
    int i = open - 1;
    if (t_.Is(i, ")") && t_.Match(i) != TokenView::kNone &&
        t_.Is(t_.Match(i) - 1, "__attribute__")) {
      i = t_.Match(i) - 2;
    }
    while (t_.IsWord(i) && !t_.Is(i, "namespace") && !t_.Is(i - 1, ")")) {
      i -= t_.Is(i - 1, "::") ? 2 : 1;
    }
    // namespace a::b {, and extern "C" {.
    return t_.Is(i, "namespace") ||
           (i > 0 && t_[i].kind == TokenKind::kLiteral && t_.Is(i - 1, "extern"));
  }
  void MarkAsHosts(int name, int open) {
    if (t_.Is(name, "__attribute__") || t_.Is(name, "__declspec") || t_.Is(name, "alignas")) return;
    const int start = t_.DeclarationStart(name);
    const bool whole = start == 0 || t_.Is(start - 1, ";") || t_.Is(start - 1, "}") ||
                       t_.Is(start - 1, "{") || t_.Is(start - 1, ">");
    if (!whole || start == name || t_.Is(start, "::") || t_.Is(name - 1, "::") ||
        replacement_.count(start) > 0) {
      return;
    }
    for (int i = start; i < name; ++i) {
      if (t_.Is(i, "constexpr") || t_.Is(i, "operator") || IsDeviceMarker(t_[i].text)) return;
    }
    for (const auto& body : declarations_.bodies) {
      if (body.first == open) return;
    }
    replacement_[start] =
        absl::StrCat("__attribute__((no_sanitize(\"coverage\"))) ", t_[start].text);
  }

  void FindVolatile() {
    for (int i = 1; i < t_.size() && !result_.has_volatile; ++i) {
      result_.has_volatile =
          t_.Is(i, "volatile") && !t_.Is(i - 1, "asm") && !t_.Is(i - 1, "__asm__") && t_.IsOwn(i);
    }
  }

  void FindStructures() {
    for (int i = 0; i < t_.size() && !result_.has_structures; ++i) {
      const bool begins = t_.Is(i, "struct") || t_.Is(i, "class") || t_.Is(i, "union");
      if (!begins || !t_.IsOwn(i)) continue;
      int open = i + 1;
      while (open < t_.size() && !t_.Is(open, "{") && !t_.Is(open, ";") && !t_.Is(open, "(") &&
             !t_.Is(open, ">")) {
        ++open;
      }
      result_.has_structures = t_.Is(open, "{") && HasMembers(open);
    }
  }

  // Whether the braces contain "type name;" at their own level.
  bool HasMembers(int open) const {
    bool calls = false;  // The statement has parentheses.
    int depth = 1;
    for (int i = open + 1; i < t_.size() && depth > 0; ++i) {
      if (t_.Is(i, "{")) ++depth;
      if (t_.Is(i, "}")) --depth;
      if (depth == 1 && t_.Is(i, ";") && !calls && !t_.Is(i - 1, "}")) return true;
      if (depth == 1) calls = (calls || t_.Is(i, "(")) && !t_.Is(i, ";") && !t_.Is(i, "}");
    }
    return false;
  }

  void FindInlinePtx() {
    for (int i = 0; i < t_.size(); ++i) {
      if ((t_.Is(i, "asm") || t_.Is(i, "__asm__") || t_.Is(i, "__asm")) && InDeviceBody(i)) {
        replacement_[i] = std::string(kDeviceAsm);
      }
    }
  }

  // In device code clock() counts cycles; the C library's, which host code means, counts
  // microseconds.
  void FindDeviceClock() {
    for (int i = 1; i < t_.size(); ++i) {
      const bool is_member =
          t_.Is(i - 1, ".") || t_.Is(i - 1, "->") || (t_.Is(i - 1, "::") && t_.EndsName(i - 2));
      if (t_.Is(i, "clock") && t_.Is(i + 1, "(") && !is_member && InDeviceBody(i)) {
        replacement_[i] = std::string(kDeviceClock);
      }
    }
  }

  // --- The new text ------------------------------------------------------------------------------

  // Returns tokens begin ... end - 1 with what is between them; on one line if wanted.
  std::string Text(int begin, int end, bool one_line) const {
    std::string text;
    int i = begin;
    while (i < end) {
      if (i > begin) absl::StrAppend(&text, t_.Gap(i, one_line));
      const auto launch = launches_.find(i);
      const auto replacement = replacement_.find(i);
      if (launch != launches_.end() && launch->second.arguments_end <= end) {
        absl::StrAppend(&text, LaunchText(launch->second, one_line));
        i = launch->second.arguments_end;
      } else {
        absl::StrAppend(&text, replacement != replacement_.end()
                                   ? absl::string_view(replacement->second)
                                   : t_[i].text);
        ++i;
      }
    }
    return text;
  }

  // The first lambda resolves a kernel whose type is known without its arguments, so that these
  // convert to its parameters as in any call; the second calls one whose template arguments follow
  // from the arguments.
  std::string LaunchText(const LaunchSite& launch, bool one_line) const {
    const std::string callee = t_.OneLine({launch.callee, launch.open});
    const Token& first = t_[launch.callee];
    const Token& arguments = t_[launch.close + 1];
    std::string text = absl::StrCat(
        "::simt_cuda::Launch(::simt_cuda::LaunchConfig(", Text(launch.open + 1, launch.close, true),
        "), \"", absl::CEscape(callee), "\", \"", absl::CEscape(t_.FileOf(launch.callee)), "\", ",
        first.line, ", [&](auto simt_probe) -> decltype(simt_probe(", callee,
        ")) { return simt_probe(", callee,
        "); }, [&](auto&... simt_arguments) __attribute__((noinline)) -> void { ", callee,
        "(simt_arguments...); })");
    if (!one_line && (arguments.line != first.line || arguments.file != first.file)) {
      absl::StrAppend(&text, "\n# ", arguments.line, " \"",
                      absl::CEscape(t_.FileOf(launch.close + 1)), "\"\n");
    }
    return absl::StrCat(text, Text(launch.close + 1, launch.arguments_end, one_line));
  }

  absl::string_view text_;
  TokenView t_;
  DeviceDeclarations declarations_;
  std::map<int, std::string> replacement_;  // Of single tokens.
  std::map<int, LaunchSite> launches_;      // By their first tokens.
  RewrittenSource result_;
};

}  // namespace

RewrittenSource RewriteCuda(absl::string_view preprocessed, absl::string_view section_prefix) {
  return Rewriter(preprocessed, section_prefix).Run();
}

}  // namespace stridewise::executor
