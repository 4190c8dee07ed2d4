#include "common/gpu/buffer.h"

#include <cmath>
#include <cstdint>
#include <utility>

#include "gtest/gtest.h"

namespace stridewise {
namespace {

TEST(HostBuffer, IsAlignedAndWritable) {
  for (const size_t bytes : {1, 63, 64, 65, 4096}) {
    auto buffer = HostBuffer::Allocate(bytes, HostMemory::kPageable);
    ASSERT_TRUE(buffer.ok()) << buffer.status();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % 64, 0u);
    EXPECT_EQ(buffer->bytes(), bytes);
    buffer->Poison();
    EXPECT_EQ(buffer->As<uint8_t>()[bytes - 1], 0xff);
  }
}

TEST(HostBuffer, PoisonIsNotANumber) {
  auto buffer = HostBuffer::Allocate(16, HostMemory::kPageable);
  ASSERT_TRUE(buffer.ok());
  buffer->Poison();
  EXPECT_TRUE(std::isnan(buffer->As<float>()[3]));
  EXPECT_TRUE(std::isnan(buffer->As<double>()[1]));
}

TEST(HostBuffer, NothingIsAllocatedForNoBytes) {
  auto buffer = HostBuffer::Allocate(0, HostMemory::kPageable);
  ASSERT_TRUE(buffer.ok());
  EXPECT_EQ(buffer->data(), nullptr);
  buffer->Poison();
}

TEST(HostBuffer, MoreThanTheMachineHasIsRefusedWithTheBytes) {
  const size_t absurd = size_t{1} << 50;
  const auto buffer = HostBuffer::Allocate(absurd, HostMemory::kPageable);
  EXPECT_EQ(buffer.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(buffer.status().message().find("1125899906842624"), absl::string_view::npos);
}

TEST(HostBuffer, MovesItsMemory) {
  auto buffer = HostBuffer::Allocate(8, HostMemory::kPageable);
  ASSERT_TRUE(buffer.ok());
  void* data = buffer->data();
  HostBuffer moved = *std::move(buffer);
  HostBuffer assigned;
  assigned = std::move(moved);
  EXPECT_EQ(assigned.data(), data);
}

}  // namespace
}  // namespace stridewise
