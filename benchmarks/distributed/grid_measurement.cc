#include "benchmarks/distributed/grid_measurement.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/distributed/measuring_rank.h"
#include "common/base/status_macros.h"
#include "common/distributed/cublasmp_library.h"
#include "common/distributed/local_ranks.h"
#include "common/distributed/nccl_library.h"
#include "common/distributed/tcp_communicator.h"

namespace stridewise {
namespace {

// Returns that of the device that the others wait for.
DeviceState StateOfSlowest(const std::vector<GridMeasurement>& ranks) {
  const auto clock = [](const GridMeasurement& rank) {
    return rank.state.sm_clock_mhz.value_or(std::numeric_limits<int>::max());
  };
  return std::min_element(ranks.begin(), ranks.end(),
                          [&](const auto& a, const auto& b) { return clock(a) < clock(b); })
      ->state;
}

// Returns why the ranks ended: of one that failed itself, else of one that says so of itself, as
// where its NCCL failed, else of one that lost another.
absl::Status ReasonOf(const std::vector<absl::Status>& results) {
  absl::Status reason;
  for (size_t rank = 0; rank < results.size(); ++rank) {
    const absl::Status& status = results[rank];
    if (status.ok()) continue;
    if (!absl::IsUnavailable(status) && !absl::IsInternal(status)) return status;
    const std::string name = absl::StrCat("rank ", rank, ": ");
    const bool of_itself = absl::StartsWith(status.message(), name);
    if (!reason.ok() && !of_itself) continue;
    reason = absl::InternalError(absl::StrCat(of_itself ? "" : name, status.message()));
    if (of_itself) break;
  }
  return reason;
}

}  // namespace

absl::StatusOr<GridMeasurement> MeasureOnGrid(const GridSubject& subject,
                                              const GridDevices& devices) {
  RETURN_IF_ERROR(devices.check(subject.first_device, subject.grid.size()));
  absl::StatusOr<const NcclLibrary*> nccl = LoadNccl();
  const bool sends_messages = !subject.is_direct && subject.grid.size() > 1;
  if (!nccl.ok() && (sends_messages || subject.by_cublasmp)) return nccl.status();
  GridSubject asked = subject;
  const CublasMpLibrary* cublasmp = nullptr;
  if (subject.by_cublasmp || subject.beside_cublasmp) {
    absl::StatusOr<const CublasMpLibrary*> loaded = LoadCublasMp();
    if (loaded.ok() && !nccl.ok()) loaded = nccl.status();
    if (loaded.ok()) loaded = ForRanks(*loaded, subject.grid.size(), **nccl);
    if (loaded.ok()) {
      cublasmp = *loaded;
    } else if (subject.by_cublasmp) {
      return loaded.status();
    }
  }
  asked.beside_cublasmp = subject.beside_cublasmp && !subject.by_cublasmp && cublasmp != nullptr;
  std::vector<GridMeasurement> measured(subject.grid.size());
  const std::vector<absl::Status> results =
      RunLocalRanks(subject.grid.size(), subject.seconds, [&](TcpCommunicator* control) {
        return MeasuringRank(asked, nccl.ok() ? *nccl : nullptr, cublasmp, control)
            .Measure(devices, &measured[control->rank()]);
      });
  RETURN_IF_ERROR(ReasonOf(results));
  measured[0].state = StateOfSlowest(measured);
  return measured[0];
}

}  // namespace stridewise
