// What this machine's memory can do: device-to-device copies, the ceiling that every transpose is
// held against, and a check of the harness on any new machine.
//
//   bazel run //benchmarks:ceilings
//
// copy_vector copies with 16-byte accesses, memcpy is the driver's own. pct_of_copy is paired: the
// row's copy and a copy_vector of the same bytes are sampled in turn.

#include <cstring>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "benchmarks/harness/interrupt.h"
#include "benchmarks/harness/machine.h"
#include "benchmarks/harness/program_main.h"
#include "benchmarks/harness/row_columns.h"
#include "benchmarks/harness/sweep.h"
#include "benchmarks/harness/sweep_flags.h"
#include "common/base/status_macros.h"
#include "common/gpu/buffer.h"
#include "common/gpu/device_ops.h"
#include "common/gpu/gpu_runtime.h"
#include "common/measure/device_measurement.h"
#include "common/verify/fill.h"

ABSL_FLAG(std::string, sizes, "1024:32768:*2",
          "Squares of float to copy: a list of N, A:B:STEP and A:B:*FACTOR.");

namespace stridewise {
namespace {

constexpr char kUsage[] =
    "ceilings: measures how fast this machine's GPU copies within its memory and writes one CSV "
    "row for "
    "each size.";

using CopyFunction = absl::Status (*)(void* to, const void* from, size_t bytes, cudaStream_t);

struct CopyImplementation {
  const char* name;
  CopyFunction copy;
};
constexpr CopyImplementation kCopies[] = {{"memcpy", gpu::CopyOnDevice},
                                          {"copy_vector", CopyVectorised}};

absl::Status MeasureCopy(const CopyImplementation& implementation, int64_t size,
                         const SweepOptions& options, const Machine& machine, ResultRow* row) {
  RETURN_IF_ERROR(machine.gpu_status());
  const auto bytes = static_cast<size_t>(size) * static_cast<size_t>(size) * sizeof(float);
  ASSIGN_OR_RETURN(const HostBuffer in, HostBuffer::Allocate(bytes, options.host_memory));
  ASSIGN_OR_RETURN(const HostBuffer out, HostBuffer::Allocate(bytes, options.host_memory));
  FillUniform(Matrix<float>{in.As<float>(), size, size, size}, options.seed);
  DeviceSubject subject;
  subject.inputs = {{in.data(), bytes}};
  subject.host_output = out.data();
  subject.output_bytes = bytes;
  subject.run = [&](absl::Span<void* const> inputs, void* output, cudaStream_t stream) {
    return implementation.copy(output, inputs[0], bytes, stream);
  };
  subject.reference = [&](absl::Span<void* const> inputs, void* output, cudaStream_t stream) {
    return CopyVectorised(output, inputs[0], bytes, stream);
  };
  subject.verify = [&] {
    return bytes == 0 || std::memcmp(in.data(), out.data(), bytes) == 0
               ? absl::OkStatus()
               : absl::DataLossError("the copy differs from what was copied");
  };
  ASSIGN_OR_RETURN(const DeviceMeasurement measured,
                   MeasureOnDevice(subject, options.sampling, SteadyClock(), machine.timer(),
                                   machine.nvml(), Interrupted));
  SetMeasurement(measured, row);
  return SetBandwidth(measured, 2.0 * static_cast<double>(bytes), machine.device(), row);
}

absl::StatusOr<int> RunSweep() {
  ASSIGN_OR_RETURN(const SweepOptions options, SweepOptionsFromFlags("ceilings.csv"));
  if (options.list) {
    for (const CopyImplementation& copy : kCopies) std::cout << copy.name << "\n";
    return kExitOk;
  }
  ASSIGN_OR_RETURN(const std::vector<int64_t> sizes,
                   ParseSizes("--sizes", absl::GetFlag(FLAGS_sizes)));
  ASSIGN_OR_RETURN(const std::unique_ptr<Machine> machine, Machine::Open(options));
  ASSIGN_OR_RETURN(const std::unique_ptr<Sweep> sweep,
                   Sweep::Create(options, static_cast<int>(sizes.size() * std::size(kCopies))));
  CatchInterrupts();
  sweep->Print(machine->Headline() + "\n");
  for (const int64_t size : sizes) {
    for (const CopyImplementation& copy : kCopies) {
      if (Interrupted()) return sweep->ExitCode();
      ResultRow config;
      config.Set(Column::kOperation, "copy");
      config.Set(Column::kImplementation, copy.name);
      config.Set(Column::kDtype, "float");
      config.Set(Column::kRows, size);
      config.Set(Column::kCols, size);
      config.Set(Column::kL2, L2ModeName(options.l2));
      config.Set(Column::kHostMemory, HostMemoryName(options.host_memory));
      RETURN_IF_ERROR(sweep->Run(config, [&](ResultRow* row) {
        machine->Describe(/*device_row=*/true, row);
        SetOutcome(MeasureCopy(copy, size, options, *machine, row), row);
      }));
    }
  }
  sweep->Print(sweep->SkippedText());
  return sweep->ExitCode();
}

}  // namespace
}  // namespace stridewise

int main(int argc, char** argv) {
  return stridewise::ProgramMain(argc, argv, stridewise::kUsage, stridewise::RunSweep);
}
