#include "benchmarks/permute/cutensor_permutation.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/harness/workload.h"
#include "benchmarks/permute/cutensor_library.h"
#include "benchmarks/permute/implementations.h"
#include "benchmarks/permute/operation.h"
#include "benchmarks/permute/permuted_tensor.h"
#include "common/gpu/implementation.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

constexpr char kLibrary[] = "benchmarks/permute/libfake_cutensor.so";

// Of the fake library, where it was loaded.
int Objects() {
  static void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  const auto count = reinterpret_cast<int (*)()>(dlsym(library, "FakeCutensorObjects"));
  return count();
}

const PermuteImplementation& Cutensor() {
  return *FindByName(PermuteImplementations(), "cutensor");
}

Point PointOf(const std::string& permutation, const char* type) {
  return PointOfPermutation(ParsePermutation("permutation", permutation).value(), type);
}

// What the system or its environment lacks is one line that says what to set. A library is looked
// for once in a process: each runs in one of its own.
TEST(LoadCutensorDeathTest, SaysInOneLineWhyThereIsNone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const struct {
    const char* library;
    const char* version;
    const char* says;
  } cases[] = {
      {"/no/such/libcutensor.so.2", "20000", "cuTENSOR: .*/no/such/libcutensor.so.2.*"},
      {"libc.so.6", "20000", "cuTENSOR: the library has not cutensorGetVersion; "},
      {kLibrary, "10700", "cuTENSOR: the library has not what cuTENSOR 2.0 brought; "},
  };
  for (const auto& c : cases) {
    const auto print = [&] {
      setenv("STRIDEWISE_CUTENSOR", c.library, 1);
      setenv("FAKE_CUTENSOR_VERSION", c.version, 1);
      const absl::Status status =
          PermuteOperation().CheckSupported(Cutensor(), PointOf("3x4:10", "float"));
      const std::string message(status.message());
      fprintf(stderr, "%d %s\n", static_cast<int>(status.code()), message.c_str());
      exit(absl::StrContains(message, "\n") ? 1 : 0);
    };
    EXPECT_EXIT(print(), testing::ExitedWithCode(0),
                absl::StrCat("^14 ", c.says, ".*STRIDEWISE_CUTENSOR"));
  }
}

class CutensorPermutationTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("STRIDEWISE_CUTENSOR", kLibrary, 1); }
};

TEST_F(CutensorPermutationTest, PermutesWhatTheSweepDoes) {
  for (const char* permutation :
       {"7:0", "30x50:10", "5x6x7:210", "4x5x6x8:0213", "2x3x4x5x6x7:504132"}) {
    for (const char* type : {"u16", "float", "double", "float4"}) {
      const Point point = PointOf(permutation, type);
      ASSERT_TRUE(PermuteOperation().CheckSupported(Cutensor(), point).ok());
      auto workload = Workload::Create(PermuteOperation().MakeProblem(point), /*seed=*/7,
                                       HostMemory::kPageable);
      ASSERT_TRUE(workload.ok()) << workload.status();
      const size_t bytes = workload->problem().output().bytes;
      // Twice from one plan.
      const Binding binding = workload->problem().Bind(Cutensor(), kNoBlock);
      for (int run = 0; run < 2; ++run) {
        std::unique_ptr<void, void (*)(void*)> in(aligned_alloc(128, bytes / 128 * 128 + 128),
                                                  std::free);
        std::unique_ptr<void, void (*)(void*)> out(aligned_alloc(128, bytes / 128 * 128 + 128),
                                                   std::free);
        std::memcpy(in.get(), workload->inputs()[0], bytes);
        void* const inputs[] = {in.get()};
        Buffers buffers;
        buffers.inputs = inputs;
        buffers.output = out.get();
        workload->PoisonOutput();
        const absl::Status status = binding.run(buffers);
        ASSERT_TRUE(status.ok()) << permutation << " " << type << ": " << status;
        std::memcpy(workload->output(), out.get(), bytes);
        const absl::Status verified =
            workload->Verify(Cutensor(), VerifyMode::kFull, nullptr, nullptr);
        EXPECT_TRUE(verified.ok()) << permutation << " " << type << ": " << verified;
      }
    }
  }
  EXPECT_EQ(Objects(), 0);
}

TEST_F(CutensorPermutationTest, BytesAreNotSupported) {
  const absl::Status status =
      PermuteOperation().CheckSupported(Cutensor(), PointOf("3x4:10", "u8"));
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "1 bytes")) << status;
}

TEST_F(CutensorPermutationTest, ItsErrorsAndWrongPointersAreReturned) {
  alignas(128) float in[256] = {};
  alignas(128) float out[256] = {};
  const auto run = [&](const char* permutation, const float* from) {
    PermuteProblem problem =
        PermutedTensor(ParsePermutation("permutation", permutation).value(), 4).Gapless();
    const auto planned = PlanCutensor(problem);
    problem.in = from;
    problem.out = out;
    EXPECT_EQ(planned(problem, nullptr).ok(), planned(problem, nullptr).ok());
    return planned(problem, nullptr);
  };
  EXPECT_TRUE(run("12x14:10", in).ok());
  EXPECT_EQ(run("12x13:10", in).message(), "cutensorCreatePermutation: not supported");
  EXPECT_TRUE(absl::IsInvalidArgument(run("12x14:10", in + 1)));
  EXPECT_EQ(Objects(), 0);
}

}  // namespace
}  // namespace stridewise
