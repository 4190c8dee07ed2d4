#include "common/executor/run/launch_sites.h"

#include <algorithm>

namespace stridewise::executor {
namespace {

// Returns the token before the template argument list that the token at i closes.
int BeforeAngles(const TokenView& t, int i) {
  int depth = 0;
  for (; i > 0; --i) {
    if (t.Is(i, ")") || t.Is(i, "]") || t.Is(i, "}")) {
      if (t.Match(i) != TokenView::kNone) i = t.Match(i);
      continue;
    }
    depth += t.Closes(i);
    if (t.Is(i, "<") && --depth == 0) break;
  }
  return i - 1;
}

// Returns the first token of the expression that ends with the token at i and names a kernel.
int CalleeStart(const TokenView& t, int i) {
  for (;;) {
    if (t.Closes(i) > 0) {
      i = BeforeAngles(t, i);  // The template's name.
    } else if ((t.Is(i, ")") || t.Is(i, "]")) && t.Match(i) != TokenView::kNone) {
      i = t.Match(i);
      // A call or an index; behind a parenthesis as in `if (x) (*f)` a new expression begins.
      if (!(t.IsWord(i - 1) && t.EndsName(i - 1)) && !t.Is(i - 1, "]")) return i;
      --i;
      continue;
    }
    if (t.Is(i - 1, "template")) --i;
    if (t.Is(i - 1, ".") || t.Is(i - 1, "->")) {
      i -= 2;
    } else if (t.Is(i - 1, "::")) {
      if (!t.EndsName(i - 2)) return i - 1;
      i -= 2;
    } else {
      return std::max(i, 0);
    }
  }
}

bool IsVoidPointer(const TokenView& t, int begin, int end) {
  int words = 0;
  int stars = 0;
  for (int i = begin; i < end; ++i) {
    words += t.Is(i, "void") ? 1 : 0;
    stars += t.Is(i, "*") ? 1 : 0;
    if (!t.Is(i, "void") && !t.Is(i, "*") && !t.Is(i, "const")) return false;
  }
  return words == 1 && stars == 1;
}

}  // namespace

std::vector<LaunchSite> FindLaunchSites(const TokenView& t) {
  std::vector<LaunchSite> sites;
  for (int i = 1; i < t.size(); ++i) {
    if (t[i].kind != TokenKind::kLaunchOpen || t.Is(i - 1, "operator")) continue;
    LaunchSite launch;
    launch.open = i;
    launch.callee = CalleeStart(t, i - 1);
    launch.close = i + 1;
    while (launch.close < t.size() && t[launch.close].kind != TokenKind::kLaunchClose) {
      const bool opens =
          t.Is(launch.close, "(") || t.Is(launch.close, "[") || t.Is(launch.close, "{");
      launch.close = opens ? t.Behind(launch.close) : launch.close + 1;
    }
    if (!t.Is(launch.close + 1, "(")) continue;
    launch.arguments_end = t.Behind(launch.close + 1);
    sites.push_back(launch);
  }
  return sites;
}

std::vector<TokenRange> FindCastsOfKernels(const TokenView& t) {
  std::vector<TokenRange> casts;
  for (int i = 0; i < t.size(); ++i) {
    if (!(t.Is(i, "cudaLaunchKernel") || t.Is(i, "cudaLaunchCooperativeKernel")) ||
        !t.Is(i + 1, "(")) {
      continue;
    }
    const int cast = i + 2;
    if (t.Is(cast, "(")) {
      const int end = t.Behind(cast);
      if (IsVoidPointer(t, cast + 1, end - 1)) casts.emplace_back(cast, end);
    } else if (t.Is(cast, "reinterpret_cast") && t.Is(cast + 1, "<")) {
      const int end = t.BehindAngles(cast + 1);
      if (IsVoidPointer(t, cast + 2, end - 1)) casts.emplace_back(cast, end);
    }
  }
  return casts;
}

}  // namespace stridewise::executor
