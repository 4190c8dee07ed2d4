#include "benchmarks/matmul/matmul_limits.h"

namespace stridewise {
namespace {

constexpr MatMulLimit kLimits[] = {
    {"large squares", "auto", "4096,8192,16384", "", "nn", 0, 1, 1.03},
    {"middle squares", "auto", "512,768,1024,1536,2048", "", "nn", 0, 1, 1.05},
    {"small squares", "auto", "1,2,4,8,16,32,64,100,128,200,256", "", "nn", 0, 1, 1.3},
    {"ragged", "auto", "4097,5003,8191", "4099x2053x8191", "nn", 0, 1, 1.03},
    {"skinny", "auto", "",
     "16x16384x16384,16384x16x16384,128x128x100000,1x4096x4096,1x16384x16384,4096x1x4096", "nn", 0,
     1, 1.10},
    {"other layouts", "auto", "4096", "", "nt,tn,tt,nn_col", 0, 1, 1.0},
    {"beta", "auto", "4096", "", "nn", 0.5, 1, 1.0},
    {"batch", "auto", "64", "", "nn", 0, 1000, 1.0},
};

}  // namespace

absl::Span<const MatMulLimit> MatMulLimits() { return kLimits; }

}  // namespace stridewise
