#include "benchmarks/distributed/grid_sweeps.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "benchmarks/distributed/grid_measurement.h"
#include "benchmarks/distributed/grid_problem.h"
#include "benchmarks/harness/interrupt.h"
#include "benchmarks/harness/row_columns.h"
#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"
#include "common/base/sweep_args.h"
#include "common/gpu/device.h"
#include "matmul/operands.h"
#include "transpose/distributed/device_exchange.h"

ABSL_FLAG(std::string, gpus, "",
          "ROWSxCOLS,...: instead of on one GPU, on grids of GPUs of this machine, over which "
          "the operands are spread; --list shows what is measured there.");
ABSL_FLAG(std::string, grid_block, "",
          "With --gpus: the side of the blocks that are dealt to the grid, a list (2048).");

namespace stridewise {
namespace {

constexpr int64_t kMaxGrid = 64;  // Rows, and columns.
constexpr char kUsualBlock[] = "2048";
constexpr char kSummaDirect[] = "summa_direct";
constexpr char kExchangeDirect[] = "exchange_direct";
constexpr char kExchangeTwoCopies[] = "exchange_two_copies";
constexpr char kCublasMp[] = "cublasmp";

// The last one only of products of programs that have it.
enum GridAxis : size_t { kGpusAxis, kBlockAxis, kPrecisionAxis };

// Whose results are judged as those of FP32, and which therefore stand beside cuBLASMp's FP32.
constexpr MatMulPrecision kPrecisions[] = {MatMulPrecision::kFp32, MatMulPrecision::kFp32Split,
                                           MatMulPrecision::kFp32SplitInt8};

absl::StatusOr<std::vector<std::string>> ParseGrids(absl::string_view flag,
                                                    absl::string_view text) {
  ASSIGN_OR_RETURN(const auto grids, ParseExtents(flag, text, 2));
  std::vector<std::string> canonical;
  for (const std::vector<int64_t>& grid : grids) {
    if (std::min(grid[0], grid[1]) < 1 || std::max(grid[0], grid[1]) > kMaxGrid) {
      return RefuseValue(flag, text, absl::StrCat("ROWSxCOLS of 1 to ", kMaxGrid, " each"));
    }
    canonical.push_back(absl::StrCat(grid[0], "x", grid[1]));
  }
  return canonical;
}

absl::StatusOr<std::vector<std::string>> ParseGridBlocks(absl::string_view flag,
                                                         absl::string_view text) {
  if (text.empty()) return ParseGridBlocks(flag, kUsualBlock);
  std::vector<std::string> canonical;
  for (const absl::string_view item : absl::StrSplit(text, ',')) {
    int64_t block = 0;
    if (!absl::SimpleAtoi(item, &block) || block < 1 || block > kMaxSize) {
      return RefuseValue(flag, text, absl::StrCat("a list of 1 to ", kMaxSize));
    }
    canonical.push_back(absl::StrCat(block));
  }
  return canonical;
}

// No value is the usual one, so that rows always name both.
constexpr Axis kAxes[] = {
    {"gpus", Column::kGrid, "", ParseGrids, [] { return absl::GetFlag(FLAGS_gpus); }},
    {"grid_block", Column::kGridBlock, "", ParseGridBlocks,
     [] { return absl::GetFlag(FLAGS_grid_block); }}};

constexpr Column kProductExtents[] = {Column::kRows, Column::kCols, Column::kDepth};
constexpr Column kTransposeExtents[] = {Column::kRows, Column::kCols};
constexpr absl::string_view kProductTypes[] = {"float", "bf16_float"};
constexpr absl::string_view kTransposeTypes[] = {"float", "double"};
constexpr Peer kPeers[] = {{kCublasMp, Column::kVsCublas, 1}};

Implementation MakeEntry(const char* name, const char* summary) {
  Implementation entry;
  entry.name = name;
  entry.summary = summary;
  entry.on_host_memory = true;  // No L2 mode: operands are larger.
  entry.is_built_in = true;
  return entry;
}

// Returns what the point's axis says; FP32 where it has none or none of kPrecisions.
MatMulPrecision PrecisionOf(const Point& point) {
  for (const MatMulPrecision precision : kPrecisions) {
    if (point.axes.size() > kPrecisionAxis &&
        point.axes[kPrecisionAxis] == PrecisionName(precision)) {
      return precision;
    }
  }
  return MatMulPrecision::kFp32;
}

class GridOperation : public Operation {
 public:
  GridOperation(bool of_products, const Axis* precision) : of_products_(of_products) {
    if (precision != nullptr) axes_.push_back(*precision);
    entries_.push_back(
        of_products ? MakeEntry("summa", "SummaOnDevice(): panels by NCCL, MatMul() a GPU")
                    : MakeEntry("exchange", "DistributedTransposeOnDevice(): messages by NCCL"));
    entries_.push_back(
        of_products
            ? MakeEntry(kSummaDirect, "the same, panels copied from the memory of the other GPUs")
            : MakeEntry(kExchangeDirect, "the same, elements written to memory of the other GPUs"));
    if (!of_products) {
      entries_.push_back(
          MakeEntry(kExchangeTwoCopies, "the same, with two pieces that are copied at once"));
    }
    entries_.push_back(MakeEntry(kCublasMp, of_products ? "cublasMpGemm()" : "cublasMpGeadd()"));
    presets_.push_back({kGridPreset,
                        "what is spread over GPUs, by this repository and by cuBLASMp",
                        {Selection("*").Sizes(of_products ? "8192,16384,32768" : "16384,32768")}});
  }

  absl::string_view name() const override { return of_products_ ? "matmul" : "transpose"; }
  absl::string_view description() const override { return "spread over GPUs"; }
  absl::Span<const Column> extent_columns() const override {
    if (of_products_) return kProductExtents;
    return kTransposeExtents;
  }
  absl::Span<const absl::string_view> types() const override {
    return of_products_ ? kProductTypes : kTransposeTypes;
  }
  absl::Span<const Axis> axes() const override { return axes_; }
  absl::Span<const Preset> presets() const override { return presets_; }
  absl::Span<const Peer> peers() const override { return kPeers; }
  absl::string_view usual_peer() const override { return kCublasMp; }
  std::vector<const Implementation*> implementations() const override {
    std::vector<const Implementation*> all;
    for (const Implementation& entry : entries_) all.push_back(&entry);
    return all;
  }
  bool Takes(const Implementation& /*implementation*/, const Point& point) const override {
    if (point.batch != 1) return false;
    if (point.axes.size() <= kPrecisionAxis) return true;
    const MatMulPrecision precision = PrecisionOf(point);
    // Others than those that are judged as FP32 were not found.
    return point.axes[kPrecisionAxis] == PrecisionName(precision) &&
           (precision == MatMulPrecision::kFp32 || point.type == "float");
  }
  // Problems of grids are grid_problem.h's.
  std::unique_ptr<Problem> MakeProblem(const Point& /*point*/) const override { return nullptr; }

 private:
  bool of_products_;
  std::vector<Axis> axes_ = {std::begin(kAxes), std::end(kAxes)};
  std::vector<Implementation> entries_;
  std::vector<Preset> presets_;
};

// Reads an axis that ParseGrids() wrote.
RankGrid GridOf(const Point& point) {
  const std::vector<std::string> extents = absl::StrSplit(point.axes[kGpusAxis], 'x');
  RankGrid grid;
  if (extents.size() == 2) {
    absl::SimpleAtoi(extents[0], &grid.rows);
    absl::SimpleAtoi(extents[1], &grid.cols);
  }
  return grid;
}

int64_t BlockOf(const Point& point) {
  int64_t block = 1;
  absl::SimpleAtoi(point.axes[kBlockAxis], &block);
  return block;
}

// Each operand is read once, the result written once.
Work WorkOf(const Point& point) {
  const auto extent = [&](size_t i) { return static_cast<double>(point.extents[i]); };
  const double element = point.type == "double" ? 8 : 4;
  if (point.extents.size() == 2) return {0, 2 * extent(0) * extent(1) * element};
  const double m = extent(0), n = extent(1), k = extent(2);
  const double operand = point.type == "bf16_float" ? 2 : 4;
  return {2 * m * n * k, (m * k + k * n) * operand + m * n * 4};
}

}  // namespace

GridSweep::GridSweep(Of of, GridDevices devices, const Axis* precision)
    : of_products_(of == Of::kProducts),
      devices_(std::move(devices)),
      operation_(std::make_unique<GridOperation>(of_products_, precision)) {}

absl::Status GridSweep::Measure(const Config& config, const SweepOptions& options, const Peer* peer,
                                const Machine& machine, ResultRow* row) const {
  const Point& point = config.point;
  const RankGrid grid = GridOf(point);
  row->Set(Column::kRanks, grid.size());
  GridSubject subject;
  subject.grid = grid;
  const std::string_view name = config.implementation->name;
  DeviceTransposeOptions transpose;
  if (name == kExchangeTwoCopies) transpose.copies_at_once = 2;
  subject.make_problem = [&](int rank) {
    return of_products_ ? MakeGridProduct(point.extents, point.type, BlockOf(point), grid, rank,
                                          PrecisionOf(point))
                        : MakeGridTranspose(point.extents, point.type, BlockOf(point), grid, rank,
                                            transpose);
  };
  subject.is_direct = name == kSummaDirect || name == kExchangeDirect || name == kExchangeTwoCopies;
  subject.by_cublasmp = config.implementation->name == kCublasMp;
  subject.beside_cublasmp = peer != nullptr && !subject.by_cublasmp;
  subject.verify = options.verify;
  subject.seed = options.seed;
  subject.sampling = options.sampling;
  subject.first_device = options.device;
  subject.interrupted = Interrupted;
  ASSIGN_OR_RETURN(const GridMeasurement measured, MeasureOnGrid(subject, devices_));
  row->Set(Column::kFirstLaunchMs, measured.first_run_ms);
  SetKernelTimes(measured.run, row);
  SetState(measured.state, row);
  row->Set(Column::kTotalMs, measured.run.median);
  const Work work = WorkOf(point);
  SetRates(work, measured.run, row);
  if (machine.gpu_status().ok() && of_products_ && point.type == "float" &&
      PrecisionOf(point) == MatMulPrecision::kFp32) {
    const double peak = PeakFp32Gflops(machine.device()) * grid.size();
    if (peak > 0) row->Set(Column::kPctOfPeak, 100 * work.flops / measured.run.median / 1e6 / peak);
  }
  if (measured.over_cublasmp > 0) row->Set(peer->column, peer->scale * measured.over_cublasmp);
  if (measured.communication_ms) row->Set(Column::kCommunicationMs, *measured.communication_ms);
  if (measured.overlap_pct) row->Set(Column::kOverlapPct, *measured.overlap_pct);
  return absl::OkStatus();
}

}  // namespace stridewise
