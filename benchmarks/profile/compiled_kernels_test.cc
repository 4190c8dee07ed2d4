// The table's kernels have to be those that the host executor runs.

#include "benchmarks/profile/compiled_kernels.h"

#include "absl/status/statusor.h"
#include "benchmarks/harness/make_config.h"
#include "benchmarks/matmul/operation.h"
#include "benchmarks/profile/predicted_demand.h"
#include "benchmarks/transpose/operation.h"
#include "common/executor/predict/machine_model.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

using executor::Demand;
using executor::Quantity;

TEST(FindCompiledKernel, FindsAKernelOrNothing) {
  ASSERT_NE(FindCompiledKernel("Tiled<float,true,32>"), nullptr);
  EXPECT_EQ(FindCompiledKernel("Tiled<float,true,32>")->shared_load_bytes, 16);
  EXPECT_EQ(FindCompiledKernel("Tiled<float,true,31>"), nullptr);
  EXPECT_EQ(FindCompiledKernel(""), nullptr);
}

TEST(PredictedDemand, HasTheInstructionsThatNcuCountsOnAnH200) {
  // Of docs/results/h200/matmul_profile_1024.csv.
  const struct {
    const char* kernel;
    double instructions;
  } kCases[] = {{"naive_one_thread_blocks", 5.85105408e9},
                {"naive_uncoalesced", 182845440},
                {"naive", 182845440},
                {"global_accumulation", 254017536},
                {"tiled_multiply_add", 147095552},
                {"tiled", 113541120},
                {"tile_width_1", 2.50882294e10},
                {"tile_width_8", 214302720},
                {"tile_width_16", 140804096},
                {"register_tile_1d", 70516736},
                {"register_tile_2d", 51615232},
                {"vectorized", 39043072},
                {"warp_tile", 38946304},
                {"double_buffered", 37093632}};
  for (const auto& c : kCases) {
    const absl::StatusOr<Demand> demand =
        PredictedDemand(MakeConfig(MatMulOperation(), c.kernel, {1024, 1024, 1024}, "float"),
                        **executor::FindMachine("--machine", "h200"));
    ASSERT_TRUE(demand.ok()) << demand.status();
    EXPECT_NEAR(demand->totals[Quantity::kInstructions] / c.instructions, 1, 0.1) << c.kernel;
  }
}

TEST(PredictedDemand, ATransposeHasRegistersAndNoLoop) {
  const absl::StatusOr<Demand> demand =
      PredictedDemand(MakeConfig(TransposeOperations(), "naive_row", {64, 64}),
                      **executor::FindMachine("--machine", "h200"));
  ASSERT_TRUE(demand.ok()) << demand.status();
  EXPECT_EQ(demand->totals[Quantity::kInstructions], 0);
  EXPECT_GT(demand->totals[Quantity::kBasicBlocks], 0);
}

}  // namespace
}  // namespace stridewise
