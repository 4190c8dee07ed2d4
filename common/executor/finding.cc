#include "common/executor/finding.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "common/executor/symbolizer.h"

namespace stridewise::executor {
namespace {

std::string ExtentText(const Extent3& extent) {
  return absl::StrCat("(", extent.x, ",", extent.y, ",", extent.z, ")");
}

// Returns "block (0,0,0) thread (1,0,0) at 11_tile_square.cu:31".
std::string CulpritText(const Culprit& culprit, const SourceLine& line) {
  std::string text =
      absl::StrCat("block ", ExtentText(culprit.block), " thread ", ExtentText(culprit.thread));
  if (line.line > 0) absl::StrAppend(&text, " at ", line.ToString());
  return text;
}

}  // namespace

absl::string_view CheckName(Check check) {
  switch (check) {
    case Check::kOutOfBounds:
      return "out-of-bounds access";
    case Check::kWildAddress:
      return "access to no memory of the device";
    case Check::kMisaligned:
      return "misaligned access";
    case Check::kWriteToReadOnly:
      return "write to read-only memory";
    case Check::kUninitialised:
      return "read of uninitialised memory";
    case Check::kRace:
      return "data race";
    case Check::kBarrierDivergence:
      return "divergent barrier";
    case Check::kSharedMemoryLimit:
      return "too much shared memory";
    case Check::kRunaway:
      return "thread that does not end";
    case Check::kMbarrier:
      return "wrong use of a barrier";
    case Check::kWgmma:
      return "wrong use of wgmma";
    case Check::kProxyFence:
      return "missing fence.proxy.async";
    case Check::kCluster:
      return "access to a block that does not run";
    case Check::kRegisters:
      return "wrong use of setmaxnreg";
    case Check::kBulkCopy:
      return "wrong use of a bulk copy";
    case Check::kDeadlock:
      return "deadlock";
    case Check::kUnsupported:
      return "unsupported instruction";
    case Check::kAssertion:
      return "failed assertion";
  }
  return "unknown finding";
}

std::string FindingsText(absl::Span<const Finding> findings) {
  std::vector<uintptr_t> kernels;
  std::vector<uintptr_t> calls;  // Two for each finding.
  for (const Finding& finding : findings) {
    kernels.push_back(finding.kernel);
    calls.push_back(finding.culprit.pc);
    calls.push_back(finding.has_other ? finding.other.pc : 0);
  }
  const std::vector<SourceLine> functions = SymbolizeFunctions(kernels);
  const std::vector<SourceLine> lines = SymbolizeCalls(calls);

  std::string text;
  for (size_t i = 0; i < findings.size(); ++i) {
    const Finding& finding = findings[i];
    if (i > 0) text += "\n";
    absl::StrAppend(&text, CheckName(finding.check));
    if (!functions[i].function.empty()) absl::StrAppend(&text, " in ", functions[i].function);
    if (!finding.message.empty()) absl::StrAppend(&text, ": ", finding.message);
    absl::StrAppend(&text, "\n    by ", CulpritText(finding.culprit, lines[2 * i]));
    if (!finding.has_other) continue;
    if (finding.check == Check::kBarrierDivergence) {
      text += "\n    and by ";
    } else {
      absl::StrAppend(&text, "\n    after the ", finding.other.store ? "store" : "load", " by ");
    }
    text += CulpritText(finding.other, lines[2 * i + 1]);
  }
  return text;
}

}  // namespace stridewise::executor
