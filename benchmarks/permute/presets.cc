#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmarks/permute/operation.h"

namespace stridewise {
namespace {

// Of permutations of the same number of elements and the same last extent.
Selection Of(const char* permutation, const char* type, const char* implementations = "*") {
  const Permutation parsed = ParsePermutation("permutation", permutation).value();
  const Point point = PointOfPermutation(parsed, type);
  return Selection(implementations)
      .Shapes(absl::StrCat(point.extents[0], "x", point.extents[1]))
      .Axis("permutations", permutation)
      .Types(type);
}

std::vector<Preset>* MakePresets() {
  return new std::vector<Preset>{
      {"default",
       "what networks permute, and five dimensions in any order",
       {Of("64x2048x16x64:0213", "u16"), Of("32x112x112x64:0312", "float"),
        Of("32x256x56x56:0231", "u16"), Of("64x1000x1000:021", "u8"),
        Of("16x32x24x48x20:42031", "float"), Of("16x2048x32x128:0231", "u16"),
        Of("16x2048x3x16x64:20314", "u16"), Of("32x224x224x3:0312", "u8"),
        Of("64x3x224x224:0231", "float"), Of("8x64x2x2x128x128:014253", "float"),
        Of("64x8x7x8x7x96:013245", "u16"), Of("64x3x14x16x14x16:024351", "float"),
        Of("8x2048x20x128:1230", "u16"), Of("1000x999x33:210", "double")}},
  };
}

std::vector<Limit>* MakeLimits() {
  return new std::vector<Limit>{
      {"BSHD to BHSD", Of("64x2048x16x64:0213", "u16", "auto"), {{"memcpy", 0.90, 0.97}}},
      {"NHWC to NCHW", Of("32x112x112x64:0312", "float", "auto"), {{"memcpy", 0.90, 0.97}}},
  };
}

}  // namespace

absl::Span<const Preset> PermutePresets() {
  static const std::vector<Preset>& presets = *MakePresets();
  return presets;
}

absl::Span<const Limit> PermuteLimits() {
  static const std::vector<Limit>& limits = *MakeLimits();
  return limits;
}

}  // namespace stridewise
