#include "benchmarks/transpose/transpose_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "benchmarks/transpose/transpose_limits.h"
#include "common/base/status_macros.h"

namespace stridewise {
namespace {

constexpr char kThinBlocks[] = "8x8,8x16,8x32,16x8,16x16,16x32,32x8,32x16,32x32";

// The kernels of the studies that take any block.
constexpr char kBlockKernels[] = "copy_row,copy_col,naive_*,unroll4_*,diagonal_*";

const std::vector<DataType>& DataTypes() {
  static const auto& types = *new std::vector<DataType>{
      {"float", 4}, {"int", 4}, {"u8", 1}, {"u16", 2}, {"double", 8}, {"float4", 16}};
  return types;
}

std::vector<std::string> ImplementationNames() {
  std::vector<std::string> names;
  for (const TransposeImplementation& implementation : TransposeImplementations()) {
    names.push_back(implementation.name);
  }
  return names;
}

absl::StatusOr<std::vector<Shape2>> StepShapes(const TransposePresetStep& step) {
  std::vector<Shape2> shapes;
  if (!step.sizes.empty()) {
    ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, ParseSizes("--sizes", step.sizes));
    for (const int64_t size : sizes) shapes.push_back({size, size});
  }
  if (!step.shapes.empty()) {
    ASSIGN_OR_RETURN(const std::vector<Shape2> more, ParseShapes2("--shapes", step.shapes));
    shapes.insert(shapes.end(), more.begin(), more.end());
  }
  return shapes;
}

// The blocks with which an implementation is measured.
std::vector<Block> BlocksFor(const TransposeImplementation& implementation,
                             const std::vector<BlockShape>& wanted) {
  if (wanted.empty() || implementation.blocks == Blocks::kFixed) {
    return {implementation.default_block};
  }
  std::vector<Block> blocks;
  for (const BlockShape& block : wanted) blocks.push_back({block.x, block.y});
  return blocks;
}

absl::Status CheckBatch(const Shape2& shape, int64_t batch) {
  if (batch == 1 || shape.rows * shape.cols <= kMaxElements / batch) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--batch: ", batch, " matrices of ", shape.rows, "x", shape.cols,
                   " are not allowed; allowed are at most ", kMaxElements, " elements"));
}

absl::Status AddStep(const TransposePresetStep& step, std::vector<TransposeConfig>* plan) {
  ASSIGN_OR_RETURN(const std::vector<size_t> selected,
                   SelectByGlob("--kernels", step.kernels, ImplementationNames()));
  ASSIGN_OR_RETURN(const std::vector<Shape2> shapes, StepShapes(step));
  ASSIGN_OR_RETURN(const std::vector<DataType> types, ParseDataTypes("--types", step.types));
  std::vector<BlockShape> blocks;
  if (!step.blocks.empty()) {
    ASSIGN_OR_RETURN(blocks, ParseBlocks("--blocks", step.blocks));
  }
  for (const Shape2& shape : shapes) {
    RETURN_IF_ERROR(CheckBatch(shape, step.batch));
    for (const DataType& type : types) {
      for (const size_t index : selected) {
        const TransposeImplementation& implementation = TransposeImplementations()[index];
        if (implementation.target.where == Where::kHost &&
            std::max(shape.rows, shape.cols) > step.max_host_size) {
          continue;
        }
        if (step.batch > 1 && !TakesBatches(implementation)) continue;
        for (const Block& block : BlocksFor(implementation, blocks)) {
          plan->push_back({&implementation, shape, type, block, step.batch});
        }
      }
    }
  }
  return absl::OkStatus();
}

// Brings what several steps said of one shape together and drops what they said twice.
std::vector<TransposeConfig> InOrder(const std::vector<TransposeConfig>& configs) {
  std::map<std::tuple<int64_t, int64_t, int64_t>, size_t> shape_ranks;
  std::map<std::string, size_t> type_ranks;
  std::set<std::tuple<size_t, size_t, const TransposeImplementation*, int64_t, int64_t>> seen;
  using Keyed =
      std::pair<std::tuple<size_t, size_t, const TransposeImplementation*>, TransposeConfig>;
  std::vector<Keyed> keyed;
  for (const TransposeConfig& config : configs) {
    const size_t shape =
        shape_ranks
            .emplace(std::tuple(config.shape.rows, config.shape.cols, config.batch),
                     shape_ranks.size())
            .first->second;
    const size_t type = type_ranks.emplace(config.type.name, type_ranks.size()).first->second;
    if (!seen.emplace(shape, type, config.implementation, config.block.x, config.block.y).second) {
      continue;
    }
    keyed.push_back({{shape, type, config.implementation}, config});
  }
  std::stable_sort(keyed.begin(), keyed.end(),
                   [](const Keyed& a, const Keyed& b) { return a.first < b.first; });
  std::vector<TransposeConfig> plan;
  for (Keyed& entry : keyed) plan.push_back(std::move(entry.second));
  return plan;
}

// What the preset `limits` measures: for each figure both of its sides.
std::vector<TransposePresetStep> LimitSteps() {
  std::vector<TransposePresetStep> steps;
  for (const TransposeLimit& limit : TransposeLimits()) {
    const char* library = limit.floor_vs_cublas > 0 ? ",cublas_geam" : "";
    steps.push_back({absl::StrCat("memcpy,", limit.implementation, library), limit.sizes,
                     limit.shapes, "", limit.types, kMaxExtent, limit.batch});
  }
  return steps;
}

TransposePresetStep BatchStep(const char* shape, int64_t batch) {
  return {
      "memcpy,batch_small,tile_vector,tile_ragged,auto", "", shape, "", "float", kMaxExtent, batch};
}

}  // namespace

double BytesToMove(const TransposeConfig& config) {
  return static_cast<double>(config.batch) *
         TransposeBytes(config.shape.rows, config.shape.cols, config.type.element_bytes);
}

bool TakesBatches(const TransposeImplementation& implementation) {
  return implementation.batches || implementation.operation == TransposeOperation::kCopy;
}

absl::Span<const TransposePreset> TransposePresets() {
  static const auto& presets = *new std::vector<TransposePreset>{
      {"default",
       "every implementation at 1024 and 4096, the CPU's to 2048, in a minute",
       {{"*", "1024,4096", "", "", "float", 2048}}},
      {"bounds",
       "the copies that bound every transpose, 1024 to 32768",
       {{"copy_*,memcpy", "1024:32768:*2"}}},
      {"ladder",
       "every implementation at 2048 and 8192, the CPU's to 4096",
       {{"*", "2048,8192", "", "", "float", 4096}}},
      {"thin_blocks",
       "blocks from 8x8 to 32x32 for the kernels that take any, at 2048 and 8192",
       {{"copy_row,copy_col,naive_*,unroll4_*,diagonal_*,tile_unroll2_*", "2048,8192", "",
         kThinBlocks}}},
      {"with_copies",
       "the fourth study's kernels for int: from which size the copies decide everything",
       {{"cpu_naive_row,naive_row,tile_square,tile_square_padded,tile_unrolled", "256:8192:*2", "",
         "32x32", "int"}}},
      {"ragged",
       "squares around powers of two, primes, thin and tall matrices",
       {{"memcpy,naive_row,naive_col,tile_square_padded,tile_unrolled,tile_swizzled,"
         "tile_persistent,tile_vector,tile_ragged,few_columns,few_rows,auto,cublas_geam",
         "4095,4096,4097,8191,8192,8193",
         "8193x8191,9973x10007,64x1000003,1000003x64,3x4194304,4194304x3,1x67108864,67108864x1,"
         "7x9999991,100x1000000"}}},
      {"types",
       "elements of 1, 2, 4, 8 and 16 bytes at 8192",
       {{"tile_unrolled,tile_swizzled,tile_unroll2_padded_dynamic,naive_col,copy_vector,"
         "tile_vector,tile_ragged,auto,cublas_geam",
         "8192", "", "", "float,int,u8,u16,double,float4"}}},
      {"fast",
       "the fastest kernels beside tile_unrolled, the driver's copy and cuBLAS, 512 to 32768",
       {{"memcpy,tile_unrolled,tile_vector,auto,cublas_geam", "512:32768:*2"}}},
      {"batched",
       "many small matrices at once, from 3x3 to 1024x1024",
       {BatchStep("64x64", 4096), BatchStep("16x16", 100000), BatchStep("7x5", 100000),
        BatchStep("128x128", 1000), BatchStep("1024x1024", 20), BatchStep("3x3", 100000)}},
      {"limits", "what the transposes are held to; ends with a table of pass and FAIL",
       LimitSteps()},
      {"study_000",
       "the first study's kernels at 8192, blocks of 16x16, and its best block of 256x1",
       {{kBlockKernels, "8192", "", "16x16"},
        {"tile_unroll2_padded_dynamic", "8192", "", "16x16,256x1"},
        {"copy_row,copy_col", "2048", "", "16x16"}}},
      {"study_001",
       "the second study's kernels at 4096: naive, square and rectangular tiles, the tile's copy",
       {{"cpu_naive_row,copy_shared,naive_*,tile_square*,tile_rectangular*", "4096", "", "32x32"}}},
      {"study_002",
       "the third study's kernels at 2048, blocks of 16x16 and 8x32; thin_blocks has the others",
       {{kBlockKernels, "2048", "", "16x16,8x32"}}},
      {"study_003",
       "the fourth study's table: with_copies at 2048",
       {{"cpu_naive_row,naive_row,tile_square,tile_square_padded,tile_unrolled", "2048", "",
         "32x32", "int"}}},
  };
  return presets;
}

absl::StatusOr<const TransposePreset*> FindTransposePreset(absl::string_view name) {
  std::vector<std::string> names;
  for (const TransposePreset& preset : TransposePresets()) {
    if (preset.name == name) return &preset;
    names.emplace_back(preset.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--preset: '", name, "' is not known; allowed is ", absl::StrJoin(names, ", ")));
}

absl::StatusOr<std::vector<DataType>> ParseDataTypes(absl::string_view flag,
                                                     absl::string_view text) {
  std::vector<DataType> types;
  for (absl::string_view name : absl::StrSplit(text, ',')) {
    name = absl::StripAsciiWhitespace(name);
    const auto found = std::find_if(DataTypes().begin(), DataTypes().end(),
                                    [&](const DataType& type) { return type.name == name; });
    if (found == DataTypes().end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          flag, ": '", name, "' is not allowed; allowed is ",
          absl::StrJoin(DataTypes(), ", ",
                        [](std::string* out, const DataType& type) { out->append(type.name); })));
    }
    types.push_back(*found);
  }
  return types;
}

absl::StatusOr<std::vector<TransposeConfig>> MakeTransposePlan(const TransposePreset& preset,
                                                               const TransposePlanFlags& flags) {
  std::vector<TransposePresetStep> steps = preset.steps;
  if (!flags.sizes.empty() || !flags.shapes.empty()) steps = {{"*", flags.sizes, flags.shapes}};
  std::vector<TransposeConfig> configs;
  bool batched = false;
  for (TransposePresetStep& step : steps) {
    if (!flags.blocks.empty()) step.blocks = flags.blocks;
    if (!flags.types.empty()) step.types = flags.types;
    if (!flags.batch.empty()) {
      ASSIGN_OR_RETURN(step.batch, ParseBatch("--batch", flags.batch));
    }
    batched = batched || step.batch > 1;
    RETURN_IF_ERROR(AddStep(step, &configs));
  }
  ASSIGN_OR_RETURN(const std::vector<size_t> selected,
                   SelectByGlob("--kernels", flags.kernels, ImplementationNames()));
  const auto is_selected = [&](const TransposeConfig& config) {
    const auto index =
        static_cast<size_t>(config.implementation - TransposeImplementations().data());
    return std::binary_search(selected.begin(), selected.end(), index);
  };
  std::vector<TransposeConfig> plan;
  for (TransposeConfig& config : InOrder(configs)) {
    if (is_selected(config)) plan.push_back(std::move(config));
  }
  if (plan.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--kernels: '", flags.kernels, "' selects nothing of the preset ", preset.name,
                     batched ? " that takes batches" : "; give --sizes or --shapes with it"));
  }
  return plan;
}

}  // namespace stridewise
