#include "common/gpu/kernel_name.h"

#include <string>

#include "gtest/gtest.h"

namespace stridewise {
namespace {

TEST(ShortKernelNameTest, LeavesNameAndTemplateArguments) {
  const struct {
    const char* mangled;
    const char* want;
  } kCases[] = {
      // As nvcc names a kernel in an unnamed namespace.
      {"_ZN10stridewise40_GLOBAL__N__0b79f355_8_tiled_cu_d611dfc85TiledIfLb0EEEvNS_11ConstMatrixIT_"
       "EE"
       "S4_NS_6MatrixIS3_EE",
       "Tiled<float, false>"},
      {"_ZN10stridewise12_GLOBAL__N_15TiledIfEEvPKT_", "Tiled<float>"},
      {"_Z6kernelPfi", "kernel"},
      // Numbers, negative ones and truth values among them, and types in namespaces.
      {"_ZN3lib4gemmILi128ELin3ELb1EN3lib4TypeEEEvPf", "gemm<128, -3, true, Type>"},
      {"_ZN3lib4gemmILj128ELm64ELl2EEEvv", "gemm<128u, 64ul, 2l>"},
      {"_ZN3lib4gemmILNS_4ModeE2ELS1_n1EEEvv", "gemm<2, -1>"},
      // A member of a template's instance, as CUTLASS has its parameters.
      {"_ZN3lib6kernelINS_4GemmIfLi2EE6ParamsEEEvT_", "kernel<Params>"},
      {"_ZN7cutlass7Kernel2I43cutlass_80_simt_sgemm_256x128_8x4_nn_align1EEvNT_6ParamsE",
       "Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nn_align1>"},
      // Not mangled, or not fully.
      {"sm80_xmma_gemm_f32f32", "sm80_xmma_gemm_f32f32"},
      {"_Znonsense", "_Znonsense"},
      {"", ""},
  };
  for (const auto& c : kCases) EXPECT_EQ(ShortKernelName(c.mangled), c.want) << c.mangled;
}

TEST(ShortKernelNameTest, CutsWhatIsTooLong) {
  const std::string longest(kMaxKernelNameLength, 'x');
  EXPECT_EQ(ShortKernelName(longest), longest);
  const std::string cut = ShortKernelName(longest + "y");
  EXPECT_EQ(cut.size(), kMaxKernelNameLength);
  EXPECT_EQ(cut.substr(cut.size() - 4), "x...");
}

}  // namespace
}  // namespace stridewise
