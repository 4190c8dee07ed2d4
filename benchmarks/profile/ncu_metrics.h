// From the metrics of Nsight Compute to the columns that the studies took from its forerunner,
// nvprof.
//
//   column                              nvprof                                 ncu
//   load_efficiency                     gld_efficiency                         kLoadEfficiency
//   store_efficiency                    gst_efficiency                         kStoreEfficiency
//   load_transactions                   gld_transactions                       sectors, see below
//   store_transactions                  gst_transactions                       sectors, see below
//   shared_load_wavefronts_per_request  shared_load_transactions_per_request   a ratio of two sums
//   shared_store_wavefronts_per_request shared_store_transactions_per_request  a ratio of two sums
//   achieved_occupancy                  achieved_occupancy                     kOccupancy
//   shared_efficiency                   shared_efficiency                      kSharedEfficiency
//   branch_efficiency                   branch_efficiency                      kBranchEfficiency
//
// Efficiencies and the occupancy are percentages, of 100; nvprof had the occupancy of 1.
// Transactions are sectors of 32 bytes. The columns that say why a kernel is as fast as it is, from
// compute_pct_of_peak on, are a metric of ncu's each (docs/csv_columns.md has their names).

#ifndef STRIDEWISE_BENCHMARKS_PROFILE_NCU_METRICS_H_
#define STRIDEWISE_BENCHMARKS_PROFILE_NCU_METRICS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "benchmarks/profile/ncu_output.h"
#include "common/measure/result_row.h"

namespace stridewise {

// ncu's names of counts: instructions that a warp issued (requests), sectors, passes through the
// banks of shared memory (wavefronts). Wavefronts are those that the accesses need, and the same in
// every run; l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum also counts passes lost to
// others' being in the way, up to 10 % where a warp is not whole.
inline constexpr char kNcuGlobalLoadRequests[] = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
inline constexpr char kNcuGlobalStoreRequests[] = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum";
inline constexpr char kNcuGlobalLoadSectors[] = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
inline constexpr char kNcuGlobalStoreSectors[] = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum";
inline constexpr char kNcuSharedLoadRequests[] = "smsp__inst_executed_op_shared_ld.sum";
inline constexpr char kNcuSharedStoreRequests[] = "smsp__inst_executed_op_shared_st.sum";
inline constexpr char kNcuSharedLoadWavefronts[] =
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
inline constexpr char kNcuSharedStoreWavefronts[] =
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum";

// Returns the names for ncu's --metrics: what SetNcuColumns() reads, and the counts above.
std::vector<std::string> NcuMetrics();

// The sum of a metric over the launches; nothing where one lacks it.
std::optional<double> NcuSum(absl::Span<const NcuLaunch> launches, const char* metric);

// Sets the columns of the memory behaviour, those that say why the kernel is as fast as it is and,
// in base units (ns), kernel_ms_* with one sample. Several launches count as one: counts and times
// are sums, percentages and ratios are weighted by what they are of, and the registers are those of
// the launch that has most. A cell stays empty where a launch lacks the metric and where there is
// nothing to divide by, such as the shared efficiency of a kernel that uses no shared memory.
void SetNcuColumns(absl::Span<const NcuLaunch> launches, ResultRow* row);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_PROFILE_NCU_METRICS_H_
