#include "matmul/registry.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/gpu/launch_geometry.h"
#include "common/gpu/registry_line.h"
#include "matmul/brief_matvec_plan.h"
#include "matmul/brief_plan.h"
#include "matmul/device/loaded/policies.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tile_policies.h"
#include "matmul/device/tile_shared_memory.h"
#include "matmul/direct_plan.h"
#include "matmul/dispatch.h"
#include "matmul/epilogue_pass.h"
#include "matmul/kernel_work.h"
#include "matmul/outer_plan.h"
#include "matmul/tensor_choice.h"
#include "matmul/tile_limits.h"

#if !STRIDEWISE_LIBRARY_ONLY
#include "common/base/simd_target.h"
#include "matmul/cpu/eigen.h"
#include "matmul/cpu/multiply.h"
#endif

namespace stridewise {
namespace {

// Device functions are not linked in where they are not compiled (//third_party/cuda:device_code).
#if STRIDEWISE_WITH_DEVICE_CODE
#define DEVICE_FUNCTION(function) function
#else
#define DEVICE_FUNCTION(function) nullptr
#endif

// A line of kernels.inc, which begins with Step(), Variant() or Library().
class Line : public RegistryLine<Line, MatMulImplementation> {
 public:
  explicit Line(int step) : RegistryLine(step) {}

  Line& Types(absl::Span<const MatMulTypes> types) {
    entry_.types = types;
    return *this;
  }
  Line& Math(std::string math) {
    entry_.math = std::move(math);
    return *this;
  }
  // Takes transposed operands, alpha, beta and batches.
  Line& General() {
    entry_.general = true;
    return *this;
  }
  // Multiplies in these precisions, instead of kFp32 alone.
  Line& Precisions(absl::Span<const MatMulPrecision> precisions) {
    entry_.precisions = precisions;
    return *this;
  }
  Line& TakesEpilogue() {
    entry_.takes_epilogue = true;
    return *this;
  }
  Line& TakesScales() {
    entry_.takes_scales = true;
    return *this;
  }
  Line& NeedsCublas() {
    entry_.needs_cublas = true;
    return *this;
  }
  Line& Tile(const MatMulTile& tile) {
    entry_.tile = tile;
    return *this;
  }
  template <typename Policy>
  Line& Tile() {
    SharedBytes(TileSharedMemory<Policy>::kSharedBytes);
    return Tile({Policy::kBlockM, Policy::kBlockN, Policy::kBlockK,
                 Policy::kBlocksPerMultiprocessor, Policy::kSplitCost, Policy::kClusterCost});
  }
  Line& Workspace(int64_t (*bytes)(const MatMulArgs& args)) {
    entry_.workspace_bytes = bytes;
    return *this;
  }
  // `auto` runs the entry, of those that take a call, whose time is predicted to be the least.
  Line& AutoIf(const MatMulTakes& takes,
               MatMulWork (*work)(const MatMulCall& call, const MatMulTile& tile),
               const char* measured) {
    entry_.dispatch = {takes, work, measured};
    return *this;
  }
  // `auto` runs the entry for calls of its types and precisions, FP32 apart, if no entry before it
  // takes them.
  Line& AutoFirst(const MatMulTakes& takes, const char* measured) {
    entry_.dispatch = {takes, nullptr, measured, /*first=*/true};
    return *this;
  }
};

[[maybe_unused]] Line Step(int number) { return Line(number); }
[[maybe_unused]] Line Variant() { return Line(kNoStep); }
Line Library() { return Line(kNoStep); }

constexpr MatMulTakes kTakesAll = {"any call", [](const MatMulArgs& /*args*/) { return true; }};

constexpr MatMulTakes kTakesVectors = {
    "one row or one column", [](const MatMulArgs& args) { return std::min(args.m, args.n) == 1; }};

// It takes more. Counting its work takes longer than that of others, for nothing.
constexpr MatMulTakes kTakesSkinny = {
    "at most 64 rows or columns, or k of at most 64",
    [](const MatMulArgs& args) { return std::min(args.m, args.n) <= 64 || args.k <= 64; }};

constexpr MatMulTakes kTakesShortK = {"k of at most 16",
                                      [](const MatMulArgs& args) { return args.k <= kOuterMostK; }};

// Kernels that copy tiles to shared memory.
constexpr MatMulTakes kTakesTiles = {
    "leading dimensions of A and B of at most 2^23",
    [](const MatMulArgs& args) { return args.a.ld <= kMaxTileLd && args.b.ld <= kMaxTileLd; }};

// Others are stream_k_128x128's without more.
constexpr MatMulTakes kTakesRagged = {
    "more than 128 rows or columns, and up to 16 beyond a multiple of 128",
    [](const MatMulArgs& args) {
      const auto has_rest = [](int64_t extent) {
        return extent > 128 && extent % 128 != 0 && extent % 128 <= 16;
      };
      return (has_rest(args.m) || has_rest(args.n)) && kTakesTiles.takes(args);
    }};

// Of more rows a row of tiles is too small a part to pay for a launch. Rows just beyond a multiple
// of 128 are better served by the tiles of ragged_128x128 and ragged.
constexpr MatMulTakes kTakesRagged64x128 = {
    "single products of at most 512 rows, 65 to 72 of them beyond a multiple of 128",
    [](const MatMulArgs& args) {
      const int64_t rest = args.m % 128;
      return args.batch == 1 && args.m <= 512 && rest > 64 && rest <= 72 && kTakesTiles.takes(args);
    }};

// It takes more. Nothing lasts so short there that it would pay: of 845 random products with more
// multiply-adds it was the best at three, by a hundredth at most, and predicted to be at others
// that then took 1.3 times as long.
constexpr MatMulTakes kTakesBrief = {
    "up to 2^22 elements of a product, k of 2^16 and 10^8 multiply-adds",
    [](const MatMulArgs& args) {
      constexpr double kMostProducts = 1e8;
      return args.k <= int64_t{1} << 16 && args.m <= int64_t{1} << 20 &&
             args.n <= int64_t{1} << 20 && args.m * args.n <= int64_t{1} << 22 &&
             static_cast<double>(args.m * args.n) * static_cast<double>(args.k) *
                     static_cast<double>(args.batch) <=
                 kMostProducts;
    }};

constexpr MatMulTakes kTakesBriefMatVec = {
    "one row or one column, and fewer than 2^31 elements of C", [](const MatMulArgs& args) {
      return std::min(args.m, args.n) == 1 &&
             FitsBriefMatVecPlan(std::max(args.m, args.n), args.batch);
    }};

constexpr MatMulTakes kTakesDirect = {
    "k of at most 8, 2^16 matrices and 2^23 columns",
    [](const MatMulArgs& args) { return FitsDirectPlan(args.n, args.k, args.batch); }};

constexpr MatMulTakes kTakesDots = {
    "at most 1024 rows times columns and k of at least 48", [](const MatMulArgs& args) {
      return args.m <= 1024 && args.n <= 1024 && args.m * args.n <= 1024 && args.k >= 48 &&
             args.batch <= kMaxGridX / 64;
    }};

// The TMA loads operands whose rows begin at multiples of 16 bytes, every fourth row as a matrix of
// its own.
constexpr MatMulTakes kTakesTma = {
    "operands whose rows begin at multiples of 16 bytes, with m, n and k of at least 4",
    [](const MatMulArgs& args) {
      constexpr int64_t kVector = 4;
      constexpr uintptr_t kVectorBytes = 16;
      const int64_t strides = args.batch == 1 ? 0 : args.a.stride | args.b.stride;
      const auto addresses =
          reinterpret_cast<uintptr_t>(args.a.data) | reinterpret_cast<uintptr_t>(args.b.data);
      return std::min({args.m, args.n, args.k}) >= kVector &&
             (args.a.ld | args.b.ld | strides) % kVector == 0 && addresses % kVectorBytes == 0;
    }};

// It takes single products too. Counting its work takes longer than that of others, for nothing.
constexpr MatMulTakes kTakesFitted = {
    "batches, with leading dimensions of at most 2^23 and a grid's number of tiles of 8x8",
    [](const MatMulArgs& args) {
      const auto tiles = static_cast<double>(CeilDiv(args.m, 8)) *
                         static_cast<double>(CeilDiv(args.n, 8)) * static_cast<double>(args.batch);
      return args.batch > 1 && kTakesTiles.takes(args) && tiles <= static_cast<double>(kMaxGridX);
    }};

constexpr MatMulTakes kTakesSplit = {
    "k from 128 to 2^18 and the workspace that it asks for, where it is predicted to be faster",
    SplitPays};

constexpr MatMulTakes kTakesFlat = {
    "fp32_split_int8 with k from 2048 to 2^15, 3.4e10 multiply-adds and the workspace that it asks "
    "for, where a split is predicted to be faster",
    FlatPays};

constexpr MatMulTakes kTakesMedium = {
    "fp32_medium with k from 128 to 2^18, 3.4e10 multiply-adds and the workspace that it asks for, "
    "where it is predicted to be faster",
    MediumPays};

constexpr MatMulTakes kTakesRounded = {
    "the workspace that it asks for, where a copy of the operands is predicted to cost less than "
    "TF32",
    RoundedPays};

constexpr MatMulTakes kTakesFewTf32 = {"TF32 with up to 128 rows or columns", FewTf32Pays};

constexpr MatMulTakes kTakesFewInt8 = {
    "up to 64 rows or columns and C of INT32", [](const MatMulArgs& args) {
      constexpr int64_t kFew = 64;
      return std::min(args.m, args.n) <= kFew && args.c.type == ElementType::kInt;
    }};

constexpr MatMulTakes kTakesTf32 = {
    "any call of TF32; of BF16 and FP16, where FP32 is predicted to be slower", Tf32Pays};

constexpr MatMulTakes kTakesFp16Sums = {
    "fp16_sums of C of FP16, where that is measured to be faster than sums in FP32", Fp16SumsPay};

constexpr MatMulTakes kTakesFastSums = {"fast_sums without blocks' scales and without an epilogue",
                                        [](const MatMulArgs& args) {
                                          return args.precision == MatMulPrecision::kFastSums &&
                                                 !args.scales.per_128 && !HasEpilogue(args);
                                        }};

constexpr MatMulTakes kTakesFused = {"k of at least 64, where it is predicted to be faster",
                                     FusedPays};

}  // namespace

absl::Span<const MatMulImplementation> MatMulImplementations() {
  static const auto& implementations = *[] {
    auto* made = new std::vector<MatMulImplementation>;
#define MATMUL_HOST(name, function, ...)         \
  LaunchStatus function(const MatMulArgs& args); \
  made->push_back((__VA_ARGS__).On(kHostCpu).Finish(#name, Executor::kDeviceOnly, function));
#define MATMUL_DEVICE(name, function, executor, ...) \
  LaunchStatus function(const MatMulArgs& args);     \
  made->push_back((__VA_ARGS__).Finish(#name, Executor::executor, DEVICE_FUNCTION(function)));
#define MATMUL_WITH_WORKSPACE(name, function, executor, ...) \
  int64_t function##WorkspaceBytes(const MatMulArgs& args);  \
  MATMUL_DEVICE(name, function, executor,                    \
                (__VA_ARGS__).Workspace(DEVICE_FUNCTION(function##WorkspaceBytes)))
#include "matmul/kernels.inc"  // NOLINT(build/include)
    return made;
  }();
  return implementations;
}

absl::Status ApplyEpilogue(const MatMulArgs& args) {
  const auto run = [&](LaunchStatus (*pass)(const MatMulArgs&)) -> absl::Status {
    if (pass == nullptr) return absl::UnavailableError(kWithoutDeviceCode);
    return pass(args);
  };
  return run(DEVICE_FUNCTION(MatMulEpiloguePass));
}

const MatMulImplementation* FindMatMulImplementation(absl::string_view name) {
  return FindByName(MatMulImplementations(), name);
}

MatMulFunctions FunctionsOf(const char* name) {
  const MatMulImplementation& entry = *FindMatMulImplementation(name);
  return {entry.run, entry.workspace_bytes};
}

}  // namespace stridewise
