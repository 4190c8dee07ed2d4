// The flags of streamed_sweep.

#ifndef STRIDEWISE_BENCHMARKS_STREAMED_SETTINGS_H_
#define STRIDEWISE_BENCHMARKS_STREAMED_SETTINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/sweep_args.h"
#include "common/gpu/buffer.h"
#include "common/streaming/stream_options.h"
#include "matmul/operands.h"

namespace stridewise {

// What the command line says.
struct StreamedSettings {
  bool is_product = true;
  std::vector<std::vector<int64_t>> shapes;
  MatMulPrecision precision = MatMulPrecision::kFp32;
  StreamOptions options;
  std::vector<StreamCheckpoint> tiles = {{}};  // One for each streamed call.
  HostMemory memory = HostMemory::kPinned;
  std::string directory;  // Of mapped files; empty for operands in memory.
  std::vector<int64_t> blocks;
  VerifyMode verify = VerifyMode::kFast;
  int64_t in_memory = 0;  // The side of the product in memory; 0 for none.
  int rounds = 0;
  std::string csv;  // Empty for none.

  // As they were given.
  std::string devices_text;
  std::string memory_text;
};

// Returns InvalidArgument, with a line that names the flag, its value and what is allowed.
absl::StatusOr<StreamedSettings> ReadStreamedFlags();

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_STREAMED_SETTINGS_H_
