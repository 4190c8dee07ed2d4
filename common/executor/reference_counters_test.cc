// What the executor counts against what Nsight Compute read on an H200, kernel by kernel, and that
// it counts the same in any order, on any number of cores and at any level of optimisation.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "common/base/case_random.h"
#include "common/executor/executor.h"
#include "common/executor/profile.h"
#include "common/executor/testdata/reference_kernels.h"
#include "common/measure/csv.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

constexpr EventKind kMemoryKinds[] = {EventKind::kGlobalLoad,   EventKind::kGlobalStore,
                                      EventKind::kGlobalAtomic, EventKind::kSharedLoad,
                                      EventKind::kSharedStore,  EventKind::kSharedAtomic,
                                      EventKind::kSharedCopy};

// A row of the CSV.
class Case {
 public:
  Case(const CsvTable& table, size_t row) : table_(table), row_(table.rows[row]) {}

  const std::string& kernel() const { return Field("kernel"); }
  Grid grid() const { return Extents("grid"); }
  Block block() const { return Extents("block"); }
  std::string name() const { return kernel() + " " + Field("grid") + " " + Field("block"); }

  uint64_t Count(const std::string& column) const {
    uint64_t count = 0;
    EXPECT_TRUE(absl::SimpleAtoi(Field(column), &count)) << column;
    return count;
  }
  double Percent(const std::string& column) const {
    double percent = 0;
    EXPECT_TRUE(absl::SimpleAtod(Field(column), &percent)) << column;
    return percent;
  }

 private:
  const std::string& Field(const std::string& column) const {
    size_t i = 0;
    while (table_.header.at(i) != column) ++i;
    return row_[i];
  }
  Extent3 Extents(const std::string& column) const {
    int x = 0, y = 0, z = 0;
    EXPECT_EQ(std::sscanf(Field(column).c_str(), "(%d, %d, %d)", &x, &y, &z), 3);
    return {x, y, z};
  }

  const CsvTable& table_;
  const std::vector<std::string>& row_;
};

// Selects every fifth of the first hundred blocks, which every case has 4 of or more; all blocks
// where tests are exhaustive.
bool IsCompared(const Extent3& block, const Grid& grid) {
  const int64_t linear = block.x + grid.x * block.y;
  return IsExhaustive() || (linear < 100 && linear % 5 == 0);
}

struct Schedule {
  int threads = 0;  // 0: one for each core of the machine.
  uint64_t seed = 0;
};

Profile ProfileOf(const std::vector<ReferenceKernel>& kernels, const Case& c,
                  const Schedule& schedule,
                  bool (*only)(const Extent3& block, const Grid& grid) = nullptr) {
  ExecutorOptions options;
  options.threads = schedule.threads;
  options.schedule_seed = schedule.seed;
  options.only = only;
  auto executor = Executor::Create(options);
  EXPECT_TRUE(executor.ok()) << executor.status();
  constexpr size_t kElements = size_t{kReferenceExtent} * kReferenceExtent;
  auto in = (*executor)->Allocate("in", kElements * sizeof(float));
  auto out = (*executor)->Allocate("out", kElements * sizeof(float));
  EXPECT_TRUE(in.ok() && out.ok());
  in->Upload(std::vector<float>(kElements, 1.0f).data());
  in->MakeReadOnly();
  for (const ReferenceKernel& kernel : kernels) {
    if (kernel.name != c.kernel()) continue;
    const absl::Status status = kernel.launch(
        {out->As<float>(), in->As<float>(), c.grid(), c.block(), (*executor)->stream()});
    EXPECT_TRUE(status.ok()) << c.name() << ": " << status;
    return (*executor)->launches().back().profile;
  }
  ADD_FAILURE() << "no kernel " << c.kernel();
  return {};
}

class ReferenceCountersTest : public testing::Test {
 protected:
  void SetUp() override {
    auto table = ReadCsv("common/executor/testdata/h200_counters_512.csv");
    ASSERT_TRUE(table.ok()) << table.status();
    table_ = *std::move(table);
    for (size_t row = 0; row < table_.rows.size(); ++row) cases_.emplace_back(table_, row);
    ASSERT_EQ(cases_.size(), 20u);
  }

  CsvTable table_;
  std::vector<Case> cases_;
};

TEST_F(ReferenceCountersTest, AreThoseOfAnH200) {
  // Percentages have two decimals.
  constexpr double kRounding = 0.005 + 1e-9;
  for (const Case& c : cases_) {
    SCOPED_TRACE(c.name());
    const Profile profile = ProfileOf(as_usual::ReferenceKernels(), c, {});
    const MemoryCounters load = profile.Total(EventKind::kGlobalLoad);
    const MemoryCounters store = profile.Total(EventKind::kGlobalStore);
    EXPECT_EQ(load.requests, c.Count("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"));
    EXPECT_EQ(store.requests, c.Count("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"));
    EXPECT_EQ(load.sectors, c.Count("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"));
    EXPECT_EQ(store.sectors, c.Count("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"));
    EXPECT_EQ(load.sectors + store.sectors, c.Count("memory_l2_theoretical_sectors_global"));

    const MemoryCounters shared_load = profile.Total(EventKind::kSharedLoad);
    const MemoryCounters shared_store = profile.Total(EventKind::kSharedStore);
    MemoryCounters shared = shared_load;
    shared.Add(shared_store);
    shared.Add(profile.Total(EventKind::kSharedCopy));
    EXPECT_EQ(shared.wavefronts, c.Count("memory_l1_wavefronts_shared"));
    EXPECT_EQ(shared.ideal_wavefronts, c.Count("memory_l1_wavefronts_shared_ideal"));
    EXPECT_EQ(shared_load.wavefronts,
              c.Count("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"));
    EXPECT_EQ(shared_load.bank_conflicts(),
              c.Count("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"));
    EXPECT_EQ(shared_store.bank_conflicts(),
              c.Count("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"));
    // Without what cp.async stores.
    EXPECT_EQ(shared_store.wavefronts,
              c.Count("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"));
    EXPECT_EQ(shared_store.requests, c.Count("smsp__inst_executed_op_shared_st.sum"));
    constexpr double kWavefrontBytes = 128;
    const double wavefront_bytes = kWavefrontBytes * static_cast<double>(shared.wavefronts);
    EXPECT_NEAR(shared.wavefronts == 0
                    ? 0
                    : 100 * static_cast<double>(shared.distinct_bytes) / wavefront_bytes,
                c.Percent("smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct"), kRounding);

    EXPECT_NEAR(100 * store.SectorEfficiency(),
                c.Percent("smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct"),
                kRounding);
    // The counters of instructions know no cp.async: its loads are missing there.
    if (c.kernel() == "matmulTiled32Async") {
      EXPECT_EQ(load.SectorEfficiency(), 1);
      continue;
    }
    EXPECT_NEAR(100 * load.SectorEfficiency(),
                c.Percent("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"),
                kRounding);
    EXPECT_EQ(shared_load.requests, c.Count("smsp__inst_executed_op_shared_ld.sum"));
  }
}

TEST_F(ReferenceCountersTest, DependOnNeitherOrderNorCores) {
  for (const Case& c : cases_) {
    const Profile profile = ProfileOf(as_usual::ReferenceKernels(), c, {1, 0}, IsCompared);
    EXPECT_GT(profile.warps, 0u);
    for (const Schedule& schedule : {Schedule{2, 0}, Schedule{1, 41}, Schedule{3, 7}}) {
      EXPECT_TRUE(ProfileOf(as_usual::ReferenceKernels(), c, schedule, IsCompared) == profile)
          << c.name() << ", seed " << schedule.seed;
    }
  }
}

TEST_F(ReferenceCountersTest, DoNotDependOnOptimisation) {
  for (const Case& c : cases_) {
    const Profile usual = ProfileOf(as_usual::ReferenceKernels(), c, {2, 0}, IsCompared);
    EXPECT_GT(usual.warps, 0u);
    for (const auto& kernels :
         {at_o0::ReferenceKernels(), at_o2::ReferenceKernels(), at_o3::ReferenceKernels()}) {
      const Profile other = ProfileOf(kernels, c, {2, 0}, IsCompared);
      for (const EventKind kind : kMemoryKinds) {
        EXPECT_TRUE(other.Total(kind) == usual.Total(kind))
            << c.name() << ", kind " << static_cast<int>(kind);
      }
      EXPECT_EQ(other.warps, usual.warps) << c.name();
      EXPECT_EQ(other.barriers, usual.barriers) << c.name();
    }
  }
}

}  // namespace
}  // namespace stridewise::executor
