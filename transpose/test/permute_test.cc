// What Permute() makes of its arguments: checks, canonical forms, the method it chooses.

#include "transpose/permute.h"

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "transpose/permute_args.h"
#include "transpose/test/permute_problems.h"

namespace stridewise {
namespace {

TEST(PermuteTest, BadInputIsRefusedByName) {
  const struct {
    std::function<void(PermuteProblem*)> spoil;
    const char* message;
  } cases[] = {
      {[](PermuteProblem* p) { p->rank = -1; }, "rank is -1; allowed is 0 or more"},
      {[](PermuteProblem* p) { p->rank = 7; }, "rank is 7; allowed is at most 6"},
      {[](PermuteProblem* p) { p->element_bytes = 3; },
       "element_bytes is 3; allowed is 1, 2, 4, 8 and 16"},
      {[](PermuteProblem* p) { p->element_bytes = 32; },
       "element_bytes is 32; allowed is 1, 2, 4, 8 and 16"},
      {[](PermuteProblem* p) { p->order[1] = -1; }, "order[1] is -1; allowed is 0 or more"},
      {[](PermuteProblem* p) { p->order[1] = 3; }, "order[1] is 3; allowed is at most 2"},
      {[](PermuteProblem* p) { p->order[1] = 2; },
       "order[1] is 2; allowed is each dimension once, and order[0] is 2, too"},
      {[](PermuteProblem* p) { p->extents[2] = -5; }, "extents[2] is -5; allowed is 0 or more"},
      {[](PermuteProblem* p) { p->strides_in[0] = -1; },
       "strides_in[0] is -1; allowed is 0 or more"},
      {[](PermuteProblem* p) { p->strides_out[0] = 14; },
       "strides_out[0] is 14; allowed is 35 or more"},
      {[](PermuteProblem* p) { p->strides_out[2] = 0; },
       "strides_out[2] is 0; allowed is 1 or more"},
      {[](PermuteProblem* p) { p->in = nullptr; }, "in is null; allowed is device memory"},
      {[](PermuteProblem* p) { p->out = nullptr; }, "out is null; allowed is device memory"},
      {[](PermuteProblem* p) { p->out = AddressAt(1026); },
       "out is not aligned; allowed are multiples of 4"},
      {[](PermuteProblem* p) { p->out = AddressAt((1 << 30) + 4 * 104); },
       "out overlaps in; allowed is memory of its own"},
      {[](PermuteProblem* p) { p->strides_in[0] = int64_t{1} << 62; },
       "in has 2^63 bytes or more from its first element to its last; allowed is less"},
  };
  for (const auto& c : cases) {
    PermuteProblem problem = GaplessProblem({7, 5, 3}, {2, 0, 1});
    ASSERT_TRUE(CheckedPermuteArgs(problem).ok()) << CheckedPermuteArgs(problem).status();
    c.spoil(&problem);
    const absl::Status status = CheckedPermuteArgs(problem).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << c.message;
    EXPECT_EQ(status.message(), c.message);
    EXPECT_EQ(Permute(problem, nullptr), status);
  }
}

TEST(PermuteTest, MemorySideBySideDoesNotOverlap) {
  PermuteProblem problem = GaplessProblem({7, 5, 3}, {2, 0, 1});
  problem.out = AddressAt((1 << 30) + 4 * 105);
  EXPECT_TRUE(CheckedPermuteArgs(problem).ok());
}

TEST(PermuteTest, NothingIsDoneWithoutElements) {
  PermuteProblem problem = GaplessProblem({7, 0, 3}, {2, 0, 1});
  problem.in = nullptr;
  problem.out = nullptr;
  EXPECT_TRUE(Permute(problem, nullptr).ok());
}

TEST(PermuteTest, CanonicalFormsFuseDropAndWiden) {
  // BSHD of 64 elements of 2 bytes: 8 elements of 16 bytes.
  const PermuteArgs attention = CanonicalOf(GaplessProblem({4, 100, 12, 64}, {0, 2, 1, 3}, 2));
  EXPECT_EQ(attention.rank, 4);
  EXPECT_EQ(attention.element_bytes, 16);
  EXPECT_EQ(attention.dims[0].extent, 8);
  EXPECT_EQ(attention.dims[1].extent, 100);
  EXPECT_EQ(attention.dims[1].stride_in, 8 * 12);
  // NHWC to NCHW: H and W are one dimension.
  const PermuteArgs image = CanonicalOf(GaplessProblem({1, 20, 30, 3}, {0, 3, 1, 2}));
  EXPECT_EQ(image.rank, 2);
  EXPECT_EQ(image.dims[0].extent, 600);
  EXPECT_EQ(image.dims[1].extent, 3);
  // Four bytes that stay together are one element, and no dimension.
  const PermuteArgs pixels = CanonicalOf(GaplessProblem({20, 30, 4}, {1, 0, 2}, 1));
  EXPECT_EQ(pixels.rank, 2);
  EXPECT_EQ(pixels.element_bytes, 4);
  // An address that is no multiple of 4 keeps pairs of 2 bytes.
  PermuteProblem odd = GaplessProblem({20, 30, 4}, {1, 0, 2}, 1);
  odd.in = AddressAt((1 << 30) + 2);
  EXPECT_EQ(CanonicalOf(odd).element_bytes, 2);
}

TEST(PermuteTest, ChoosesByRunsAndSizes) {
  const auto method = [](const PermuteProblem& problem) {
    return ChoosePermute(CanonicalOf(problem));
  };
  EXPECT_EQ(method(GaplessProblem({}, {})), PermuteMethod::kCopy);
  EXPECT_EQ(method(GaplessProblem({1, 7, 1}, {2, 1, 0})), PermuteMethod::kCopy);
  EXPECT_EQ(method(GaplessProblem({3, 4, 5}, {0, 1, 2})), PermuteMethod::kCopy);
  EXPECT_EQ(method(GaplessProblem({3, 5}, {1, 0})), PermuteMethod::kTranspose);
  EXPECT_EQ(method(GaplessProblem({8, 20, 30, 3}, {0, 3, 1, 2})), PermuteMethod::kTranspose);
  EXPECT_EQ(method(GaplessProblem({1, 300, 310, 3}, {0, 3, 1, 2})), PermuteMethod::kTranspose);
  EXPECT_EQ(method(GaplessProblem({8, 300, 310, 3}, {0, 3, 1, 2})), PermuteMethod::kTranspose);
  EXPECT_EQ(method(GaplessProblem({8, 5, 300, 310}, {0, 2, 3, 1})), PermuteMethod::kTranspose);
  EXPECT_EQ(method(GaplessProblem({8, 300, 310, 64}, {0, 3, 1, 2})), PermuteMethod::kTranspose);
  EXPECT_EQ(method(GaplessProblem({3, 5, 16}, {1, 0, 2})), PermuteMethod::kRows);
  EXPECT_EQ(method(GaplessProblem({3, 5, 49}, {1, 0, 2})), PermuteMethod::kRows);
  EXPECT_EQ(method(GaplessProblem({3, 5, 102}, {1, 0, 2}, 2)), PermuteMethod::kRows);
  // 80 bytes of a large tensor, and of a small one.
  EXPECT_EQ(method(GaplessProblem({531, 8, 336, 5}, {1, 2, 0, 3}, 16)), PermuteMethod::kTiles);
  EXPECT_EQ(method(GaplessProblem({531, 8, 33, 5}, {1, 2, 0, 3}, 16)), PermuteMethod::kRows);
  // Planes, as pictures, as patches of them and as pixels.
  EXPECT_EQ(method(GaplessProblem({8, 3, 300, 310}, {0, 2, 3, 1})), PermuteMethod::kInterleave);
  EXPECT_EQ(method(GaplessProblem({8, 3, 14, 16, 14, 16}, {0, 2, 4, 3, 5, 1}, 2)),
            PermuteMethod::kInterleave);
  EXPECT_EQ(method(GaplessProblem({8, 16, 2, 2, 56, 56}, {0, 1, 4, 2, 5, 3})),
            PermuteMethod::kInterleave);
  EXPECT_EQ(method(GaplessProblem({4, 3, 28, 8, 28, 8}, {0, 2, 4, 3, 5, 1}, 1)),
            PermuteMethod::kInterleave);
  EXPECT_EQ(method(GaplessProblem({4, 3, 28, 6, 28, 6}, {0, 2, 4, 3, 5, 1}, 1)),
            PermuteMethod::kDirect);
  // Runs of both sides.
  EXPECT_EQ(method(GaplessProblem({8, 300, 310, 30}, {0, 3, 1, 2})), PermuteMethod::kFlat);
  EXPECT_EQ(method(GaplessProblem({800, 130, 50}, {0, 2, 1})), PermuteMethod::kTranspose);
  EXPECT_EQ(method(GaplessProblem({800, 410, 50}, {0, 2, 1})),
            PermuteMethod::kFlat);  // More rows than tile_flat takes.
  EXPECT_EQ(method(GaplessProblem({47, 10, 5840}, {1, 2, 0}, 1)), PermuteMethod::kTranspose);
  // Some columns of bytes, and fewer, and of 2 bytes.
  EXPECT_EQ(method(GaplessProblem({1358, 1812, 28}, {0, 2, 1}, 1)), PermuteMethod::kTiles);
  EXPECT_EQ(method(GaplessProblem({1358, 1812, 13}, {0, 2, 1}, 1)), PermuteMethod::kTranspose);
  EXPECT_EQ(method(GaplessProblem({66, 41, 51, 17}, {3, 0, 1, 2}, 1)), PermuteMethod::kTranspose);
  EXPECT_EQ(method(GaplessProblem({1358, 1812, 23}, {0, 2, 1}, 2)), PermuteMethod::kTranspose);
  EXPECT_EQ(method(GaplessProblem({40, 1200, 70}, {2, 1, 0})), PermuteMethod::kFlat);
  // The same of whole vectors, 128 bytes of each, with gaps in a batch.
  EXPECT_EQ(method(GaplessProblem({8, 304, 310, 48}, {3, 0, 2, 1})), PermuteMethod::kVector);
  EXPECT_EQ(method(GaplessProblem({8, 300, 310, 48}, {3, 0, 2, 1})), PermuteMethod::kFlat);
  EXPECT_EQ(method(GaplessProblem({16, 2048, 20, 128}, {0, 3, 2, 1}, 1)), PermuteMethod::kVector);
  EXPECT_EQ(method(GaplessProblem({16, 2048, 20, 112}, {0, 3, 2, 1}, 1)), PermuteMethod::kFlat);
  EXPECT_EQ(method(GaplessProblem({16, 112, 2000, 128}, {0, 3, 2, 1}, 1)), PermuteMethod::kFlat);
  EXPECT_EQ(method(GaplessProblem({16, 2044, 20, 128}, {0, 3, 2, 1}, 1)), PermuteMethod::kFlat);
  // Out rows of 128 bytes of 2-byte elements, and of 240 and 256 of larger ones.
  EXPECT_EQ(method(GaplessProblem({64, 1024, 8, 80}, {3, 2, 1, 0}, 2)), PermuteMethod::kVector);
  EXPECT_EQ(method(GaplessProblem({60, 1024, 8, 80}, {3, 2, 1, 0}, 4)), PermuteMethod::kFlat);
  EXPECT_EQ(method(GaplessProblem({64, 1024, 8, 80}, {3, 2, 1, 0}, 4)), PermuteMethod::kVector);
  EXPECT_EQ(method(GaplessProblem({8, 257, 32, 96}, {1, 3, 2, 0}, 16)), PermuteMethod::kFlat);
  EXPECT_EQ(method(GaplessProblem({16, 257, 32, 96}, {1, 3, 2, 0}, 16)), PermuteMethod::kVector);
  // Out rows of 62.5 sectors, of 98 MB and of 25, and of 63 sectors; transposes of them.
  EXPECT_EQ(method(GaplessProblem({16, 1000, 32, 96}, {0, 3, 2, 1}, 2)), PermuteMethod::kFlat);
  EXPECT_EQ(method(GaplessProblem({4, 1000, 32, 96}, {0, 3, 2, 1}, 2)), PermuteMethod::kVector);
  EXPECT_EQ(method(GaplessProblem({16, 1008, 32, 96}, {0, 3, 2, 1}, 2)), PermuteMethod::kVector);
  EXPECT_EQ(method(GaplessProblem({32, 1000, 20, 80}, {0, 2, 3, 1}, 2)), PermuteMethod::kTranspose);
  EXPECT_EQ(method(GaplessProblem({8, 1000, 20, 80}, {0, 2, 3, 1}, 2)), PermuteMethod::kTranspose);
  EXPECT_EQ(method(GaplessProblem({32, 1008, 20, 80}, {0, 2, 3, 1}, 2)), PermuteMethod::kTranspose);
  // 60 bytes that stay, 188, and rows that begin anywhere.
  EXPECT_EQ(method(GaplessProblem({300, 500, 15}, {1, 0, 2})), PermuteMethod::kTiles);
  EXPECT_EQ(method(GaplessProblem({300, 500, 47}, {1, 0, 2})), PermuteMethod::kTiles);
  EXPECT_EQ(method(GaplessProblem({300, 500, 49}, {1, 0, 2})), PermuteMethod::kRowBytes);
  EXPECT_EQ(method(GaplessProblem({300, 900, 19}, {1, 0, 2}, 2)), PermuteMethod::kTiles);
  EXPECT_EQ(method(GaplessProblem({300, 900, 21}, {1, 0, 2}, 2)), PermuteMethod::kRowBytes);
  EXPECT_EQ(method(GaplessProblem({300, 900, 21}, {1, 0, 2}, 1)), PermuteMethod::kRowBytes);
  EXPECT_EQ(method(GaplessProblem({300, 2400, 21}, {1, 0, 2}, 1)), PermuteMethod::kTiles);
  EXPECT_EQ(method(GaplessProblem({300, 2400, 25}, {1, 0, 2}, 1)), PermuteMethod::kRowBytes);
  EXPECT_EQ(method(GaplessProblem({300, 300, 101}, {1, 0, 2}, 2)), PermuteMethod::kTiles);
  EXPECT_EQ(method(GaplessProblem({300, 300, 301}, {1, 0, 2}, 2)), PermuteMethod::kRowBytes);
  EXPECT_EQ(method(GaplessProblem({300, 50, 101}, {1, 0, 2}, 2)), PermuteMethod::kRowBytes);
  EXPECT_EQ(method(GaplessProblem({300, 50, 133}, {1, 0, 2})), PermuteMethod::kRowBytes);
  EXPECT_EQ(method(GaplessProblem({300, 50, 133}, {1, 0, 2}, 8)), PermuteMethod::kRows);
  // 5 rows of bytes behind which columns go on; tiles where they end soon.
  EXPECT_EQ(method(GaplessProblem({5, 103, 85, 166, 63}, {3, 2, 1, 4, 0}, 1)),
            PermuteMethod::kJoined);
  EXPECT_EQ(method(GaplessProblem({5, 103, 85, 166, 39}, {3, 2, 1, 4, 0}, 1)),
            PermuteMethod::kJoined);
  EXPECT_EQ(method(GaplessProblem({5, 103, 85, 166, 37}, {3, 2, 1, 4, 0}, 1)),
            PermuteMethod::kTiles);
  // Rows of bytes of less than 160 whose columns are long and begin with few elements.
  EXPECT_EQ(method(GaplessProblem({50, 70, 32, 41, 5}, {2, 0, 4, 3, 1}, 1)), PermuteMethod::kFlat);
  EXPECT_EQ(method(GaplessProblem({50, 70, 32, 41, 7}, {2, 0, 4, 3, 1}, 1)), PermuteMethod::kTiles);
  // Rows that end inside a sector are joined up to 272 bytes, and 512 of 4 bytes and more;
  // whole sectors of fewer bytes than the 160 that flat tiles need take tiles.
  EXPECT_EQ(method(GaplessProblem({91, 46, 62, 14, 109}, {3, 1, 2, 4, 0}, 1)),
            PermuteMethod::kJoined);
  EXPECT_EQ(method(GaplessProblem({96, 46, 62, 14, 109}, {3, 1, 2, 4, 0}, 1)),
            PermuteMethod::kTiles);
  EXPECT_EQ(method(GaplessProblem({131, 46, 62, 14, 109}, {3, 1, 2, 4, 0}, 1)),
            PermuteMethod::kJoined);
  EXPECT_EQ(method(GaplessProblem({160, 46, 62, 14, 109}, {3, 1, 2, 4, 0}, 1)),
            PermuteMethod::kFlat);
  EXPECT_EQ(method(GaplessProblem({135, 46, 62, 14, 109}, {3, 1, 2, 4, 0}, 2)),
            PermuteMethod::kJoined);
  EXPECT_EQ(method(GaplessProblem({137, 46, 62, 14, 109}, {3, 1, 2, 4, 0}, 2)),
            PermuteMethod::kFlat);
  EXPECT_EQ(method(GaplessProblem({127, 46, 62, 14, 109}, {3, 1, 2, 4, 0}, 4)),
            PermuteMethod::kJoined);
  EXPECT_EQ(method(GaplessProblem({129, 46, 62, 14, 109}, {3, 1, 2, 4, 0}, 4)),
            PermuteMethod::kFlat);
  EXPECT_EQ(method(GaplessProblem({37, 46, 62, 14, 33}, {3, 1, 2, 4, 0}, 8)),
            PermuteMethod::kJoined);
  EXPECT_EQ(method(GaplessProblem({23, 46, 62, 14, 109}, {3, 1, 2, 4, 0}, 4)),
            PermuteMethod::kJoined);
  EXPECT_EQ(method(GaplessProblem({2, 40, 103, 43}, {2, 1, 3, 0}, 8)), PermuteMethod::kTiles);
  // Blocks of up to 512 elements of 1 and 2 bytes, or, where runs are short, 2048, and of up to 4
  // KB.
  EXPECT_EQ(method(GaplessProblem({300, 50, 5, 43}, {1, 0, 3, 2}, 1)), PermuteMethod::kBlocks);
  EXPECT_EQ(method(GaplessProblem({300, 50, 18, 31}, {1, 0, 3, 2}, 2)), PermuteMethod::kBlocks);
  EXPECT_EQ(method(GaplessProblem({300, 50, 5, 43}, {1, 0, 3, 2}, 4)), PermuteMethod::kBlocks);
  EXPECT_EQ(method(GaplessProblem({300, 50, 5, 205}, {1, 0, 3, 2}, 4)), PermuteMethod::kJoined);
  // Larger ones, and those of whole vectors, are batches of batches of matrices.
  EXPECT_EQ(method(GaplessProblem({300, 50, 18, 32}, {1, 0, 3, 2}, 2)), PermuteMethod::kTranspose);
  EXPECT_EQ(method(GaplessProblem({11, 4, 430, 51, 430}, {1, 0, 3, 4, 2}, 1)),
            PermuteMethod::kTranspose);
  EXPECT_EQ(method(GaplessProblem({24, 5, 56, 16, 120}, {1, 0, 3, 4, 2}, 1)),
            PermuteMethod::kTranspose);
  EXPECT_EQ(method(GaplessProblem({5, 7, 200, 333}, {1, 0, 3, 2}, 1)), PermuteMethod::kTranspose);
  EXPECT_EQ(method(GaplessProblem({3, 2, 2900, 2001}, {1, 0, 3, 2}, 1)), PermuteMethod::kTranspose);
  // What makes no long run on both sides.
  EXPECT_EQ(method(GaplessProblem({3000, 50, 5}, {1, 0, 2}, 2)), PermuteMethod::kTiles);
  EXPECT_EQ(method(GaplessProblem({9000, 4, 6, 5}, {1, 0, 3, 2}, 2)), PermuteMethod::kTiles);
  // As much as takes as long as a launch.
  EXPECT_EQ(method(GaplessProblem({3, 5, 15}, {1, 0, 2})), PermuteMethod::kDirect);
  EXPECT_EQ(method(GaplessProblem({3, 5, 7}, {2, 1, 0})), PermuteMethod::kDirect);
  EXPECT_EQ(method(GaplessProblem({100, 70, 70}, {2, 1, 0})), PermuteMethod::kDirect);
  EXPECT_EQ(method(GaplessProblem({100, 71, 71}, {2, 1, 0})), PermuteMethod::kFlat);
}

}  // namespace
}  // namespace stridewise
