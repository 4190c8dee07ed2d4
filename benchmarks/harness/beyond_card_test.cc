#include "benchmarks/harness/beyond_card.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/harness/test/fake_operation.h"
#include "benchmarks/matmul/operation.h"
#include "benchmarks/transpose/operation.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

TEST(BeyondCardTest, OnceForWhatHasItsOperandsOnTheDevice) {
  const FakeOperation operation;
  for (const char* name : {"naive", "library", "copy"}) {
    Config config;
    config.operation = &operation;
    config.implementation = operation.Find(name);
    config.point = operation.UsualPoint({5, 7});
    config.block = {16, 16, 1};
    config.family = "model";
    const auto more = BeyondCard(config);
    ASSERT_TRUE(more.has_value()) << name;
    EXPECT_EQ(more->implementation, operation.beyond_card());
    EXPECT_TRUE(more->point == config.point);
    EXPECT_EQ(more->block.x, 0);
    EXPECT_EQ(more->family, "model");
    EXPECT_FALSE(BeyondCard(*more).has_value());
  }
  Config on_host;
  on_host.operation = &operation;
  on_host.implementation = operation.Find("loop");
  on_host.point = operation.UsualPoint({5, 7});
  EXPECT_FALSE(BeyondCard(on_host).has_value());
}

std::string Beyond(const Operation& operation, Point point) {
  Config config;
  config.operation = &operation;
  config.implementation = operation.Find("auto");
  config.point = std::move(point);
  const auto more = BeyondCard(config);
  return more.has_value() ? more->implementation->name : "";
}

TEST(BeyondCardTest, StreamedTakesWhatStreamedCallsTake) {
  for (const Operation* operation : {&MatMulOperation(), &TransposeOperations()}) {
    const std::vector<int64_t> extents(operation->extent_columns().size(), 5);
    Point point = operation->UsualPoint(extents);
    EXPECT_EQ(Beyond(*operation, point), "streamed");
    point.batch = 2;
    EXPECT_EQ(Beyond(*operation, point), "");
  }
  const Operation& products = MatMulOperation();
  Point point = products.UsualPoint({5, 5, 5});
  for (const auto& [type, expected] : std::vector<std::pair<std::string, std::string>>{
           {"bf16_float", "streamed"}, {"s8_int", "streamed"}, {"bf16", ""}, {"double", ""}}) {
    point.type = type;
    EXPECT_EQ(Beyond(products, point), expected) << type;
  }
}

}  // namespace
}  // namespace stridewise
