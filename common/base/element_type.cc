#include "common/base/element_type.h"

namespace stridewise {
namespace {

struct Info {
  ElementType type;
  const char* name;
  int64_t bytes;
  double unit_roundoff;
};

constexpr Info kInfos[kNumElementTypes] = {
    {ElementType::kU8, "u8", 1, 0},
    {ElementType::kU16, "u16", 2, 0},
    {ElementType::kInt, "int", 4, 0},
    {ElementType::kFloat, "float", 4, 0x1p-24},
    {ElementType::kDouble, "double", 8, 0x1p-53},
    {ElementType::kFloat4, "float4", 16, 0},
    {ElementType::kBf16, "bf16", 2, 0x1p-8},
    {ElementType::kFp16, "fp16", 2, 0x1p-11},
    {ElementType::kS8, "s8", 1, 0},
    {ElementType::kE4m3, "e4m3", 1, 0x1p-4},
    {ElementType::kE5m2, "e5m2", 1, 0x1p-3},
};

constexpr bool IsInOrder() {
  for (int i = 0; i < kNumElementTypes; ++i) {
    if (static_cast<int>(kInfos[i].type) != i) return false;
  }
  return true;
}
static_assert(IsInOrder(), "the table is indexed by the type");

const Info& InfoOf(ElementType type) { return kInfos[static_cast<int>(type)]; }

}  // namespace

const char* ElementTypeName(ElementType type) { return InfoOf(type).name; }
int64_t ElementBytes(ElementType type) { return InfoOf(type).bytes; }
double UnitRoundoff(ElementType type) { return InfoOf(type).unit_roundoff; }

}  // namespace stridewise
