#include "matmul/tuning.h"

#include <cmath>
#include <cstdlib>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace stridewise {
namespace {

// The tunings that are built in: texts of tuning files.
constexpr absl::string_view kTexts[] = {
#include "matmul/tuning.inc"  // NOLINT(build/include)
};

// What STRIDEWISE_TUNING names.
struct TuningFile {
  absl::Status status;
  MatMulTuning tuning;
  bool is_used = false;
};

const TuningFile& TheFile() {
  static const auto& file = *[] {
    auto* made = new TuningFile;
    const char* const path = std::getenv(kTuningVariable);
    if (path == nullptr || *path == '\0') return made;
    absl::StatusOr<MatMulTuning> tuning = LoadTuning(path);
    made->is_used = tuning.ok();
    if (tuning.ok()) {
      made->tuning = *std::move(tuning);
    } else {
      made->status = absl::Status(tuning.status().code(),
                                  absl::StrCat(kTuningVariable, ": ", tuning.status().message()));
    }
    return made;
  }();
  return file;
}

}  // namespace

const MatMulCostModel* MatMulTuning::Find(absl::string_view kernel) const {
  for (const MatMulKernelTuning& of_kernel : kernels) {
    if (of_kernel.kernel == kernel) return &of_kernel.model;
  }
  return nullptr;
}

MatMulTuning ForMemoryRate(MatMulTuning tuning, int memory_gbps) {
  if (tuning.memory_gbps == 0 || memory_gbps == 0) return tuning;
  const double slower = static_cast<double>(tuning.memory_gbps) / memory_gbps;
  tuning.memory_gbps = memory_gbps;
  for (MatMulKernelTuning& of_kernel : tuning.kernels) {
    of_kernel.model.costs.dram_mb *= slower;
    of_kernel.model.costs.packed_mb *= slower;
  }
  return tuning;
}

absl::Span<const MatMulTuning> MatMulTunings() {
  static const auto& tunings = *[] {
    auto* made = new std::vector<MatMulTuning>;
    for (const absl::string_view text : kTexts) made->push_back(*ParseTuning(text));
    return made;
  }();
  return tunings;
}

const MatMulTuning* TuningFromFile() {
  const TuningFile& file = TheFile();
  return file.is_used ? &file.tuning : nullptr;
}

const absl::Status& TuningFileStatus() { return TheFile().status; }

const MatMulTuning& NearestTuning(absl::Span<const MatMulTuning* const> tunings,
                                  const DeviceModel& device) {
  const auto distance = [&](const MatMulTuning& tuning) {
    const double rates =
        tuning.memory_gbps == 0 ? 1 : static_cast<double>(tuning.memory_gbps) / device.memory_gbps;
    return std::tuple(
        std::abs(tuning.compute_capability - device.compute_capability), tuning.compute_capability,
        std::abs(tuning.multiprocessors - device.multiprocessors), std::abs(std::log(rates)));
  };
  const MatMulTuning* nearest = tunings.front();
  for (const MatMulTuning* tuning : tunings) {
    if (distance(*tuning) < distance(*nearest)) nearest = tuning;
  }
  return *nearest;
}

const MatMulTuning& TuningFor(const DeviceModel& device) {
  static const auto& tunings = *[] {
    auto* made = new std::vector<const MatMulTuning*>;
    if (const MatMulTuning* file = TuningFromFile()) made->push_back(file);
    for (const MatMulTuning& tuning : MatMulTunings()) made->push_back(&tuning);
    return made;
  }();
  return NearestTuning(tunings, device);
}

}  // namespace stridewise
