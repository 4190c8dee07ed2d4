#include "benchmarks/tuning/time_kernels.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "benchmarks/matmul/product_args.h"
#include "common/base/status_macros.h"
#include "common/gpu/device_ops.h"
#include "common/gpu/gpu_runtime.h"
#include "common/measure/statistics.h"
#include "matmul/dispatch.h"

namespace stridewise {
namespace {

// Of the device's memory, for the two operands, the result and the workspace.
constexpr double kPartOfMemory = 0.12;
constexpr double kMostBytes = 4e9;  // Of each; the random products have 3 GB in all.

// A kernel whose best rate so far would make it take this number of times as long as the best of
// the product is not run at all; one that took so long is not run again; one that takes kSlow times
// as long gets three samples: of two, one in some hundred has a median that is twice the time.
constexpr double kHopeless = 4;
constexpr double kSlow = 1.5;
constexpr int kProductsFirst = 100;  // Of a kernel, before its rate is known well enough.
constexpr int kRounds = 5;
constexpr int kFewRounds = 3;
constexpr double kShortMs = 0.1;  // Products that take less get more rounds.
constexpr int kManyRounds = 7;

double Flops(const MatMulArgs& args) {
  return MatMulFlops(args.m, args.n, args.k) * static_cast<double>(args.batch);
}

}  // namespace

absl::StatusOr<std::unique_ptr<KernelTimer>> KernelTimer::Create(
    const DeviceInfo& device, const std::set<std::string>& kernels, GpuTimer* timer) {
  std::unique_ptr<KernelTimer> made(new KernelTimer);
  made->kernels_ = kernels;
  made->timer_ = timer;
  made->model_ = ModelOf(device);
  const double bytes =
      std::min(kMostBytes, kPartOfMemory * static_cast<double>(device.memory_bytes));
  const auto cols = int64_t{1} << 10;
  const int64_t rows = static_cast<int64_t>(bytes) / static_cast<int64_t>(sizeof(float)) / cols;
  for (DeviceBuffer* buffer : {&made->a_, &made->b_, &made->c_, &made->workspace_}) {
    ASSIGN_OR_RETURN(*buffer,
                     DeviceBuffer::Allocate(static_cast<size_t>(rows * cols) * sizeof(float)));
    const Matrix<float> all = {buffer->As<float>(), rows, cols, cols};
    RETURN_IF_ERROR(FillUniformOnDevice(all, /*seed=*/1, timer->stream()));
  }
  RETURN_IF_ERROR(gpu::Synchronize(timer->stream()));
  RETURN_IF_ERROR(made->WarmUp());
  return made;
}

bool KernelTimer::Fits(const MatMulArgs& args) const {
  const auto fits = [&](const DeviceBuffer& buffer, int64_t rows, int64_t cols) {
    return static_cast<double>(rows) * static_cast<double>(cols) * static_cast<double>(args.batch) *
               sizeof(float) <=
           static_cast<double>(buffer.bytes());
  };
  return fits(a_, args.m, args.k) && fits(b_, args.k, args.n) && fits(c_, args.m, args.n);
}

std::vector<KernelTimer::Arm> KernelTimer::ArmsOf(const MatMulArgs& args) const {
  std::vector<Arm> arms;
  for (const MatMulDispatch& row : MatMulDispatchTable()) {
    if (!TakesCall(row, args, model_, RunsOn::kDevice)) continue;
    const MatMulImplementation* const kernel = row.entry;
    if (!kernels_.empty() && kernels_.count(kernel->name) == 0) continue;
    const int64_t bytes = MatMulWorkspaceBytes(*kernel, args);
    if (bytes > 0 && bytes <= static_cast<int64_t>(workspace_.bytes())) {
      arms.push_back({kernel, bytes, {}, false});
    }
    arms.push_back({kernel, 0, {}, false});
  }
  // The fastest first, so that the others can be judged.
  std::stable_sort(arms.begin(), arms.end(), [&](const Arm& x, const Arm& y) {
    const auto rate = [&](const Arm& arm) {
      const auto found = best_rate_.find(arm.kernel->name);
      return found == best_rate_.end() ? std::numeric_limits<double>::max()
                                       : found->second.flops_per_ms;
    };
    return rate(x) > rate(y);
  });
  return arms;
}

absl::Status KernelTimer::TimeOnce(const MatMulArgs& args, Arm* arm) {
  MatMulArgs with = args;
  with.workspace = arm->workspace_bytes > 0 ? workspace_.data() : nullptr;
  with.workspace_bytes = arm->workspace_bytes;
  ASSIGN_OR_RETURN(const double ms, timer_->TimeOnce([&](cudaStream_t stream) {
    with.stream = stream;
    return RunMatMul(*arm->kernel, with);
  }));
  arm->ms.push_back(ms);
  return absl::OkStatus();
}

// Loads the code of all kernels, for all layouts: a first launch takes milliseconds.
absl::Status KernelTimer::WarmUp() {
  for (const char* layout : {"nn", "nt", "tn", "tt"}) {
    for (const std::vector<int64_t>& extents : {std::vector<int64_t>{4, 4, 4},
                                                {1, 512, 512},
                                                {16, 512, 4096},
                                                {40, 40, 40},
                                                {700, 700, 700},
                                                {1023, 1023, 1023},
                                                {64, 64, 20000},
                                                {512, 2, 512}}) {
      MatMulArgs args =
          GaplessArgs({extents, "float", 1, {layout, "1", "0", "asked", "fp32", "none"}});
      args.a.data = a_.data();
      args.b.data = b_.data();
      args.c.data = c_.data();
      args.device_model = &model_;
      for (Arm& arm : ArmsOf(args)) RETURN_IF_ERROR(TimeOnce(args, &arm));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ShapeTimes> KernelTimer::Measure(const TuneShape& shape) {
  ShapeTimes result = {shape, GaplessArgs(shape.point), {}};
  MatMulArgs args = result.args;
  if (!Fits(args)) return result;
  args.a.data = a_.data();
  args.b.data = b_.data();
  args.c.data = c_.data();
  args.device_model = &model_;
  std::vector<Arm> arms = ArmsOf(args);
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kManyRounds; ++round) {
    if (round >= kRounds && best > kShortMs) break;
    for (Arm& arm : arms) {
      if (arm.hopeless) continue;
      auto& [rate, products] = best_rate_[arm.kernel->name];
      if (round == 0 && products >= kProductsFirst && Flops(args) / rate > kHopeless * best) {
        arm.hopeless = true;
        continue;
      }
      RETURN_IF_ERROR(TimeOnce(args, &arm));
      products += round == 0 ? 1 : 0;
      const double ms = Median(arm.ms);
      rate = std::max(rate, Flops(args) / ms);
      best = std::min(best, ms);
    }
    for (Arm& arm : arms) {
      if (arm.hopeless || arm.ms.empty()) continue;
      const double ms = Median(arm.ms);
      arm.hopeless = ms > kHopeless * best || (round + 1 >= kFewRounds && ms > kSlow * best);
    }
  }
  for (const Arm& arm : arms) {
    if (arm.ms.empty()) continue;
    result.times.push_back(
        {arm.kernel->name, arm.workspace_bytes, static_cast<int>(arm.ms.size()), Median(arm.ms)});
  }
  return result;
}

}  // namespace stridewise
