// The library call where no GPU is needed: what it refuses, and the workspace that it needs.

#include "transpose/transpose.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "transpose/registry.h"

namespace stridewise {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

// A valid call with three matrices of 7 x 5 elements of 4 bytes. Its checks look at addresses
// alone, and no memory is behind these.
struct Call {
  MatrixView in = {At(0x100000), 7, 5, 6, 4, 3, 50};
  MutableMatrixView out = {At(0x200000), 5, 7, 8, 4, 3, 40};
  void* workspace = nullptr;
  int64_t workspace_bytes = 0;

  static void* At(uintptr_t address) {
    return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
  }
  void* Behind(int64_t bytes) const { return At(reinterpret_cast<uintptr_t>(in.data) + bytes); }
  absl::Status Run() const { return Transpose(in, out, workspace, workspace_bytes, nullptr); }
};

Call InPlace() {
  Call call;
  call.out.data = Call::At(0x100000);
  call.out.batch_stride = call.in.batch_stride;
  call.workspace = Call::At(0x300000);
  call.workspace_bytes = 7 * 5 * 4;
  return call;
}

Call InPlaceSquare() {
  Call call = InPlace();
  call.in.cols = call.out.rows = 7;
  call.in.ld = call.out.ld = 8;
  call.in.batch_stride = call.out.batch_stride = 60;
  call.workspace = nullptr;
  call.workspace_bytes = 0;
  return call;
}

struct Refusal {
  std::string says;
  void (*spoil)(Call& call);
};

void ExpectRefusals(const Call& right, const std::vector<Refusal>& refusals) {
  for (const Refusal& refusal : refusals) {
    Call call = right;
    refusal.spoil(call);
    const absl::Status status = call.Run();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << refusal.says << ": " << status;
    EXPECT_EQ(std::string(status.message()).rfind(refusal.says, 0), 0u)
        << refusal.says << ": " << status;
  }
}

TEST(Transpose, RefusesByName) {
  ExpectRefusals(
      Call(),
      {
          // Shapes that do not fit.
          {"out.rows is 6; allowed is 5, in.cols", [](Call& c) { c.out.rows = 6; }},
          {"out.cols is 5; allowed is 7, in.rows", [](Call& c) { c.out.cols = 5; }},
          {"out.element_bytes is 8; allowed is 4, in.element_bytes",
           [](Call& c) { c.out.element_bytes = 8; }},
          {"out.batch is 2; allowed is 3, in.batch", [](Call& c) { c.out.batch = 2; }},
          // Numbers that are never allowed.
          {"in.rows is -1; allowed is 0", [](Call& c) { c.in.rows = c.out.cols = -1; }},
          {"in.cols is -1; allowed is 0", [](Call& c) { c.in.cols = c.out.rows = -1; }},
          {"in.batch is -1; allowed is 0", [](Call& c) { c.in.batch = c.out.batch = -1; }},
          {"in.element_bytes is 3; allowed is 1, 2, 4, 8 and 16",
           [](Call& c) { c.in.element_bytes = c.out.element_bytes = 3; }},
          {"in.element_bytes is 0", [](Call& c) { c.in.element_bytes = c.out.element_bytes = 0; }},
          {"in.element_bytes is 32",
           [](Call& c) { c.in.element_bytes = c.out.element_bytes = 32; }},
          {"in.ld is 4; allowed is 5 or more", [](Call& c) { c.in.ld = 4; }},
          {"out.ld is 6; allowed is 7 or more", [](Call& c) { c.out.ld = 6; }},
          // Matrices of a batch that overlap, which is allowed for `in` only.
          {"in.batch_stride is -1; allowed is 0", [](Call& c) { c.in.batch_stride = -1; }},
          {"out.batch_stride is 38; allowed is 39", [](Call& c) { c.out.batch_stride = 38; }},
          {"out.batch_stride is -40", [](Call& c) { c.out.batch_stride = -40; }},
          // More bytes than there are addresses.
          {"in.data has in.ld 4611686018427387903, in.batch_stride 50; allowed are matrices of "
           "fewer "
           "than 2^63 bytes",
           [](Call& c) { c.in.ld = kMax / 2; }},
          {"in.data has in.ld 6, in.batch_stride 4611686018427387903; allowed are matrices",
           [](Call& c) { c.in.batch_stride = kMax / 2; }},
          {"out.data has out.ld 4611686018427387903, out.batch_stride 40",
           [](Call& c) { c.out.ld = kMax / 2; }},
          {"out.data has out.ld 8, out.batch_stride 9223372036854775807",
           [](Call& c) { c.out.batch_stride = kMax; }},
          // Pointers.
          {"in.data is null", [](Call& c) { c.in.data = nullptr; }},
          {"out.data is null", [](Call& c) { c.out.data = nullptr; }},
          {"in.data is not a multiple of 4", [](Call& c) { c.in.data = c.Behind(2); }},
          {"out.data is not a multiple of 4", [](Call& c) { c.out.data = Call::At(0x200001); }},
          // Memory of both matrices: a little further on, the last element, the first.
          {"out.data overlaps in.data", [](Call& c) { c.out.data = c.Behind(4); }},
          {"out.data overlaps in.data",
           [](Call& c) { c.out.data = c.Behind((2 * 50 + 6 * 6 + 5) * 4 - 4); }},
          {"out.data overlaps in.data",
           [](Call& c) { c.out.data = c.Behind(4 - (2 * 40 + 4 * 8 + 7) * 4); }},
      });
}

TEST(Transpose, RefusesByNameInPlace) {
  ExpectRefusals(
      InPlace(),
      {
          {"workspace is null; allowed is device memory of 140 bytes",
           [](Call& c) { c.workspace = nullptr; }},
          {"workspace is not a multiple of 16", [](Call& c) { c.workspace = Call::At(0x300008); }},
          {"workspace is memory of a matrix", [](Call& c) { c.workspace = c.Behind(16); }},
          {"workspace_bytes is 139; allowed is 140 or more",
           [](Call& c) { c.workspace_bytes = 139; }},
          {"workspace_bytes is -1", [](Call& c) { c.workspace_bytes = -1; }},
          {"out.batch_stride is 51; allowed is 50, in.batch_stride",
           [](Call& c) { c.out.batch_stride = 51; }},
          // 41 elements from the first to the last of `in`, more than of `out`.
          {"out.batch_stride is 40; allowed is 41",
           [](Call& c) { c.in.batch_stride = c.out.batch_stride = 40; }},
          {"in.data is null", [](Call& c) { c.in.data = c.out.data = nullptr; }},
          {"in.data is not a multiple of 4", [](Call& c) { c.in.data = c.out.data = c.Behind(2); }},
      });
  ExpectRefusals(InPlaceSquare(),
                 {
                     {"out.ld is 9; allowed is 8, in.ld", [](Call& c) { c.out.ld = 9; }},
                     {"out.batch_stride is 61; allowed is 60, in.batch_stride",
                      [](Call& c) { c.out.batch_stride = 61; }},
                     {"out.batch_stride is 54; allowed is 55",
                      [](Call& c) { c.in.batch_stride = c.out.batch_stride = 54; }},
                     {"in.data is null", [](Call& c) { c.in.data = c.out.data = nullptr; }},
                 });
}

bool IsBuiltIn() { return FindTransposeImplementation("auto")->is_built_in; }

// Without elements there is nothing to point to, nothing to be in place, and nothing to launch.
TEST(Transpose, NoElementsNeedNoMemory) {
  const struct {
    int64_t rows, cols, batch;
  } cases[] = {{0, 5, 1}, {7, 0, 1}, {0, 0, 3}, {7, 5, 0}, {4, 4, 0}};
  for (const auto& c : cases) {
    for (void* data : {Call::At(0), Call::At(0x100000)}) {
      Call call;
      call.in = {data, c.rows, c.cols, 8, 4, c.batch, 64};
      call.out = {data, c.cols, c.rows, 9, 4, c.batch, 65};
      EXPECT_EQ(TransposeWorkspaceBytes(call.in, call.out), 0);
      const absl::Status status = call.Run();
      EXPECT_EQ(status.code(), IsBuiltIn() ? absl::StatusCode::kOk : absl::StatusCode::kUnavailable)
          << c.rows << "x" << c.cols << ", batch of " << c.batch << ": " << status;
    }
  }
}

TEST(Transpose, SaysWhereThereIsNoDeviceCode) {
  if (IsBuiltIn()) GTEST_SKIP() << "built with device code";
  for (const Call& call : {Call(), InPlace(), InPlaceSquare()}) {
    EXPECT_EQ(call.Run().code(), absl::StatusCode::kUnavailable) << call.Run();
  }
}

TEST(TransposeWorkspaceBytes, IsOneMatrixWhereItIsInPlaceAndNotSquare) {
  EXPECT_EQ(TransposeWorkspaceBytes(Call().in, Call().out), 0);
  EXPECT_EQ(TransposeWorkspaceBytes(InPlaceSquare().in, InPlaceSquare().out), 0);
  Call call = InPlace();
  EXPECT_EQ(TransposeWorkspaceBytes(call.in, call.out), 7 * 5 * 4);
  call.in.element_bytes = call.out.element_bytes = 16;
  EXPECT_EQ(TransposeWorkspaceBytes(call.in, call.out), 7 * 5 * 16);
  call.in.batch = call.out.batch = 0;
  EXPECT_EQ(TransposeWorkspaceBytes(call.in, call.out), 0);
}

}  // namespace
}  // namespace stridewise
