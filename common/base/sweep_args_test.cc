#include "common/base/sweep_args.h"

#include <array>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

constexpr char kFlag[] = "--the_flag";

// One line that names the flag and the offending text.
void ExpectClearError(const absl::Status& status, absl::string_view offending,
                      absl::string_view text) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << "'" << text << "'";
  for (absl::string_view part : {absl::string_view(kFlag), offending}) {
    EXPECT_NE(status.message().find(part), absl::string_view::npos)
        << "'" << text << "': " << status;
  }
  EXPECT_EQ(status.message().find('\n'), absl::string_view::npos) << status;
}

struct BadCase {
  std::string text;
  std::string offending;
};

TEST(ParseSizesTest, Lists) {
  const struct {
    const char* text;
    std::vector<int64_t> sizes;
  } kCases[] = {
      {"0", {0}},
      {"16777216", {16777216}},
      {"7,5,7,6", {7, 5, 6}},
      {" 1 , 2 ", {1, 2}},
      {"1:31:10", {1, 11, 21, 31}},
      {"1:30:10", {1, 11, 21}},
      {"0:2:1", {0, 1, 2}},
      {"5:5:1", {5}},
      {"5:6:100", {5}},
      {"32:256:*2", {32, 64, 128, 256}},
      {"3:26:*3", {3, 9}},
      {"1:16777216:*16777216", {1, 16777216}},
      {"64,32:128:*2,96:160:32", {64, 32, 128, 96, 160}},
      {"007", {7}},
  };
  for (const auto& test : kCases) {
    const absl::StatusOr<std::vector<int64_t>> sizes = ParseSizes(kFlag, test.text);
    ASSERT_TRUE(sizes.ok()) << test.text << ": " << sizes.status();
    EXPECT_EQ(*sizes, test.sizes) << test.text;
  }
}

TEST(ParseSizesTest, LongLists) {
  EXPECT_EQ(ParseSizes(kFlag, "1:5001:10")->size(), 501u);
  EXPECT_EQ(ParseSizes(kFlag, "1:100000:1")->size(), 100000u);
  ExpectClearError(ParseSizes(kFlag, "1:100001:1").status(), "100000", "1:100001:1");
  ExpectClearError(ParseSizes(kFlag, "0:16777216:1").status(), "100000", "0:16777216:1");
  ExpectClearError(ParseSizes(kFlag, "1:60000:1,60001:120000:1").status(), "100000", "two");
}

TEST(ParseSizesTest, Errors) {
  const BadCase kCases[] = {
      {"", "''"},
      {" ", "''"},
      {"1,", "''"},
      {",1", "''"},
      {"1,,2", "''"},
      {"-1", "'-1'"},
      {"+1", "'+1'"},
      {"2,1.5", "'1.5'"},
      {"1e3", "'1e3'"},
      {"0x10", "'0x10'"},
      {"12k", "'12k'"},
      {"1 2", "'1 2'"},
      {"16777217", "'16777217'"},
      {"99999999999999999999", "99999999999999999999"},
      {"1:2", "'1:2'"},
      {"1:2:3:4", "'1:2:3:4'"},
      {"1::2", "'1::2'"},
      {":1:2", "':1:2'"},
      {"1:2:", "'1:2:'"},
      {"1:2:*", "'1:2:*'"},
      {"1:2:**2", "'1:2:**2'"},
      {"10:1:1", "'10:1:1'"},
      {"1:10:0", "'1:10:0'"},
      {"1:10:-1", "'1:10:-1'"},
      {"1:10:*1", "'1:10:*1'"},
      {"1:10:*0", "'1:10:*0'"},
      {"0:10:*2", "'0:10:*2'"},
      {"1:16777217:1", "'1:16777217:1'"},
      {"1:2:99999999999999999999", "99999999999999999999"},
      {"\xC3\xA9\n", "\\xc3"},
  };
  for (const BadCase& test : kCases) {
    ExpectClearError(ParseSizes(kFlag, test.text).status(), test.offending, test.text);
  }
}

TEST(ParseShapesTest, Lists) {
  const auto shapes = ParseShapes(kFlag, "1x2x3, 0x0X0,1x2x3,4096x512x1");
  ASSERT_TRUE(shapes.ok()) << shapes.status();
  std::vector<std::array<int64_t, 3>> got;
  for (const Shape3& shape : *shapes) got.push_back({shape.m, shape.n, shape.k});
  EXPECT_EQ(got, (std::vector<std::array<int64_t, 3>>{{1, 2, 3}, {0, 0, 0}, {4096, 512, 1}}));

  const auto shapes2 = ParseShapes2(kFlag, "3x5,2147483648x512,5x3");
  ASSERT_TRUE(shapes2.ok()) << shapes2.status();
  std::vector<std::array<int64_t, 2>> got2;
  for (const Shape2& shape : *shapes2) got2.push_back({shape.rows, shape.cols});
  EXPECT_EQ(got2, (std::vector<std::array<int64_t, 2>>{{3, 5}, {2147483648, 512}, {5, 3}}));
}

TEST(ParseShapesTest, Errors) {
  const BadCase kCases[] = {
      {"", "''"},
      {"1x2x3,", "''"},
      {"1x2", "'1x2'"},
      {"1x2x3x4", "'1x2x3x4'"},
      {"1x2x", "'1x2x'"},
      {"x1x2", "'x1x2'"},
      {"1x-2x3", "-2"},
      {"1x2x3.5", "3.5"},
      {"1x 2x3", "1x 2x3"},
      {"2147483649x1x1", "2147483649"},
      {"1x2147483649x1", "2147483649"},
      // Each pair of extents makes a matrix: A, B and C.
      {"1048577x1048576x1", "1048577"},
      {"1048577x1x1048576", "1048577"},
      {"1x1048577x1048576", "1048577"},
      {"2147483648x2147483648x2147483648", "2147483648"},
  };
  for (const BadCase& test : kCases) {
    ExpectClearError(ParseShapes(kFlag, test.text).status(), test.offending, test.text);
  }
  EXPECT_TRUE(ParseShapes(kFlag, "1048576x1048576x1048576").ok());

  const BadCase kCases2[] = {
      {"", "''"},     {"1", "'1'"},     {"1x2x3", "'1x2x3'"},
      {"1x2,3", "3"}, {"ax2", "'ax2'"}, {"2147483648x513", "513"},
  };
  for (const BadCase& test : kCases2) {
    ExpectClearError(ParseShapes2(kFlag, test.text).status(), test.offending, test.text);
  }
}

TEST(ParseExtentsTest, AnyNumberOfDimensions) {
  using Shapes = std::vector<std::vector<int64_t>>;
  EXPECT_EQ(*ParseExtents(kFlag, "1:3:1,8,2", 1), (Shapes{{1}, {2}, {3}, {8}}));
  EXPECT_EQ(*ParseExtents(kFlag, "3x5, 7X0,3x5", 2), (Shapes{{3, 5}, {7, 0}}));
  EXPECT_EQ(*ParseExtents(kFlag, "1x2x3", 3), (Shapes{{1, 2, 3}}));
  EXPECT_EQ(*ParseExtents(kFlag, "1x2x3x4", 4), (Shapes{{1, 2, 3, 4}}));
  ExpectClearError(ParseExtents(kFlag, "3x5", 1).status(), "'3x5'", "3x5");
  ExpectClearError(ParseExtents(kFlag, "3", 2).status(), "ROWSxCOLS", "3");
  ExpectClearError(ParseExtents(kFlag, "3x5", 3).status(), "MxNxK", "3x5");
  ExpectClearError(ParseExtents(kFlag, "3x5x7", 4).status(), "4 extents", "3x5x7");
  ExpectClearError(ParseExtents(kFlag, "1x1048577x1x1048576", 4).status(), "1048577", "too large");
}

TEST(ShapeTextTest, IsWhatParseExtentsReads) {
  EXPECT_EQ(ShapeText({4096}), "4096");
  EXPECT_EQ(ShapeText({4096, 0}), "4096x0");
  const std::vector<std::vector<int64_t>> shapes = {{7, 5, 0}};
  EXPECT_EQ(*ParseExtents(kFlag, ShapeText(shapes[0]), 3), shapes);
}

TEST(ParseBlocksTest, ListsAndErrors) {
  const auto blocks = ParseBlocks(kFlag, "32x8,1x1024,1024x1,32x32,32x8");
  ASSERT_TRUE(blocks.ok()) << blocks.status();
  std::vector<std::array<int, 2>> got;
  for (const BlockShape& block : *blocks) got.push_back({block.x, block.y});
  EXPECT_EQ(got, (std::vector<std::array<int, 2>>{{32, 8}, {1, 1024}, {1024, 1}, {32, 32}}));

  const BadCase kCases[] = {
      {"", "''"},           {"32", "'32'"},     {"0x8", "'0x8'"},     {"8x0", "'8x0'"},
      {"1025x1", "1025"},   {"1x1025", "1025"}, {"33x32", "'33x32'"}, {"32x8x1", "32x8x1"},
      {"-32x8", "'-32x8'"}, {"32x8,,", "''"},
  };
  for (const BadCase& test : kCases) {
    ExpectClearError(ParseBlocks(kFlag, test.text).status(), test.offending, test.text);
  }
}

TEST(ParseBatchTest, NumbersAndErrors) {
  EXPECT_EQ(*ParseBatch(kFlag, "1"), 1);
  EXPECT_EQ(*ParseBatch(kFlag, "2147483648"), kMaxExtent);
  for (const char* text : {"", "0", "-1", "1.5", "2147483649", "many", "1,2", " 1"}) {
    ExpectClearError(ParseBatch(kFlag, text).status(), text, text);
  }
}

TEST(ParseShardTest, NumbersAndErrors) {
  const absl::StatusOr<Shard> shard = ParseShard(kFlag, "3/16");
  ASSERT_TRUE(shard.ok()) << shard.status();
  EXPECT_EQ(shard->index, 3);
  EXPECT_EQ(shard->count, 16);
  EXPECT_TRUE(ParseShard(kFlag, "1/1").ok());
  EXPECT_TRUE(ParseShard(kFlag, "1000000/1000000").ok());
  for (const char* text : {"", "1", "/", "1/", "/2", "0/2", "3/2", "-1/2", "1/0", "1/2/3", "1 / 2",
                           "a/b", "1/1000001"}) {
    ExpectClearError(ParseShard(kFlag, text).status(), text, text);
  }
}

TEST(SelectByGlobTest, Selects) {
  const std::vector<std::string> kNames = {"cpu_naive", "eigen",  "eigen_1core",    "naive",
                                           "tiled",     "cublas", "cublas_pedantic"};
  const struct {
    const char* patterns;
    std::vector<size_t> selected;
  } kCases[] = {
      {"", {0, 1, 2, 3, 4, 5, 6}},
      {" ", {0, 1, 2, 3, 4, 5, 6}},
      {"*", {0, 1, 2, 3, 4, 5, 6}},
      {"eigen", {1}},
      {"eigen*", {1, 2}},
      {"tiled,naive", {3, 4}},
      {"tiled, *naive ,tiled", {0, 3, 4}},
      {"?aive", {3}},
      {"*_*", {0, 2, 6}},
  };
  for (const auto& test : kCases) {
    const auto selected = SelectByGlob(kFlag, test.patterns, kNames);
    ASSERT_TRUE(selected.ok()) << test.patterns << ": " << selected.status();
    EXPECT_EQ(*selected, test.selected) << test.patterns;
  }
  EXPECT_EQ(*SelectByGlob(kFlag, "a[1]", {"a1", "a[1]"}), (std::vector<size_t>{0, 1}));
  EXPECT_TRUE(SelectByGlob(kFlag, "", {})->empty());
}

TEST(SelectByGlobTest, ErrorsNameThePatternAndTheNames) {
  for (const BadCase& test : std::vector<BadCase>{{"tild", "'tild'"},
                                                  {"tiled,cu*", "'cu*'"},
                                                  {"Tiled", "'Tiled'"},
                                                  {"tiled,", "''"},
                                                  {"tile", "'tile'"}}) {
    const absl::Status status = SelectByGlob(kFlag, test.text, {"naive", "tiled"}).status();
    ExpectClearError(status, test.offending, test.text);
    ExpectClearError(status, "naive, tiled", test.text);
  }
}

TEST(ModesTest, Parse) {
  for (const L2Mode mode : {L2Mode::kCold, L2Mode::kHot}) {
    EXPECT_EQ(*ParseL2Mode(kFlag, L2ModeName(mode)), mode);
  }
  EXPECT_EQ(*ParseL2Mode(kFlag, "hot"), L2Mode::kHot);
  for (const VerifyMode mode : {VerifyMode::kFull, VerifyMode::kFast, VerifyMode::kOff}) {
    EXPECT_EQ(*ParseVerifyMode(kFlag, VerifyModeName(mode)), mode);
  }
  EXPECT_EQ(*ParseVerifyMode(kFlag, "fast"), VerifyMode::kFast);
  for (const char* text : {"", "warm", "Cold", "cold,hot"}) {
    ExpectClearError(ParseL2Mode(kFlag, text).status(), absl::StrCat("'", text, "'"), text);
    ExpectClearError(ParseVerifyMode(kFlag, text).status(), absl::StrCat("'", text, "'"), text);
  }
}

}  // namespace
}  // namespace stridewise
