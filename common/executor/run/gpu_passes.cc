#include "common/executor/run/gpu_passes.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "common/executor/run/common_ends.h"
#include "common/executor/run/filled_gaps.h"
#include "common/executor/run/joined_scalars.h"
#include "common/executor/run/outer_loops.h"
#include "common/executor/run/repeated_phis.h"
#include "common/executor/run/shared_runs.h"
#include "common/executor/run/strided_loops.h"
#include "common/executor/run/wide_phis.h"

namespace stridewise::executor {
namespace {

// LLVM's default<O3>, without what changes nothing on a GPU (vectorizers, coroutines, OpenMP) and
// without four things that nvcc does not do, as its PTX shows:
// - "reassociate", which forgets that indices of int do not wrap: a[i * n + j] and its neighbour
//   could then be anywhere, and what was stored to the one be loaded again for the other;
// - "loop-load-elim", which keeps an element for the next iteration, if need be with a second loop
//   for pointers that overlap;
// - the merging of two branches that end alike (no-sink-common-insts everywhere, no mldst-motion):
//   common_ends.h has nvcc's;
// - loads that move to the branch that lacks them (no-load-pre), as long as loops are not unrolled:
//   what a loop has stored is loaded again by the iterations left over, and behind the loop.
// With one that nvcc does do: under "if (threadIdx.x == 0)" d[threadIdx.x] is d[0], next to d[1].
// GVN knows it as long as the address is computed in that branch, so it comes before "early-cse",
// which takes the one from outside. It leaves loads alone there.
// $EQUALITIES is that, $BRANCHES the simplification of branches, $HOISTED and $LAST the same with
// more.
constexpr absl::string_view kPasses =
    "inferattrs,"
    "function(lower-expect,$FIRST,sroa,$EARLY,instcombine,$EQUALITIES,early-cse<>,callsite-"
    "splitting),"
    "ipsccp,globalopt,function(mem2reg),deadargelim,function(instcombine,$BRANCHES),"
    "require<globals-aa>,function(invalidate<aa>),require<profile-summary>,"
    "cgscc(devirt<4>(inline<only-mandatory>,inline,function-attrs,argpromotion,function("
    "sroa,$EQUALITIES,early-cse<memssa>,speculative-execution,jump-threading,"
    "correlated-propagation,$BRANCHES,instcombine,aggressive-instcombine,libcalls-shrinkwrap,"
    "tailcallelim,$BRANCHES,"
    "loop-mssa(loop-instsimplify,loop-simplifycfg,licm,loop-rotate,licm,"
    "simple-loop-unswitch<nontrivial;trivial>),$BRANCHES,instcombine,"
    "loop(loop-idiom,indvars,loop-deletion)))),globaldce";
constexpr absl::string_view kUnrollingPasses =
    "require<globals-aa>,function(loop(loop-unroll-full),sroa,"
    "gvn<no-load-pre>,sccp,bdce,instcombine,jump-threading,correlated-propagation,adce,"
    "memcpyopt,"
    "dse,loop-mssa(licm),$HOISTED,instcombine),"
    "globalopt,globaldce,rpo-function-attrs,require<globals-aa>,"
    "function(float2int,lower-constant-intrinsics,loop(loop-rotate,loop-deletion),instcombine,"
    "$LAST)";
// Behind what moves to where branches meet.
constexpr absl::string_view kLastPasses =
    "require<globals-aa>,"
    "function($LAST,instcombine,loop-unroll<O3>,instcombine,loop-mssa(licm),"
    "alignment-from-assumptions,"
    "loop-sink,instsimplify,div-rem-pairs,$BRANCHES),globaldce,"
    // Where shared memory is global to the file and nothing points to it, no pointer reaches it:
    // but what GlobalsAA has found before inlining, when a function still returns its address,
    // would stay. Computed again, it lets a sum in shared memory stay in a register through a loop
    // (LICM), and what was loaded before a store to global memory need not be loaded again.
    "invalidate<globals-aa>,require<globals-aa>,function(invalidate<aa>),"
    // GVN once more, behind the unrolling: as NVPTX's code generator has it. A load moves to the
    // branch that needs it, as ptxas has it.
    "function(loop-mssa(licm),gvn,instcombine,loop-simplify,sink)";

std::string Simplification(absl::string_view switches, absl::string_view loops,
                           absl::string_view hoist) {
  return absl::StrCat("simplifycfg<", switches, ";", loops, ";", hoist,
                      "hoist-common-insts;no-sink-common-insts>");
}

std::string Simplified(absl::string_view passes) {
  constexpr absl::string_view kRanges =
      "no-forward-switch-cond;switch-range-to-icmp;no-switch-to-lookup";
  return absl::StrReplaceAll(
      passes, {{"$EQUALITIES", "gvn<no-pre;no-load-pre;no-memdep>"},
               {"$FIRST",
                Simplification("no-forward-switch-cond;no-switch-range-to-icmp;no-switch-to-lookup",
                               "keep-loops", "no-")},
               {"$EARLY",
                Simplification("no-forward-switch-cond;no-switch-range-to-icmp;no-switch-to-lookup",
                               "keep-loops", "")},
               {"$BRANCHES", Simplification(kRanges, "keep-loops", "no-")},
               {"$HOISTED", Simplification(kRanges, "keep-loops", "")},
               {"$LAST", Simplification("forward-switch-cond;switch-range-to-icmp;switch-to-lookup",
                                        "no-keep-loops", "")}});
}

// nvcc 13.0's limits, in LLVM's options.
std::vector<std::string> Limits() {
  // nvcc unrolls loops of an unknown length by 4, or by 2 where 4 times the body are more than 200
  // instructions, and not where 2 times are: chains of fma up to 22, 40 and no longer than 47, and
  // copies of 6, 12 and 13 elements, by nvcc 13.0. LLVM's own limit for NVPTX is 75. Loops of a
  // known length it unrolls completely up to a larger size than LLVM's 300 instructions. Its own
  // limit is 400: chains of 5, 7, 11 and 12 instructions up to 80, 57, 36 and 33 iterations, and
  // no further, which is 403 as LLVM counts. Nests of 8 x 8 multiplications need 380. Between the
  // two nothing differs but a product's loop of 32, which has one load too many when LLVM unrolls
  // it all. Two things that nvcc does beyond are left out: loops of more iterations, which it
  // unrolls by 16, 8 or 4 and then asks again, and those that index a local array, which it
  // unrolls to 256 iterations at least.
  // nvcc inlines functions of up to some 20000 instructions; LLVM multiplies this for NVPTX by 5.
  // nvcc drops a store that another one overwrites only where both are in one block of the code.
  // A load that only one branch needs stays before it: the last step moves it there.
  return {"-unroll-max-count=4",
          "-unroll-threshold=380",
          "-unroll-partial-threshold=200",
          "-inline-threshold=4000",
          "-dse-memoryssa-otherbb-cost=1000",
          "-instcombine-code-sinking=false"};
}

// What the last step has besides: nvcc unrolls a loop also where the number of its iterations needs
// a division, as that of `for (i = ...; i < n; i += gridDim.x * blockDim.x)`.
std::vector<std::string> WithDivisions(std::vector<std::string> options) {
  options.emplace_back("-scev-cheap-expansion-budget=100");
  return options;
}

std::vector<std::string> WithLimits(absl::string_view passes) {
  std::vector<std::string> options = Limits();
  options.push_back(absl::StrCat("-passes=", Simplified(passes)));
  return options;
}

std::vector<std::string> AsTheyAre(std::vector<std::string> lines) { return lines; }

// nvcc moves what branches end with before it unrolls loops.
std::vector<std::string> BeforeUnrolling(std::vector<std::string> lines) {
  lines = WithStridedLoopsEnding(WithCommonEndsMoved(std::move(lines)));
  return WithOuterLoopsLeftAlone(std::move(lines));
}

// Local variables get an address space of their own, as on a GPU. Where 16 bytes are not aligned,
// LLVM's vectorizer looks for 8 that are in other address spaces than theirs alone.
std::vector<std::string> ForVectorizer(std::vector<std::string> lines) {
  lines = WithScalarsJoined(WithLoadsBeforePhis(WithoutRepeatedPhis(std::move(lines))));
  lines = WithRunsApart(WithFilledGaps(std::move(lines)));
  for (std::string& line : lines) {
    if (absl::StartsWith(line, "target datalayout = ")) line.insert(line.rfind('"'), "-A5");
  }
  return lines;
}

}  // namespace

std::vector<GpuStep> GpuSteps() {
  // In the last step the local variables themselves stay in the host's only address space, which
  // the verifier would refuse. GlobalsAA knows that no pointer reaches shared memory.
  return {{AsTheyAre, WithLimits(kPasses)},
          {BeforeUnrolling, WithLimits(kUnrollingPasses)},
          {AsTheyAre, WithDivisions(WithLimits(kLastPasses))},
          {ForVectorizer,
           {"-disable-verify", "-passes=require<globals-aa>,function(load-store-vectorizer)"}}};
}

}  // namespace stridewise::executor
