#include "common/executor/run/rewriter.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/executor/run/tokens.h"

namespace stridewise::executor {
namespace {

constexpr int kNone = -1;

bool IsKeywordBeforeExpression(absl::string_view word) {
  static const auto* const kWords = new std::set<absl::string_view>{
      "return", "else", "do", "case", "goto", "and", "or", "not", "co_return", "throw", "in"};
  return kWords->count(word) > 0;
}

bool IsMarker(absl::string_view word) {
  return word == "__global__" || word == "__device__" || word == "__host__" ||
         word == "__constant__" || word == "__managed__";
}

// kernel<<<grid, block>>>(a, b): indices of tokens.
struct LaunchSite {
  int callee;         // The first token of `kernel`.
  int open, close;    // <<< and >>>.
  int arguments_end;  // Behind the closing parenthesis.
};

class Rewriter {
 public:
  Rewriter(absl::string_view text, absl::string_view section_prefix)
      : text_(text), section_prefix_(section_prefix), source_(Tokenize(text)), t_(source_.tokens) {}

  RewrittenSource Run() {
    MatchBrackets();
    FindDeclarations();
    FindClusterDimensions();
    FindLaunches();
    FindPointersToKernels();
    FindInlinePtx();
    FindDeviceClock();
    FindVolatile();
    FindHostFunctions();
    result_.has_device_code = !bodies_.empty();
    result_.launches = static_cast<int>(launches_.size());
    const int count = static_cast<int>(t_.size());
    if (count == 0) {
      result_.text = std::string(text_);
      return std::move(result_);
    }
    result_.text = std::string(text_.substr(0, Begin(0)));
    absl::StrAppend(&result_.text, Text(0, count, false), text_.substr(End(count - 1)));
    return std::move(result_);
  }

 private:
  size_t Begin(int i) const { return t_[i].text.data() - text_.data(); }
  size_t End(int i) const { return Begin(i) + t_[i].text.size(); }
  bool Is(int i, absl::string_view text) const {
    return i >= 0 && i < static_cast<int>(t_.size()) && t_[i].text == text &&
           t_[i].kind != TokenKind::kLiteral;
  }
  bool IsWord(int i) const {
    return i >= 0 && i < static_cast<int>(t_.size()) && t_[i].kind == TokenKind::kWord;
  }

  void AddUnsupported(int i, std::string what) {
    result_.unsupported.push_back({source_.files[t_[i].file], t_[i].line, std::move(what)});
  }

  // Of (), [] and {}.
  void MatchBrackets() {
    match_.assign(t_.size(), kNone);
    std::vector<int> open;
    for (int i = 0; i < static_cast<int>(t_.size()); ++i) {
      if (t_[i].kind != TokenKind::kPunctuation) continue;
      const char c = t_[i].text[0];
      if (c == '(' || c == '[' || c == '{') open.push_back(i);
      if ((c == ')' || c == ']' || c == '}') && !open.empty()) {
        match_[i] = open.back();
        match_[open.back()] = i;
        open.pop_back();
      }
    }
  }

  // Returns the index behind the bracket that closes the one at i; where there is none, the end.
  int Behind(int i) const {
    return match_[i] == kNone ? static_cast<int>(t_.size()) : match_[i] + 1;
  }

  // Returns how many template argument lists the token closes: 1 for >, 3 for >>>.
  int Closes(int i) const {
    if (t_[i].kind == TokenKind::kLaunchClose) return 3;
    return Is(i, ">") ? 1 : 0;
  }

  // Returns the index behind the template argument list that opens at i.
  int BehindAngles(int i) const {
    int depth = 0;
    for (int j = i; j < static_cast<int>(t_.size()); ++j) {
      if (Is(j, "(") || Is(j, "[") || Is(j, "{")) {
        j = Behind(j) - 1;
        continue;
      }
      if (Is(j, ";")) break;
      depth += Is(j, "<") ? 1 : 0;
      depth -= Closes(j);
      if (depth <= 0) return j + 1;
    }
    return i + 1;
  }

  // --- Declarations with __global__, __device__ and so on ----------------------------------------

  void FindDeclarations() {
    for (int i = 0; i < static_cast<int>(t_.size()); ++i) {
      if (Is(i, "thread_local") && Is(i + 1, "alignas") && Is(i + 2, "(")) MoveAlignment(i);
      if (!IsWord(i) || !IsMarker(t_[i].text)) continue;
      replacement_[i] = "";
      if (Is(i, "__host__")) continue;
      FindDeclaration(i);
    }
  }

  // extern __shared__ alignas(16) float a[]: C++ wants the alignment before the storage class.
  void MoveAlignment(int i) {
    const int end = Behind(i + 2);
    int start = i;
    while (Is(start - 1, "extern") || Is(start - 1, "static")) --start;
    replacement_[start] = absl::StrCat(Text(i + 1, end, true), " ", t_[start].text);
    for (int j = i + 1; j < end; ++j) replacement_[j] = "";
  }

  // Returns the first token of the declaration that the marker at i is in.
  int DeclarationStart(int i) const {
    int j = i;
    while (j > 0 && !Is(j - 1, ";") && !Is(j - 1, "{") && !Is(j - 1, "}") && !Is(j - 1, ")") &&
           !Is(j - 1, ":") && !Is(j - 1, ">") && !Is(j - 1, "]") && !Is(j - 1, ",") &&
           !Is(j - 1, "(")) {
      --j;
    }
    return j;
  }

  void FindDeclaration(int marker) {
    const int start = DeclarationStart(marker);
    bool constant = false;
    bool is_extern = Is(start - 1, ">");  // A template: each instance is a variable.
    bool shared = false;
    for (int i = start; i < static_cast<int>(t_.size()); ++i) {
      if (Is(i, "__constant__")) constant = true;
      if (Is(i, "extern")) is_extern = true;
      if (Is(i, "thread_local")) shared = true;  // What __shared__ is.
      if ((Is(i, "__attribute__") || Is(i, "alignas") || Is(i, "decltype") || Is(i, "__declspec") ||
           Is(i, "__cluster_dims__")) &&
          Is(i + 1, "(")) {
        i = Behind(i + 1) - 1;
      } else if (Is(i, "[") && Is(i + 1, "[")) {
        i = Behind(i) - 1;
      } else if (Is(i, "operator")) {
        int parameters = i + 1;
        if (Is(parameters, "(")) parameters += 2;
        while (parameters < static_cast<int>(t_.size()) && !Is(parameters, "(")) ++parameters;
        return FindBody(parameters);
      } else if (Is(i, "<") && i > start && IsWord(i - 1)) {
        i = BehindAngles(i) - 1;
      } else if (Is(i, "(") && !Is(i + 1, "*") && !Is(i + 1, "&")) {
        return FindBody(i);
      } else if (Is(i, ";") || Is(i, "=") || Is(i, "[") || Is(i, "{") || Is(i, ",") || Is(i, "(")) {
        if (is_extern || shared || i == marker + 1) return;
        if (!named_.insert(start).second) return;
        replacement_[marker] =
            absl::StrCat("__attribute__((section(\"", constant ? kConstantSection : kDeviceSection,
                         section_prefix_, ".", named_.size(), "\"), aligned(256)))");
        return;
      } else if (Is(i, ")") || Is(i, "}")) {
        return;
      }
    }
  }

  // Notes the body of a function of the device whose parameters are in the parentheses at i.
  void FindBody(int i) {
    if (i >= static_cast<int>(t_.size())) return;
    bool initialisers = false;
    for (i = Behind(i); i < static_cast<int>(t_.size()); ++i) {
      if (Is(i, ":")) initialisers = true;
      if (Is(i, "(") || (initialisers && Is(i, "{") && IsWord(i - 1))) {
        i = Behind(i) - 1;
      } else if (Is(i, "{")) {
        bodies_.emplace_back(i, Behind(i));
        return;
      } else if (Is(i, ";") || Is(i, "=") || Is(i, "}") || Is(i, ")") || Is(i, ",")) {
        return;
      }
    }
  }

  // A thread of a launch without that cluster returns; the runtime then launches with it. That way
  // the attribute may use template parameters, and launches by pointer know it, too.
  void FindClusterDimensions() {
    for (int i = 0; i < static_cast<int>(t_.size()); ++i) {
      if (!Is(i, "__cluster_dims__") || !Is(i + 1, "(")) continue;
      const int end = Behind(i + 1);
      const auto body = std::find_if(bodies_.begin(), bodies_.end(),
                                     [end](const auto& b) { return b.first >= end; });
      if (body == bodies_.end() || HasSemicolon(end, body->first)) {
        AddUnsupported(i, "__cluster_dims__ on a declaration that is no definition");
        continue;
      }
      replacement_[body->first] = absl::StrCat("{ if (::simt_cuda::OtherCluster(",
                                               Text(i + 2, end - 1, true), ")) return;");
      for (int j = i; j < end; ++j) replacement_[j] = "";
    }
  }
  bool HasSemicolon(int begin, int end) const {
    for (int i = begin; i < end; ++i) {
      if (Is(i, ";")) return true;
    }
    return false;
  }

  bool InDeviceBody(int i) const {
    return std::any_of(bodies_.begin(), bodies_.end(), [i](const std::pair<int, int>& body) {
      return i > body.first && i < body.second;
    });
  }

  // --- Launches ----------------------------------------------------------------------------------

  void FindLaunches() {
    for (int i = 1; i < static_cast<int>(t_.size()); ++i) {
      if (t_[i].kind != TokenKind::kLaunchOpen || Is(i - 1, "operator")) continue;
      LaunchSite launch;
      launch.open = i;
      launch.callee = CalleeStart(i - 1);
      launch.close = i + 1;
      while (launch.close < static_cast<int>(t_.size()) &&
             t_[launch.close].kind != TokenKind::kLaunchClose) {
        const bool opens = Is(launch.close, "(") || Is(launch.close, "[") || Is(launch.close, "{");
        launch.close = opens ? Behind(launch.close) : launch.close + 1;
      }
      if (!Is(launch.close + 1, "(")) continue;  // Clang says what is wrong with it.
      launch.arguments_end = Behind(launch.close + 1);
      if (InDeviceBody(i)) {
        AddUnsupported(i, "a kernel launch in device code (dynamic parallelism)");
        continue;
      }
      launches_[launch.callee] = launch;
    }
  }

  // cudaLaunchKernel((void*)kernel, ...): without the cast, since the launch needs the type.
  void FindPointersToKernels() {
    for (int i = 0; i < static_cast<int>(t_.size()); ++i) {
      if (!(Is(i, "cudaLaunchKernel") || Is(i, "cudaLaunchCooperativeKernel")) || !Is(i + 1, "(")) {
        continue;
      }
      const int cast = i + 2;
      if (Is(cast, "(") && IsVoidPointer(cast + 1, Behind(cast) - 1)) {
        for (int j = cast; j < Behind(cast); ++j) replacement_[j] = "";
      } else if (Is(cast, "reinterpret_cast") && Is(cast + 1, "<")) {
        const int end = BehindAngles(cast + 1);
        if (!IsVoidPointer(cast + 2, end - 1)) continue;
        for (int j = cast; j < end; ++j) replacement_[j] = "";
      }
    }
  }
  bool IsVoidPointer(int begin, int end) const {
    int words = 0;
    int stars = 0;
    for (int i = begin; i < end; ++i) {
      words += Is(i, "void") ? 1 : 0;
      stars += Is(i, "*") ? 1 : 0;
      if (!Is(i, "void") && !Is(i, "*") && !Is(i, "const")) return false;
    }
    return words == 1 && stars == 1;
  }

  // Returns the first token of the expression that ends with the token at i and names a kernel.
  int CalleeStart(int i) const {
    for (;;) {
      if (Closes(i) > 0) {
        int depth = 0;
        for (; i > 0; --i) {
          if (Is(i, ")") || Is(i, "]") || Is(i, "}")) {
            if (match_[i] != kNone) i = match_[i];
            continue;
          }
          depth += Closes(i);
          if (Is(i, "<") && --depth == 0) break;
        }
        --i;  // The template's name.
      } else if ((Is(i, ")") || Is(i, "]")) && match_[i] != kNone) {
        i = match_[i];
        // A call or an index; behind a parenthesis as in `if (x) (*f)` a new expression begins.
        if (!(IsWord(i - 1) && !IsKeywordBeforeExpression(t_[i - 1].text)) && !Is(i - 1, "]")) {
          return i;
        }
        --i;
        continue;
      }
      if (Is(i - 1, "template")) --i;
      if (Is(i - 1, ".") || Is(i - 1, "->")) {
        i -= 2;
      } else if (Is(i - 1, "::")) {
        const bool qualified =
            Closes(i - 2) > 0 || (IsWord(i - 2) && !IsKeywordBeforeExpression(t_[i - 2].text));
        if (!qualified) return i - 1;
        i -= 2;
      } else {
        return std::max(i, 0);
      }
    }
  }

  // Notes the definitions of functions of the host in namespaces. The instrumentation, which is the
  // compiler's for a whole file, leaves them out: they run as fast as they would without it.
  // Functions that device code may call, without being marked, are constexpr.
  void FindHostFunctions() {
    for (int i = 0; i < static_cast<int>(t_.size()); ++i) {
      if (!Is(i, "{") || match_[i] == kNone) continue;
      if (IsNamespace(i)) continue;
      const int close = i - 1;
      if (IsOurs(i) && Is(close, ")") && match_[close] > 1 && IsWord(match_[close] - 1)) {
        MarkAsHosts(match_[close] - 1, i);
      }
      i = match_[i];
    }
  }
  bool IsNamespace(int open) const {
    int i = open - 1;
    if (Is(i, ")") && match_[i] != kNone && Is(match_[i] - 1, "__attribute__")) i = match_[i] - 2;
    while (IsWord(i) && !Is(i, "namespace") && !Is(i - 1, ")")) {
      i -= Is(i - 1, "::") ? 2 : 1;
    }
    // namespace a::b {, and extern "C" {.
    return Is(i, "namespace") ||
           (i > 0 && t_[i].kind == TokenKind::kLiteral && Is(i - 1, "extern"));
  }
  void MarkAsHosts(int name, int open) {
    if (Is(name, "__attribute__") || Is(name, "__declspec") || Is(name, "alignas")) return;
    const int start = DeclarationStart(name);
    const bool whole = start == 0 || Is(start - 1, ";") || Is(start - 1, "}") ||
                       Is(start - 1, "{") || Is(start - 1, ">");
    if (!whole || start == name || Is(start, "::") || Is(name - 1, "::") ||
        replacement_.count(start) > 0)
      return;
    for (int i = start; i < name; ++i) {
      if (Is(i, "constexpr") || Is(i, "operator") || IsMarker(t_[i].text)) return;
    }
    for (const auto& body : bodies_) {
      if (body.first == open) return;
    }
    replacement_[start] =
        absl::StrCat("__attribute__((no_sanitize(\"coverage\"))) ", t_[start].text);
  }

  bool IsOurs(int i) const { return source_.IsOwn(t_[i].file); }

  void FindVolatile() {
    for (int i = 1; i < static_cast<int>(t_.size()) && !result_.has_volatile; ++i) {
      result_.has_volatile =
          Is(i, "volatile") && !Is(i - 1, "asm") && !Is(i - 1, "__asm__") && IsOurs(i);
    }
  }

  void FindInlinePtx() {
    for (int i = 0; i < static_cast<int>(t_.size()); ++i) {
      if ((Is(i, "asm") || Is(i, "__asm__") || Is(i, "__asm")) && InDeviceBody(i)) {
        replacement_[i] = std::string(kDeviceAsm);
      }
    }
  }

  // In device code clock() counts cycles; the C library's, which host code means, counts
  // microseconds.
  void FindDeviceClock() {
    for (int i = 1; i < static_cast<int>(t_.size()); ++i) {
      const bool is_member =
          Is(i - 1, ".") || Is(i - 1, "->") ||
          (Is(i - 1, "::") &&
           (Closes(i - 2) > 0 || (IsWord(i - 2) && !IsKeywordBeforeExpression(t_[i - 2].text))));
      if (Is(i, "clock") && Is(i + 1, "(") && !is_member && InDeviceBody(i)) {
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
      if (i > begin) {
        const absl::string_view gap = text_.substr(End(i - 1), Begin(i) - End(i - 1));
        if (!one_line) {
          absl::StrAppend(&text, gap);
        } else if (!gap.empty()) {
          text += ' ';
        }
      }
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
    std::string callee;
    for (int i = launch.callee; i < launch.open; ++i) {
      if (i > launch.callee && End(i - 1) != Begin(i)) callee += ' ';
      absl::StrAppend(&callee, t_[i].text);
    }
    const Token& first = t_[launch.callee];
    const Token& arguments = t_[launch.close + 1];
    std::string text = absl::StrCat(
        "::simt_cuda::Launch(::simt_cuda::LaunchConfig(", Text(launch.open + 1, launch.close, true),
        "), \"", absl::CEscape(callee), "\", \"", absl::CEscape(source_.files[first.file]), "\", ",
        first.line, ", [&](auto simt_probe) -> decltype(simt_probe(", callee,
        ")) { return simt_probe(", callee,
        "); }, [&](auto&... simt_arguments) __attribute__((noinline)) -> void { ", callee,
        "(simt_arguments...); })");
    if (!one_line && (arguments.line != first.line || arguments.file != first.file)) {
      absl::StrAppend(&text, "\n# ", arguments.line, " \"",
                      absl::CEscape(source_.files[arguments.file]), "\"\n");
    }
    return absl::StrCat(text, Text(launch.close + 1, launch.arguments_end, one_line));
  }

  absl::string_view text_;
  absl::string_view section_prefix_;
  TokenizedText source_;
  const std::vector<Token>& t_;
  std::vector<int> match_;
  std::map<int, std::string> replacement_;  // Of single tokens.
  std::map<int, LaunchSite> launches_;      // By their first tokens.
  std::vector<std::pair<int, int>> bodies_;
  std::set<int> named_;  // Declarations whose variables have a section.
  RewrittenSource result_;
};

}  // namespace

RewrittenSource RewriteCuda(absl::string_view preprocessed, absl::string_view section_prefix) {
  return Rewriter(preprocessed, section_prefix).Run();
}

}  // namespace stridewise::executor
