// What `auto` chooses.

#include "transpose/dispatch.h"

#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "transpose/registry.h"
#include "transpose/test/unused_args.h"

namespace stridewise {
namespace {

TransposeArgs Changed(TransposeArgs args, void (*change)(TransposeArgs& args)) {
  change(args);
  return args;
}

TEST(ChooseTranspose, ByShapeTypeBatchAndAlignment) {
  const struct {
    const char* want;
    TransposeArgs args;
  } cases[] = {
      // Less than 2 MB in at most 1000 matrices.
      {"tile_small", Gapless(32, 32, 4, 2)},
      {"tile_small", Gapless(7, 5, 16, 1000)},
      {"tile_small", Gapless(700, 700, 2)},
      {"tile_vector", Gapless(1000, 1000, 2)},
      {"tile_small", Gapless(49, 1024, 1, 13)},
      {"few_rows", Gapless(49, 1024, 1, 14)},  // From 0.7 MB of bytes on,
      {"tile_small", Gapless(129, 6000, 1)},   // up to 128 rows.
      {"few_columns", Gapless(140000, 6, 1)},
      {"tile_small", Gapless(391, 5, 1, 200)},
      {"tile_bytes", Gapless(391, 5, 1, 201)},
      {"few_planes", Gapless(3, 1000, 4)},
      {"tile_small", Gapless(3, 1001, 4)},
      {"tile_small", Changed(Gapless(1, 1000, 4), [](auto& args) { args.in = At(0x10000004); })},
      {"tile_small", Changed(Gapless(7, 5, 4, 2), [](auto& args) { args.ld_in += 1; })},
      {"batch_small", Gapless(7, 5, 16, 1001)},
      {"batch_small", Gapless(64, 64, 4, 200)},
      {"batch_small", Gapless(64, 64, 2, 400)},
      {"tile_vector", Gapless(64, 128, 2, 200)},
      {"tile_strips", Gapless(64, 128, 1, 250)},  // Which batch_small would take.
      {"tile_vector", Gapless(64, 144, 1, 250)},
      {"tile_bytes", Gapless(64, 130, 1, 250)},
      {"tile_strips", Gapless(196, 1024, 2, 64)},
      {"tile_flat", Gapless(65, 323, 2, 200)},
      {"tile_strips", Gapless(65, 25000, 2)},
      {"tile_flat", Gapless(65, 25002, 2)},
      {"tile_strips", Gapless(196, 128, 2, 64)},  // Rows of `in` that are vectors.
      {"tile_strips", Gapless(195, 256, 2, 64)},  // Halves of words.
      {"tile_flat", Gapless(195, 252, 2, 64)},
      {"tile_strips", Gapless(396, 264, 2, 64)},
      {"tile_ragged", Gapless(402, 264, 2, 64)},
      {"tile_strips", Gapless(1100, 80, 1, 64)},
      {"tile_ragged", Gapless(1104, 81, 1, 64)},
      {"tile_strips", Gapless(44, 1424, 1, 80)},
      {"tile_strips", Gapless(256, 68, 4, 200)},
      {"tile_ragged", Gapless(300, 68, 4, 200)},  // Whole vectors, and more than a turn's rows.
      {"tile_strips", Gapless(299, 68, 4, 200)},
      // Whole vectors, and out rows of 20.5, 23.5, 62.5 and 6.5, 12.5 sectors.
      {"tile_strips", Gapless(328, 960, 2, 254)},
      {"tile_vector", Gapless(328, 9600, 2)},
      {"tile_strips", Gapless(376, 960, 2, 70)},
      {"tile_vector", Gapless(376, 960, 2, 69)},
      {"tile_strips", Gapless(168, 368, 2, 172)},
      {"tile_vector", Gapless(1000, 656, 2, 27)},
      {"tile_ragged", Gapless(1000, 656, 2, 191)},
      {"tile_vector", Gapless(1008, 656, 2, 191)},
      {"tile_strips", Gapless(208, 1088, 1, 133)},
      {"tile_vector", Gapless(400, 2784, 1, 90)},
      {"tile_ragged", Gapless(301, 68, 4, 200)},
      {"few_rows", Gapless(60, 1 << 20, 1)},  // A single one of fewer than 64 rows.
      {"tile_flat", Gapless(196, 194, 2, 64)},
      // Out rows that are whole sectors, and rows of `in` that begin anywhere.
      {"tile_flat", Gapless(128, 257, 2, 96)},
      {"tile_flat", Gapless(128, 197, 1, 192)},
      {"tile_bytes", Gapless(64, 257, 1, 192)},
      {"tile_flat", Gapless(64, 197, 4, 512)},
      {"tile_bytes", Gapless(64, 271, 1, 200)},
      {"tile_bytes", Gapless(257, 128, 1, 192)},
      {"tile_bytes", Gapless(500, 60, 1, 192)},
      {"tile_bytes", Gapless(819, 60, 1, 192)},   // 48 KiB less 12 bytes.
      {"tile_bytes", Gapless(1023, 61, 1, 192)},  // 61 KiB.
      {"tile_ragged", Gapless(1025, 61, 1, 192)},
      {"tile_bytes", Gapless(1500, 20, 1, 2000)},
      // Whole matrices of bytes, but those of a few rows or of rows that are whole sectors.
      {"batch_small", Gapless(39, 26, 1, 2000)},
      {"tile_bytes", Gapless(41, 25, 1, 2000)},
      {"batch_small", Gapless(28, 18, 1, 4500)},
      {"tile_bytes", Gapless(28, 19, 1, 4500)},  // Columns of whole words.,
      {"tile_bytes", Gapless(489, 49, 1, 192)},
      {"tile_bytes", Gapless(1911, 15, 1, 192)},
      {"few_columns", Gapless(3280, 15, 1, 192)},
      {"batch_small", Gapless(1001, 2, 1, 2000)},
      {"weave_rows", Gapless(2, 1001, 1, 2000)},
      {"weave_rows", Gapless(3, 1001, 1, 2000)},
      {"weave_rows", Gapless(4, 1001, 1, 2000)},
      {"weave_rows", Gapless(13, 1000, 1, 2000)},
      {"tile_bytes", Gapless(14, 1001, 1, 2000)},
      {"weave_rows", Gapless(7, 8, 1, 2000)},
      {"batch_small", Gapless(7, 7, 1, 2000)},
      {"tile_bytes", Gapless(64, 100, 1, 2000)},
      {"batch_small", Gapless(31, 33, 2, 2000)},
      {"tile_bytes", Gapless(33, 33, 2, 2000)},
      {"tile_bytes", Gapless(1905, 5, 2, 2000)},
      {"batch_small", Gapless(1905, 4, 2, 2000)},
      // Strips of larger ones.
      {"tile_bytes", Gapless(49, 1024, 1, 64)},
      {"tile_flat", Gapless(49, 1025, 1, 64)},
      {"few_columns", Changed(Gapless(205, 20, 1, 2000), [](auto& args) { args.stride_in += 1; })},
      {"few_planes", Gapless(1 << 20, 3, 4)},
      {"few_columns", Gapless((1 << 20) + 1, 3, 4)},
      {"few_columns", Gapless(1 << 20, 48, 1)},
      {"tile_ragged", Gapless(1 << 20, 49, 1)},
      {"few_columns", Gapless(1 << 20, 24, 2)},
      {"tile_ragged", Gapless(1 << 20, 25, 2)},
      {"few_columns", Gapless(1 << 20, 20, 4)},
      {"tile_ragged", Gapless(1 << 20, 21, 4)},
      {"few_columns", Gapless(1 << 20, 20, 8)},
      {"tile_ragged", Gapless(1 << 20, 21, 8)},
      {"few_columns", Gapless(1 << 20, 48, 16)},
      {"few_planes", Gapless(3, 1 << 20, 4)},
      {"few_planes", Gapless(2, 1 << 20, 1, 3)},
      {"few_rows", Gapless(3, 1 << 20, 8)},
      {"few_rows", Gapless(3, (1 << 20) + 1, 4)},
      {"few_rows", Gapless(20, 1 << 20, 16)},
      {"tile_flat", Gapless(270, 1000001, 1)},
      {"tile_flat", Gapless(360, 1000001, 1)},
      // All rows in a tile: 40 to 700, or 400 of floats; in a batch matrices of more than 24 KiB of
      // bytes, 8 KiB of others, of more than 110 rows of floats 20; rows of `in` that are vectors
      // up
      // to 360 and 300.
      {"few_rows", Gapless(63, 1000001, 1)},
      {"tile_flat", Gapless(40, 1000001, 2)},
      {"tile_flat", Gapless(700, 1000001, 2)},
      {"tile_ragged", Gapless(701, 1000001, 2)},
      {"tile_flat", Gapless(400, 1000001, 4)},
      {"tile_ragged", Gapless(401, 1000001, 4)},
      {"tile_bytes", Gapless(90, 273, 1, 200)},
      {"tile_flat", Gapless(90, 274, 1, 200)},
      {"batch_small", Gapless(121, 41, 4, 2000)},
      {"tile_flat", Gapless(121, 43, 4, 2000)},
      {"tile_flat", Gapless(359, 1600, 1, 20)},
      {"few_rows", Gapless(361, 1600, 1, 20)},
      {"few_columns", Gapless(600, 14, 4, 2000)},
      {"tile_flat", Gapless(256, 333, 1, 200)},
      {"tile_flat", Gapless(96, 333, 1, 200)},
      {"tile_flat", Gapless(256, 33333, 1)},
      {"tile_flat", Gapless(192, 33333, 1)},
      {"tile_flat", Gapless(340, 33333, 2)},
      {"tile_flat", Gapless(341, 33333, 2)},
      {"tile_flat", Gapless(90, 510, 1, 200)},
      {"tile_flat", Gapless(92, 510, 1, 200)},
      {"tile_flat", Gapless(90, 1001, 1, 200)},
      {"tile_flat", Gapless(118, 185, 4, 200)},
      {"tile_flat", Gapless(121, 185, 4, 200)},
      // Strips of one vector, and small batches of 16 bytes.
      {"tile_strips", Gapless(1482, 8, 2, 1127)},
      {"tile_vector", Gapless(75, 65, 16, 2359)},
      {"tile_ragged", Gapless(151, 133, 16, 200)},
      {"few_rows", Gapless(36, 105, 8, 200)},
      {"tile_flat", Gapless(361, 1000001, 1)},
      {"few_rows", Gapless(63, 1000001, 1)},
      {"tile_bytes", Gapless(64, 199, 1, 400)},
      {"tile_flat", Gapless(49, (1 << 20) + 1, 2)},
      {"tile_flat", Gapless(50, (1 << 20) + 1, 2)},
      {"few_rows", Gapless(39, (1 << 20) + 1, 4)},
      {"few_rows", Gapless(400, 1 << 20, 1)},
      {"tile_ragged", Gapless(401, 1 << 20, 1)},
      {"tile_strips", Gapless(257, 1 << 20, 2)},
      {"tile_flat", Gapless(257, (1 << 20) + 1, 2)},
      {"tile_flat", Gapless(261, (1 << 20) + 1, 2)},
      {"tile_flat", Gapless(63, 1 << 20, 4)},
      {"tile_vector", Gapless(64, 1 << 20, 4)},
      {"tile_flat", Gapless(110, (1 << 20) + 1, 4)},
      {"tile_flat", Gapless(111, (1 << 20) + 1, 4)},
      {"few_rows", Gapless(79, 1 << 20, 8)},
      {"tile_ragged", Gapless(81, 1 << 20, 8)},
      {"few_rows", Gapless(50, 1 << 20, 16)},
      {"tile_vector", Gapless(64, 1 << 20, 16)},
      // Wide enough, and not wider than high.
      {"tile_bytes", Gapless(275, 128, 1, 2000)},
      {"tile_flat", Gapless(248, 99, 2, 200)},
      {"tile_flat", Gapless(200, 99, 4, 200)},
      {"batch_small", Gapless(137, 34, 4, 2207)},
      {"tile_flat", Gapless(137, 38, 4, 2207)},
      {"tile_vector", Gapless(128, 64, 2, 192)},
      // Vectors where three quarters of the tiles are full, and bytes from 0.7 MB on.
      {"tile_vector", Gapless(3136, 96, 1, 64)},
      {"tile_vector", Gapless(3136, 96, 2, 64)},
      {"tile_vector", Gapless(3136, 96, 4, 32)},
      {"tile_ragged", Gapless(3136, 96, 4, 64)},  // From 64 MB on.
      {"tile_vector", Gapless(848, 848, 1)},
      {"tile_small", Gapless(816, 816, 1)},
      {"tile_vector", Gapless(1080, 3840, 2)},  // Vectors that are no sectors.
      {"tile_ragged", Gapless(1004, 2048, 4)},
      // Single rows and columns, and few rows of small elements.
      {"one_line", Gapless(1572, 1, 4, 147)},
      {"one_line", Gapless(1, 8000, 4, 59)},
      {"few_rows", Changed(Gapless(1, 8000, 4, 59), [](auto& args) { args.stride_in += 4; })},
      {"few_rows", Gapless(2, 457862, 2)},
      {"tile_small", Gapless(2, 200001, 2)},
      // A little more than 2 MB.
      {"tile_small", Gapless(2010, 305, 4)},
      {"tile_ragged", Gapless(2010, 405, 4)},
      {"tile_small", Gapless(1015, 231, 16)},
      {"tile_ragged", Gapless(1015, 261, 16)},
      {"few_columns", Gapless(58548, 24, 2)},
      {"one_line", Gapless(1, 1000, 4)},
      {"one_line", Gapless(1000, 1, 1)},
      {"few_rows", Changed(Gapless(1, 1 << 20, 4), [](auto& args) { args.in = At(0x10000004); })},
      {"few_columns", Changed(Gapless(1 << 20, 1, 4), [](auto& args) { args.ld_in = 2; })},
      {"tile_small", Gapless(1024, 2048, 4)},
      {"tile_vector", Gapless(2048, 2080, 4)},
      {"tile_vector", Gapless(1024, 2052, 4)},
      {"tile_vector", Gapless(16384, 8192, 4)},
      {"tile_vector", Gapless(16384, 16384, 2)},
      {"tile_wide", Gapless(16384, 16384, 4)},
      {"tile_vector", Gapless(20000, 20000, 4)},
      {"tile_vector", Gapless(8192, 8192, 8)},
      {"tile_wide", Gapless(16384, 16384, 8)},
      {"tile_wide", Gapless(8192, 8192, 16)},
      {"tile_wide", Gapless(16384, 16384, 1)},
      {"tile_vector", Gapless(128, 64, 4, 500)},
      {"tile_vector", Gapless(1024, 2048, 16)},
      {"tile_ragged", Gapless(1024, 2047, 16)},  // Rows of `in` that are no whole sectors.
      {"tile_vector", Gapless(20000, 20000, 1)},
      {"tile_ragged", Gapless(168272, 6672, 1)},  // More than 800 MB of bytes.
      {"tile_ragged", Gapless(1023, 2048, 16)},
      {"tile_vector", Gapless(8000, 100, 4)},
      {"tile_ragged", Gapless(9000, 92, 4)},
      {"tile_ragged", Gapless(1023, 2048, 4)},
      {"tile_ragged", Gapless(16383, 16385, 1)},
      {"tile_ragged_wide", Gapless(45012, 25133, 1)},
      {"tile_ragged", Gapless(65369, 15952, 1)},  // Rows of `in` that are vectors.
      {"tile_ragged_wide", Gapless(27637, 21980, 2)},
      {"tile_ragged", Gapless(16383, 16383, 4)},
      {"tile_ragged_wide", Gapless(20001, 20001, 4)},
      {"tile_ragged", Gapless(409757, 3413, 1)},
      {"tile_ragged", Gapless(16383, 16383, 8)},
      {"tile_ragged", Gapless(1024, 2047, 4)},
      // One address, row or matrix that is not at a multiple of 16 bytes.
      {"tile_ragged",
       Changed(Gapless(1024, 2048, 4), [](auto& args) { args.in = At(0x10000004); })},
      {"tile_ragged",
       Changed(Gapless(1024, 2048, 4), [](auto& args) { args.out = const_cast<void*>(At(8)); })},
      {"tile_ragged", Changed(Gapless(1024, 2048, 4), [](auto& args) { args.ld_in += 1; })},
      {"tile_ragged", Changed(Gapless(1024, 2048, 4), [](auto& args) { args.ld_out += 2; })},
      {"tile_flat", Changed(Gapless(128, 64, 4, 200), [](auto& args) { args.stride_in += 1; })},
      {"tile_flat", Changed(Gapless(128, 64, 4, 200), [](auto& args) { args.stride_out += 1; })},
      // The strides of a single matrix do not matter; gaps may be multiples of 16 bytes.
      {"tile_small", Changed(Gapless(1024, 2048, 4), [](auto& args) { args.stride_in = 1; })},
      {"tile_vector", Changed(Gapless(128, 64, 4, 200), [](auto& args) { args.stride_out += 4; })},
      // Small matrices with gaps.
      {"tile_ragged", Changed(Gapless(64, 32, 1, 2000), [](auto& args) { args.stride_in += 1; })},
      {"tile_ragged", Changed(Gapless(7, 5, 4, 2000), [](auto& args) { args.ld_in += 1; })},
      // Skinny matrices with gaps between matrices, and between rows.
      {"few_columns", Changed(Gapless(1 << 18, 4, 4, 3), [](auto& args) { args.stride_in += 1; })},
      {"few_rows", Changed(Gapless(4, 1 << 18, 4, 3), [](auto& args) { args.stride_out += 1; })},
      {"few_columns", Changed(Gapless(1 << 20, 20, 1), [](auto& args) { args.ld_in += 1; })},
      {"tile_ragged", Changed(Gapless(1 << 20, 21, 1), [](auto& args) { args.ld_in += 1; })},
      {"few_rows", Changed(Gapless(20, 1 << 20, 1), [](auto& args) { args.ld_out += 1; })},
      {"tile_ragged", Changed(Gapless(21, 1 << 20, 1), [](auto& args) { args.ld_out += 1; })},
  };
  for (const auto& c : cases) {
    EXPECT_STREQ(ChooseTranspose(c.args).implementation, c.want)
        << c.args.rows << "x" << c.args.cols << ", " << c.args.element_bytes << " bytes, batch of "
        << c.args.batch;
  }
}

TEST(TransposeDispatchTable, NamesKernelsThatTakeAnything) {
  for (const TransposeDispatch& row : TransposeDispatchTable()) {
    SCOPED_TRACE(row.implementation);
    const TransposeImplementation* implementation = FindTransposeImplementation(row.implementation);
    ASSERT_NE(implementation, nullptr);
    EXPECT_NE(implementation->name, "auto");
    EXPECT_EQ(implementation->operation, TransposeOperation::kTranspose);
    EXPECT_EQ(implementation->target.where, Where::kDevice);
    EXPECT_EQ(implementation->executor, Executor::kHostExecutable);
    EXPECT_EQ(implementation->element_sizes, kAllElementSizes);
    EXPECT_EQ(implementation->target.min_compute_capability, 0);
    EXPECT_FALSE(implementation->square_only);
    EXPECT_FALSE(implementation->needs_workspace);
    EXPECT_FALSE(implementation->needs_cublas);
    EXPECT_STRNE(row.when, "");
    EXPECT_STRNE(row.measured, "");
  }
  // A batch of many small matrices must not become a launch for each.
  for (const TransposeDispatch& row : TransposeDispatchTable()) {
    const std::string name = row.implementation;
    EXPECT_EQ(FindTransposeImplementation(name)->batches, name != "one_line") << name;
  }
}

}  // namespace
}  // namespace stridewise
