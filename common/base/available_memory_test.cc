#include "common/base/available_memory.h"

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "gtest/gtest.h"

namespace stridewise {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

// A folder that stands for the root of a machine.
class AvailableMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ =
        testing::TempDir() + "/" + testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  void Write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file(root_ + path);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  int64_t Available() const { return AvailableHostBytes(root_); }

  std::string root_;
};

TEST_F(AvailableMemoryTest, NoLimitWhereNobodyTells) { EXPECT_EQ(Available(), kNoLimit); }

TEST_F(AvailableMemoryTest, OfTheMachine) {
  Write("/proc/meminfo",
        "MemTotal: 9000 kB\nMemFree: 50 kB\nMemAvailable:  800 kB\nBuffers: 1 kB\n");
  EXPECT_EQ(Available(), 800 * 1024);
  Write("/proc/self/cgroup", "0::/\n");
  EXPECT_EQ(Available(), 800 * 1024);
}

TEST_F(AvailableMemoryTest, OfTheTightestGroupOfVersion2) {
  Write("/proc/meminfo", "MemAvailable: 8000000 kB\n");
  Write("/proc/self/cgroup", "0::/job/step\n");
  Write("/sys/fs/cgroup/job/step/memory.max", "max\n");
  Write("/sys/fs/cgroup/job/step/memory.current", "100\n");
  EXPECT_EQ(Available(), int64_t{8000000} * 1024);
  Write("/sys/fs/cgroup/job/memory.max", "5000\n");
  Write("/sys/fs/cgroup/job/memory.current", "1500\n");
  EXPECT_EQ(Available(), 3500);
  Write("/sys/fs/cgroup/job/memory.stat", "file 900\ninactive_file 200\nactive_file 700\n");
  EXPECT_EQ(Available(), 3700);
  Write("/sys/fs/cgroup/job/step/memory.max", "600\n");
  EXPECT_EQ(Available(), 500);
  Write("/sys/fs/cgroup/job/step/memory.current", "700\n");
  EXPECT_EQ(Available(), 0);
}

// A container sees its own group as the root.
TEST_F(AvailableMemoryTest, OfTheRootOfAContainer) {
  Write("/proc/self/cgroup", "0::/\n");
  Write("/sys/fs/cgroup/memory.max", "4000\n");
  Write("/sys/fs/cgroup/memory.current", "1000\n");
  EXPECT_EQ(Available(), 3000);
}

TEST_F(AvailableMemoryTest, OfVersion1) {
  Write("/proc/self/cgroup", "9:cpu:/other\n5:memory:/a/b\n0::/\n");
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  Write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "90000\n");
  Write("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "70000\n");
  Write("/sys/fs/cgroup/memory/a/b/memory.usage_in_bytes", "30000\n");
  Write("/sys/fs/cgroup/memory/a/b/memory.stat", "inactive_file 1\ntotal_inactive_file 500\n");
  EXPECT_EQ(Available(), 40500);
}

}  // namespace
}  // namespace stridewise
