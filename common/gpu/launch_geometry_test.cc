#include "common/gpu/launch_geometry.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

struct GeometryCase {
  Grid grid;
  Block block;
  std::string refused;  // The extent that the error must name; empty when the launch is legal.
};

TEST(CheckLaunchGeometry, HoldsCudasLimits) {
  const std::vector<GeometryCase> cases = {
      {{1, 1, 1}, {32, 32}, ""},
      {{2147483647, 65535, 65535}, {1024}, ""},
      {{1, 1, 1}, {1, 1024}, ""},
      {{1, 1, 1}, {16, 1, 64}, ""},
      {{0, 5, 1}, {32, 8}, ""},
      {{2147483648, 1, 1}, {32}, "grid.x"},
      {{int64_t{1} << 32, 1, 1}, {32}, "grid.x"},
      {{1, 65536, 1}, {32}, "grid.y"},
      {{1, 1, 65536}, {32}, "grid.z"},
      {{-1, 1, 1}, {32}, "grid.x"},
      {{1, 1, 1}, {0, 1}, "block.x"},
      {{1, 1, 1}, {1025, 1}, "block.x"},
      {{1, 1, 1}, {1, 1025}, "block.y"},
      {{1, 1, 1}, {1, 1, 65}, "block.z"},
      {{1, 1, 1}, {64, 32}, "threads per block"},
  };
  for (const GeometryCase& c : cases) {
    const absl::Status status = CheckLaunchGeometry(c.grid, c.block);
    if (c.refused.empty()) {
      EXPECT_TRUE(status.ok()) << status;
    } else {
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.refused;
      EXPECT_NE(std::string(status.message()).find(c.refused), std::string::npos) << status;
    }
  }
}

TEST(TileGrid, CoversEveryTileWithinTheLimits) {
  for (int64_t rows :
       {int64_t{0}, int64_t{1}, int64_t{31}, int64_t{32}, int64_t{33}, int64_t{65535} * 32,
        int64_t{65535} * 32 + 1, int64_t{4194304} * 8, int64_t{1} << 36}) {
    const Grid grid = TileGrid(rows, 3, 32, 32);
    EXPECT_TRUE(CheckLaunchGeometry(grid, {32, 32}).ok()) << rows;
    EXPECT_EQ(grid.x, 1);
    EXPECT_GE(grid.y * grid.z * 32, rows);
    // Balanced: no layer is wholly idle.
    EXPECT_LE((grid.z - 1) * grid.y * 32, rows);
    EXPECT_EQ(rows == 0, grid.y == 0);
  }
}

}  // namespace
}  // namespace stridewise
