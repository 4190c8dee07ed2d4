// A choice is made once, and anew where anything differs that it may depend on.

#include "matmul/latest_choices.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/gpu/device_model.h"
#include "gtest/gtest.h"
#include "matmul/args.h"

namespace stridewise {
namespace {

struct Call {
  MatMulArgs args;
  DeviceModel device = H200Model();
  int64_t more = 0;
};

// Addresses that nothing is read from.
void* At(uintptr_t address) { return reinterpret_cast<void*>(address); }

Call SomeCall() {
  Call call;
  call.args.m = 100;
  call.args.n = 200;
  call.args.k = 300;
  call.args.a = {At(4096), 304, ElementType::kFloat};
  call.args.b = {At(8192), 208, ElementType::kFloat};
  call.args.c = {At(12288), 216, ElementType::kFloat};
  call.args.batch = 2;
  return call;
}

struct Difference {
  std::string name;
  std::function<void(Call* call)> make;
};

const std::vector<Difference>& Differences() {
  static const auto& differences = *new std::vector<Difference>{
      {"m", [](Call* call) { ++call->args.m; }},
      {"n", [](Call* call) { ++call->args.n; }},
      {"k", [](Call* call) { ++call->args.k; }},
      {"batch", [](Call* call) { ++call->args.batch; }},
      {"lda", [](Call* call) { ++call->args.a.ld; }},
      {"ldb", [](Call* call) { ++call->args.b.ld; }},
      {"ldc", [](Call* call) { ++call->args.c.ld; }},
      {"stride of A", [](Call* call) { ++call->args.a.stride; }},
      {"stride of B", [](Call* call) { ++call->args.b.stride; }},
      {"stride of C", [](Call* call) { ++call->args.c.stride; }},
      {"A transposed", [](Call* call) { call->args.a.transposed = true; }},
      {"B transposed", [](Call* call) { call->args.b.transposed = true; }},
      {"type of A", [](Call* call) { call->args.a.type = ElementType::kBf16; }},
      {"type of B", [](Call* call) { call->args.b.type = ElementType::kBf16; }},
      {"type of C", [](Call* call) { call->args.c.type = ElementType::kBf16; }},
      {"alpha 0", [](Call* call) { call->args.alpha = 0; }},
      {"alpha 0 as a float", [](Call* call) { call->args.alpha = 1e-300; }},
      {"beta", [](Call* call) { call->args.beta = 1; }},
      {"precision", [](Call* call) { call->args.precision = MatMulPrecision::kTf32; }},
      {"workspace", [](Call* call) { call->args.workspace_bytes = 1; }},
      {"alignment of A", [](Call* call) { call->args.a.data = At(4100); }},
      {"alignment of B", [](Call* call) { call->args.b.data = At(8196); }},
      {"alignment of C", [](Call* call) { call->args.c.data = At(12292); }},
      {"capability", [](Call* call) { call->device.compute_capability = 80; }},
      {"shared memory", [](Call* call) { call->device.max_shared_bytes = 99 << 10; }},
      {"multiprocessors", [](Call* call) { ++call->device.multiprocessors; }},
      {"cost of a split", [](Call* call) { call->device.split_cost_factor = 0; }},
      {"cost of a part of k", [](Call* call) { ++call->device.k_part_cost_bytes; }},
      {"memory's rate", [](Call* call) { ++call->device.memory_gbps; }},
      {"more", [](Call* call) { ++call->more; }},
  };
  return differences;
}

TEST(LatestChoicesTest, MakesAChoiceAnewWhereAnythingDiffersThatItMayDependOn) {
  LatestChoices<std::string> latest;
  const auto choose = [&](const Call& call, const std::string& name) {
    return latest.For(call.args, call.device, call.more, [&] { return name; });
  };
  const Call call = SomeCall();
  for (const Difference& difference : Differences()) {
    Call other = SomeCall();
    difference.make(&other);
    // Whether the other one takes the place of this one or a place of its own.
    EXPECT_EQ(choose(call, "plain"), "plain") << difference.name;
    EXPECT_EQ(choose(other, difference.name), difference.name);
  }
}

TEST(LatestChoicesTest, KeepsAChoiceForCallsThatDifferInNothingElse) {
  LatestChoices<int> latest;
  Call call = SomeCall();
  const auto choose = [&](int choice) {
    return latest.For(call.args, call.device, call.more, [&] { return choice; });
  };
  EXPECT_EQ(choose(1), 1);
  EXPECT_EQ(choose(2), 1);
  call.args.a.data = At(4096 + 16);
  call.args.c.data = At(12288 - 32);
  call.args.alpha = 2;
  EXPECT_EQ(choose(3), 1);
}

}  // namespace
}  // namespace stridewise
