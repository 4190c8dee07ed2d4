#include "common/base/mapped_file.h"

#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

std::string PathOf(const std::string& name) { return testing::TempDir() + "/mapped_" + name; }

std::string Contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

TEST(MappedFileTest, ReadsWhatIsThere) {
  for (const size_t bytes : {0, 1, 4095, 4096, 4097, 100'000}) {
    const std::string path = PathOf("read");
    std::string text(bytes, '\0');
    for (size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * 31);
    std::ofstream(path, std::ios::binary) << text;
    const auto file = MappedFile::Open(path);
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_EQ(file->bytes(), static_cast<int64_t>(bytes));
    EXPECT_EQ(file->data() == nullptr, bytes == 0);
    EXPECT_EQ(std::string(file->As<char>(), bytes), text);
    ::unlink(path.c_str());
  }
}

TEST(MappedFileTest, WritesToTheFile) {
  const std::string path = PathOf("write");
  ::unlink(path.c_str());
  {
    auto file = MappedFile::Create(path, 5000);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ(Contents(path), std::string(5000, '\0'));
    file->As<char>()[4999] = 'x';
    EXPECT_TRUE(file->Flush().ok());
  }
  {
    auto file = MappedFile::OpenForWriting(path);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ(file->As<char>()[4999], 'x');
    file->As<char>()[0] = 'y';
    MappedFile moved = *std::move(file);
    moved.As<char>()[1] = 'z';
    EXPECT_TRUE(moved.Flush().ok());
  }
  EXPECT_EQ(Contents(path), "yz" + std::string(4997, '\0') + "x");
  EXPECT_TRUE(absl::IsAlreadyExists(MappedFile::Create(path, 1).status()));
  EXPECT_EQ(Contents(path).size(), 5000u);
  ::unlink(path.c_str());
}

TEST(MappedFileTest, UnnamedFilesAreMemory) {
  auto first = MappedFile::CreateUnnamed(testing::TempDir(), 10'000);
  auto second = MappedFile::CreateUnnamed(testing::TempDir(), 10'000);
  ASSERT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
  std::memset(first->data(), 1, 10'000);
  for (int64_t i = 0; i < 10'000; ++i) ASSERT_EQ(second->As<char>()[i], 0);
  const auto empty = MappedFile::CreateUnnamed(testing::TempDir(), 0);
  EXPECT_TRUE(empty.ok() && empty->bytes() == 0);
}

TEST(MappedFileTest, NamesTheFileThatFails) {
  const std::string missing = PathOf("missing/file");
  for (const absl::Status& status :
       {MappedFile::Open(missing).status(), MappedFile::OpenForWriting(missing).status(),
        MappedFile::Create(missing, 1).status(), MappedFile::CreateUnnamed(missing, 1).status()}) {
    EXPECT_TRUE(absl::IsNotFound(status)) << status;
    EXPECT_NE(status.message().find(missing), absl::string_view::npos) << status;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(MappedFile::Open(testing::TempDir()).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(MappedFile::Create(PathOf("negative"), -1).status()));
  // More than any disk has; nothing is left behind.
  const std::string large = PathOf("large");
  EXPECT_FALSE(MappedFile::Create(large, int64_t{1} << 60).ok());
  EXPECT_TRUE(absl::IsNotFound(MappedFile::Open(large).status()));
}

}  // namespace
}  // namespace stridewise
