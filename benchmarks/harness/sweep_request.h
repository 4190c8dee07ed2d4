// What a sweep is asked for: its flags, read and checked before anything is opened or measured.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_SWEEP_REQUEST_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_SWEEP_REQUEST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "benchmarks/harness/grid_rows.h"
#include "benchmarks/harness/operation.h"
#include "benchmarks/harness/random_shapes.h"
#include "benchmarks/harness/sweep_flags.h"

namespace stridewise {

struct SweepProgram {
  std::string name;                   // Empty for the operation's name and "_sweep".
  std::string preset = "default";     // What is measured when --preset is not given.
  std::string implementations;        // Which, when --implementations is not given; empty for all.
  const GridRows* on_gpus = nullptr;  // What --gpus measures; null where there is no such flag.
};

struct SweepRequest {
  // Returns whether verdicts on limits belong to the preset.
  bool has_limits() const;
  bool is_random() const { return preset.random != nullptr; }

  const Operation* operation = nullptr;  // Of one GPU or, with --gpus, of several.
  const GridRows* grid_rows = nullptr;   // What --gpus measures; null without the flag.
  SweepOptions options;
  Preset preset;
  std::vector<Config> plan;
  std::string listing;         // What --list prints; otherwise empty, and what follows is set.
  const Peer* peer = nullptr;  // What rows are sampled in turn with; null for nothing.
  RandomShapes judged;         // How random shapes are judged.
  int worst = 0;               // How many of the slowest random shapes are shown.
};

// Reads all flags of a sweep but those that name files for verdicts. InvalidArgument names the flag
// that is refused. The operations are borrowed.
absl::StatusOr<SweepRequest> ReadSweepRequest(const Operation& on_one_gpu,
                                              const SweepProgram& program);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_SWEEP_REQUEST_H_
