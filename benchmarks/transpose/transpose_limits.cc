#include "benchmarks/transpose/transpose_limits.h"

namespace stridewise {
namespace {

constexpr TransposeLimit kLimits[] = {
    {"float multiples of 64", "auto", "4096,8192,16384", "", "float", 1, 0.975, 0.99, 1.05},
    {"float 32768", "auto", "32768", "", "float", 1, 0.955, 0.98, 1.03},
    {"float ragged", "auto", "4095,4097,8191,8193,16383,16385",
     "8193x8191,8191x8193,9973x10007,10007x9973", "float", 1, 0.93, 0, 1.10},
    {"float thin and tall", "auto", "",
     "64x1000003,1000003x64,3x4194304,4194304x3,1x67108864,67108864x1,7x9999991,9999991x7,"
     "100x1000000,1000000x100",
     "float", 1, 0.90, 0, 1.4},
    // Each of 256 MB or more, so that the L2 hides nothing.
    {"1 and 2 bytes aligned", "auto", "16384,32768", "", "u8", 1, 0.95, 0, 0},
    {"1 and 2 bytes aligned", "auto", "16384", "", "u16", 1, 0.95, 0, 0},
    {"1 and 2 bytes ragged", "auto", "", "16383x16385,16387x16389,32767x8193", "u8", 1, 0.85, 0, 0},
    {"1 and 2 bytes ragged", "auto", "", "16383x16385,12289x12287", "u16", 1, 0.85, 0, 0},
    {"8 and 16 bytes", "auto", "4096,8192,16384", "", "double,float4", 1, 0.975, 0, 1.05},
    {"float small", "auto", "512,768,1024,1536,2048", "", "float", 1, 0.95, 0, 1.15},
    {"in place square", "in_place_square", "8192,16384,32768", "", "float", 1, 0.95, 0, 0},
    {"in place rectangular", "in_place_rectangular", "", "8192x16384,10007x9973", "float", 1, 0.35,
     0, 0},
    {"batch", "auto", "", "64x64", "float", 4096, 0.90, 0, 0},
    {"batch", "auto", "", "16x16", "float", 100000, 0.90, 0, 0},
    {"batch", "auto", "", "7x5", "float", 100000, 0.90, 0, 0},
};

}  // namespace

absl::Span<const TransposeLimit> TransposeLimits() { return kLimits; }

}  // namespace stridewise
