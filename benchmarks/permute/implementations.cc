#include "benchmarks/permute/implementations.h"

#include <cstdint>
#include <vector>

#include "benchmarks/permute/cutensor_permutation.h"
#include "common/base/status_macros.h"
#include "common/gpu/gpu_runtime.h"
#include "transpose/permute_blocks_plan.h"
#include "transpose/permute_flat_plan.h"
#include "transpose/permute_joined_plan.h"
#include "transpose/permute_rows_plan.h"
#include "transpose/permute_vector_plan.h"

namespace stridewise {
namespace {

// Returns the problem as kernels take it.
absl::StatusOr<PermuteArgs> CanonicalArgs(const PermuteProblem& problem, cudaStream_t stream) {
  ASSIGN_OR_RETURN(PermuteArgs args, CheckedPermuteArgs(problem));
  args.stream = stream;
  return Elements(args) == 0 ? args : Canonical(args);
}

absl::Status RunTiles(const PermuteProblem& problem, cudaStream_t stream) {
  ASSIGN_OR_RETURN(const PermuteArgs args, CanonicalArgs(problem, stream));
  return Elements(args) == 0 ? absl::OkStatus() : absl::Status(PermuteTiles(args));
}

// Runs what takes permutations of at least two dimensions. The harness tries an implementation with
// a single element, which is a copy.
template <LaunchStatus (*kRun)(const PermuteArgs&)>
absl::Status RunKernel(const PermuteProblem& problem, cudaStream_t stream) {
  ASSIGN_OR_RETURN(const PermuteArgs args, CanonicalArgs(problem, stream));
  if (Elements(args) == 0) return absl::OkStatus();
  return args.rank < 2 ? PermuteByCopy(args) : absl::Status(kRun(args));
}

absl::Status RunTranspose(const PermuteProblem& problem, cudaStream_t stream) {
  ASSIGN_OR_RETURN(const PermuteArgs args, CanonicalArgs(problem, stream));
  if (Elements(args) == 0) return absl::OkStatus();
  // A single element, with which the harness tries an implementation, is no matrix.
  return args.rank < 2 ? PermuteByCopy(args) : PermuteByTranspose(args);
}

absl::Status RunMemcpy(const PermuteProblem& problem, cudaStream_t stream) {
  ASSIGN_OR_RETURN(const PermuteArgs args, CheckedPermuteArgs(problem));
  return gpu::CopyOnDevice(problem.out, problem.in,
                           static_cast<size_t>(Elements(args) * args.element_bytes), stream);
}

PermuteImplementation Entry(const char* name, const char* summary, const char* teaches,
                            decltype(PermuteImplementation::run) run) {
  PermuteImplementation entry;
  entry.name = name;
  entry.summary = summary;
  entry.teaches = teaches;
  entry.target = kAnyGpu;
  entry.is_built_in = STRIDEWISE_WITH_DEVICE_CODE;
  entry.run = run;
  return entry;
}

std::vector<PermuteImplementation>* MakeImplementations() {
  auto* made = new std::vector<PermuteImplementation>;
  made->push_back(Entry("memcpy", "the driver's copy of the same bytes",
                        "what bounds every permutation", RunMemcpy));
  made->back().copies = true;
  made->push_back(Entry("cutensor", "NVIDIA's cuTENSOR, where it is installed",
                        "what the vendor's library takes", nullptr));
  made->back().plan = PlanCutensor;
  made->back().check = CheckCutensor;
  made->push_back(
      Entry("auto", "the call Permute(), which chooses", "no one kernel is the best", Permute));
  made->push_back(Entry("transpose", "Transpose(), where the permutation is one",
                        "most permutations of frameworks are batches of transposes", RunTranspose));
  made->back().takes = [](const PermuteArgs& canonical) { return IsTranspose(canonical); };
  made->back().takes_not = "it is no transpose";
  made->push_back(Entry("permute_rows", "rows that stay together, 16 bytes a thread",
                        "what exchanges nothing is a copy, and needs no shared memory",
                        RunKernel<PermuteRows>));
  made->back().takes = KeepsRows;
  made->back().takes_not = "its innermost dimension does not stay, or has too few bytes";
  made->push_back(Entry("permute_row_bytes", "rows of small elements that begin anywhere, shifted",
                        "a byte shift in registers costs less than a tile",
                        RunKernel<PermuteRowBytes>));
  made->back().takes = KeepsRowsOfBytes;
  made->back().takes_not =
      "its innermost dimension does not stay, has fewer than 16 bytes or elements of 16, or `out` "
      "has gaps";
  made->push_back(Entry("permute_interleave",
                        "words of two to four planes, interleaved in registers",
                        "a few planes need no tile", RunKernel<PermuteInterleave>));
  made->back().takes = [](const PermuteArgs& canonical) { return InterleavedBytes(canonical) > 0; };
  made->back().takes_not = "it does not interleave two to four planes of whole words";
  made->push_back(Entry("permute_direct", "words of `out` gathered from `in`",
                        "what takes as long as a launch needs few instructions",
                        RunKernel<PermuteDirect>));
  made->back().takes = IsDirect;
  made->back().takes_not = "`out` has gaps";
  made->push_back(Entry("permute_vector", "tiles of whole vectors, exchanged in registers",
                        "few instructions for each vector, and no tables",
                        RunKernel<PermuteVector>));
  made->back().takes = IsMadeOfVectors;
  made->back().takes_not =
      "its innermost dimensions are the same, or they, strides or pointers are no whole vectors";
  made->push_back(Entry("permute_flat", "tiles of runs of several dimensions, cut anywhere",
                        "where a dimension ends is no end of what is contiguous",
                        RunKernel<PermuteFlat>));
  made->back().takes = IsFlat;
  made->back().takes_not = "its innermost dimension is the same on both sides, or not contiguous";
  made->push_back(Entry("permute_joined", "tiles of few rows, whose columns are joined in `out`",
                        "a short run is no end where the other side's run goes on",
                        RunKernel<PermuteJoined>));
  made->back().takes = CanJoinColumns;
  made->back().takes_not =
      "its innermost dimension of `in` does not follow up to 256 elements of `out`";
  made->push_back(Entry("permute_blocks", "whole blocks that are contiguous on both sides",
                        "what is alike in all blocks is computed once", RunKernel<PermuteBlocks>));
  made->back().takes = HasBlocks;
  made->back().takes_not =
      "its innermost dimensions are not the same on both sides, of 64 bytes and up to 512 elements";
  made->push_back(Entry("permute_tile", "tiles that pack several dimensions, through shared memory",
                        "short dimensions still make long runs", RunTiles));
  return made;
}

}  // namespace

absl::Span<const PermuteImplementation> PermuteImplementations() {
  static const auto& implementations = *MakeImplementations();
  return implementations;
}

}  // namespace stridewise
