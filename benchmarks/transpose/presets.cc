#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmarks/transpose/operation.h"

namespace stridewise {
namespace {

constexpr char kThinBlocks[] = "8x8,8x16,8x32,16x8,16x16,16x32,32x8,32x16,32x32";

// The studies' kernels that take any block.
constexpr char kBlockKernels[] = "copy_row,copy_col,naive_*,unroll4_*,diagonal_*";

constexpr char kFourthStudy[] =
    "cpu_naive_row,naive_row,tile_square,tile_square_padded,tile_unrolled";

Selection Batched(const char* shape, int64_t batch) {
  return Selection("memcpy,batch_small,tile_vector,tile_ragged,auto").Shapes(shape).Batch(batch);
}

std::vector<Preset>* MakePresets() {
  return new std::vector<Preset>{
      {"default",
       "every implementation at 1024 and 4096, the CPU's to 2048, in a minute",
       {Selection("*").Sizes("1024,4096").MaxHostExtent(2048)}},
      {"bounds",
       "the copies that bound every transpose, 1024 to 32768",
       {Selection("copy_*,memcpy").Sizes("1024:32768:*2")}},
      {"cpu",
       "the CPU's ladder, its copy and the libraries that are installed",
       {Selection("cpu_*,eigen,openblas_omatcopy").Sizes("256,1000,1024,2048,4096,8192")}},
      {"ladder",
       "every implementation at 2048 and 8192, the CPU's to 4096",
       {Selection("*").Sizes("2048,8192").MaxHostExtent(4096)}},
      {"thin_blocks",
       "blocks from 8x8 to 32x32 for the kernels that take any, at 2048 and 8192",
       {Selection("copy_row,copy_col,naive_*,unroll4_*,diagonal_*,tile_unroll2_*")
            .Sizes("2048,8192")
            .BlockShapes(kThinBlocks)}},
      {"with_copies",
       "the fourth study's kernels for int: from which size the copies decide everything",
       {Selection(kFourthStudy).Sizes("256:8192:*2").BlockShapes("32x32").Types("int")}},
      {"ragged",
       "squares around powers of two, primes, thin and tall matrices",
       {Selection("memcpy,naive_row,naive_col,tile_square_padded,tile_unrolled,tile_swizzled,"
                  "tile_persistent,tile_vector,tile_ragged,few_columns,few_rows,auto,cublas_geam")
            .Sizes("4095,4096,4097,8191,8192,8193")
            .Shapes("8193x8191,9973x10007,64x1000003,1000003x64,3x4194304,4194304x3,1x67108864,"
                    "67108864x1,7x9999991,100x1000000")}},
      {"types",
       "elements of 1, 2, 4, 8 and 16 bytes at 8192",
       {Selection("tile_unrolled,tile_swizzled,tile_unroll2_padded_dynamic,naive_col,copy_vector,"
                  "tile_vector,tile_ragged,auto,cublas_geam")
            .Sizes("8192")
            .Types("float,int,u8,u16,double,float4")}},
      {"fast",
       "the fastest kernels beside tile_unrolled, the driver's copy and cuBLAS, 512 to 32768",
       {Selection("memcpy,tile_unrolled,tile_vector,auto,cublas_geam").Sizes("512:32768:*2")}},
      {"batched",
       "many small matrices at once, from 3x3 to 1024x1024",
       {Batched("64x64", 4096), Batched("16x16", 100000), Batched("7x5", 100000),
        Batched("128x128", 1000), Batched("1024x1024", 20), Batched("3x3", 100000)}},
      {"study_000",
       "the first study's kernels at 4096 and 8192, blocks of 16x16, and its best block of 256x1",
       {Selection(kBlockKernels).Sizes("4096,8192").BlockShapes("16x16"),
        Selection("tile_unroll2_padded_dynamic").Sizes("4096,8192").BlockShapes("16x16,256x1"),
        Selection("copy_row,copy_col").Sizes("2048").BlockShapes("16x16")}},
      {"study_001",
       "the second study's kernels at 4096: naive, square and rectangular tiles, the tile's copy",
       {Selection("cpu_naive_row,copy_shared,copy_shared_square,naive_*,tile_square*,"
                  "tile_rectangular*")
            .Sizes("4096")
            .BlockShapes("32x32")}},
      {"study_002",
       "the third study's kernels at 2048, blocks of 16x16 and 8x32; thin_blocks has the others",
       {Selection(kBlockKernels).Sizes("2048").BlockShapes("16x16,8x32")}},
      {"study_003",
       "the fourth study's table: with_copies at 2048, and the tile that conflicts on the store",
       {Selection(absl::StrCat(kFourthStudy, ",tile_store_conflicts"))
            .Sizes("2048")
            .BlockShapes("32x32")
            .Types("int")}},
  };
}

// Floors are of the speed over the driver's copy of the same bytes, and over cuBLAS's geam.
std::vector<Floor> Floors(double memcpy, double aim = 0, double cublas_geam = 0) {
  std::vector<Floor> floors = {{"memcpy", memcpy, aim}};
  if (cublas_geam > 0) floors.push_back({"cublas_geam", cublas_geam});
  return floors;
}

Limit HostLimit(const char* name, Selection selection) {
  return {name, std::move(selection), {{"cpu_copy", 0.9}, {"eigen", 1.5}}, "cpu_limits"};
}

std::vector<Limit>* MakeLimits() {
  return new std::vector<Limit>{
      {"float multiples of 64", Selection("auto").Sizes("4096,8192,16384"),
       Floors(0.975, 0.99, 1.05)},
      {"float 32768", Selection("auto").Sizes("32768"), Floors(0.955, 0.98, 1.03)},
      {"float ragged",
       Selection("auto")
           .Sizes("4095,4097,8191,8193,16383,16385")
           .Shapes("8193x8191,8191x8193,9973x10007,10007x9973"),
       Floors(0.93, 0, 1.10)},
      {"float thin and tall",
       Selection("auto").Shapes("64x1000003,1000003x64,3x4194304,4194304x3,1x67108864,67108864x1,"
                                "7x9999991,9999991x7,100x1000000,1000000x100"),
       Floors(0.90, 0, 1.4)},
      // Each of 256 MB or more, so that the L2 hides nothing.
      {"1 and 2 bytes aligned", Selection("auto").Sizes("16384,32768").Types("u8"), Floors(0.95)},
      {"1 and 2 bytes aligned", Selection("auto").Sizes("16384").Types("u16"), Floors(0.95)},
      {"1 and 2 bytes ragged",
       Selection("auto").Shapes("16383x16385,16387x16389,32767x8193").Types("u8"), Floors(0.85)},
      {"1 and 2 bytes ragged", Selection("auto").Shapes("16383x16385,12289x12287").Types("u16"),
       Floors(0.85)},
      {"8 and 16 bytes", Selection("auto").Sizes("4096,8192,16384").Types("double,float4"),
       Floors(0.975, 0, 1.05)},
      {"float small", Selection("auto").Sizes("512,768,1024,1536,2048"), Floors(0.95, 0, 1.15)},
      {"in place square", Selection("in_place_square").Sizes("8192,16384,32768"), Floors(0.95)},
      {"in place rectangular", Selection("in_place_rectangular").Shapes("8192x16384,10007x9973"),
       Floors(0.35)},
      {"batch", Selection("auto").Shapes("64x64").Batch(4096), Floors(0.90)},
      {"batch", Selection("auto").Shapes("16x16").Batch(100000), Floors(0.90)},
      {"batch", Selection("auto").Shapes("7x5").Batch(100000), Floors(0.90)},
      // Of the host. From 64 MB up, so that the caches hide little.
      HostLimit("float squares", Selection("cpu_threads").Sizes("4096,5000,8192")),
      HostLimit("float rectangles", Selection("cpu_threads").Shapes("4000x10000,100000x200")),
      HostLimit("other elements", Selection("cpu_threads").Sizes("8192").Types("u8,u16")),
      HostLimit("other elements", Selection("cpu_threads").Sizes("4096").Types("double,float4")),
  };
}

}  // namespace

absl::Span<const Preset> TransposePresets() {
  static const std::vector<Preset>& presets = *MakePresets();
  return presets;
}

absl::Span<const Limit> TransposeLimits() {
  static const std::vector<Limit>& limits = *MakeLimits();
  return limits;
}

}  // namespace stridewise
