// From a file of measured times to a tuning, and how good it is.

#ifndef STRIDEWISE_BENCHMARKS_TUNING_FIT_TUNING_H_
#define STRIDEWISE_BENCHMARKS_TUNING_FIT_TUNING_H_

#include <set>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "benchmarks/tuning/fit_corrections.h"
#include "benchmarks/tuning/kernel_times.h"
#include "matmul/dispatch.h"
#include "matmul/tuning.h"

namespace stridewise {

// Returns the constants of all kernels of the dispatch table that have times. Errors count most
// where a kernel is about as fast as the best. With a tuning to start from, which was fitted to
// more products of a similar device, its kernels keep their constants and get more corrections.
MatMulTuning FitTuning(const TuneData& data, absl::Span<const ShapeTimes* const> shapes,
                       const MatMulTuning* start = nullptr, const CorrectionOptions& options = {});

// Returns `start` with the constants of these kernels fitted anew, from nothing, beside the others
// as they are: for kernels that are new or have changed. With `on_top` they keep their constants
// and get that many corrections more: for kernels that have changed a little, where there are few
// products. Kernels that `start` does not know are fitted from nothing.
MatMulTuning FitKernels(const TuneData& data, absl::Span<const ShapeTimes* const> shapes,
                        const MatMulTuning& start, const std::set<std::string>& kernels,
                        int on_top = 0);

// Of a fit on top of another: fewer and smaller corrections than from nothing.
inline constexpr CorrectionOptions kOnTop = {40, 0.3, 10};

// What a tuning chooses at a product, and what would be best.
struct TuneChoice {
  const ShapeTimes* shape = nullptr;
  bool with_workspace = false;
  std::string chosen;
  double predicted_us = 0;
  double chosen_ms = 0;
  bool is_measured =
      true;  // False where the choice was too slow to be measured: chosen_ms is a guess.
  std::string best;
  double best_ms = 0;

  double Regret() const { return chosen_ms / best_ms; }
};

// Returns the choices at these products, with the workspace that each kernel asks for, and without.
std::vector<TuneChoice> ChoicesOf(const MatMulChooser& chooser, const DeviceModel& device,
                                  absl::Span<const ShapeTimes* const> shapes);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TUNING_FIT_TUNING_H_
