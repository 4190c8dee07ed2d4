// What an operation says about itself, so that every program of this folder can measure it: its
// axes, its registry, how a point of its axes becomes a problem, its presets and its limits.
// Planning, pairing, phases, speed-ups, verdicts, memory behaviour and profiles are written once,
// against this. docs/adding_an_operation.md walks through an example.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_OPERATION_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_OPERATION_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "benchmarks/harness/preset.h"
#include "benchmarks/harness/problem.h"
#include "benchmarks/harness/random_shapes.h"
#include "common/gpu/device.h"
#include "common/gpu/implementation.h"
#include "common/measure/result_row.h"

namespace stridewise {

// An axis that only this operation has, such as a product's layout.
struct Axis {
  const char* flag;   // Without dashes.
  Column column;      // Rows name the value here, unless it is the usual one.
  const char* usual;  // The value of a point that nobody chose.

  // Returns the values of a comma list in canonical form. InvalidArgument in one line that names
  // `flag`, which has its dashes.
  absl::StatusOr<std::vector<std::string>> (*parse)(absl::string_view flag, absl::string_view text);

  // Returns the text that the command line gives the flag; empty where it gives none.
  std::string (*given)();

  // Returns the shape, as a text of --shapes, that a value has of its own; null where values have
  // none. On the command line such a value replaces the preset's shapes, as --shapes does.
  std::string (*shape_of)(absl::string_view value) = nullptr;
};

// What rows can be paired with: both are sampled in turn, under the same clock and temperature.
struct Peer {
  const char* implementation;
  Column column;  // Gets `scale` times the peer's time over the row's.
  double scale;   // 100 for a column in percent.
  // Stands in at points that it does not take, in the same column, or in its own one where it is
  // another peer; null for none.
  const char* otherwise = nullptr;

  // What rows of the host that use one core are paired with; null for the same.
  const char* on_one_core = nullptr;
};

class Operation {
 public:
  virtual ~Operation() = default;

  // Names the operation in flags, rows and file names: "matmul".
  virtual absl::string_view name() const = 0;

  // Describes it in the middle of a sentence: "matrix multiplication".
  virtual absl::string_view description() const = 0;

  // Names the extents of a shape, slowest first.
  virtual absl::Span<const Column> extent_columns() const = 0;

  // Lists the names of its element types; the first is the usual one.
  virtual absl::Span<const absl::string_view> types() const = 0;

  virtual absl::Span<const Axis> axes() const { return {}; }

  // Lists the registry in its order.
  virtual std::vector<const Implementation*> implementations() const = 0;

  // Returns the entry that takes matrices in host memory, larger than a device's; null for none.
  // Sweeps go on with it where a device's memory ends. It is none of implementations(), and so part
  // of no preset and of no pattern: plans take it by its name.
  virtual const Implementation* beyond_card() const { return nullptr; }

  virtual absl::Span<const Preset> presets() const = 0;
  virtual absl::Span<const Limit> limits() const { return {}; }

  // Say what the presets `random` and `cpu_random` measure; without families there are none.
  virtual const RandomShapes& random_shapes() const;
  virtual const RandomShapes& host_random_shapes() const;

  // Lists what rows can be paired with. `usual_peer` is what they are paired with when neither the
  // command line nor the preset says anything; empty for nothing.
  virtual absl::Span<const Peer> peers() const { return {}; }
  virtual absl::string_view usual_peer() const { return ""; }

  // Sets the columns that say which implementation a row is of, beside its name.
  virtual void DescribeImplementation(const Implementation& implementation, ResultRow* row) const;

  // Returns whether the implementation is measured at the point at all: plans leave it out
  // otherwise. For axes and batches, not for shapes or types.
  virtual bool Takes(const Implementation& /*implementation*/, const Point& /*point*/) const {
    return true;
  }

  // Returns InvalidArgument, saying what it does not take, for a row that becomes `unsupported`.
  virtual absl::Status CheckSupported(const Implementation& /*implementation*/,
                                      const Point& /*point*/) const {
    return absl::OkStatus();
  }

  // Returns whether the implementation takes part in "Best at ...": bounds do not.
  virtual bool Competes(const Implementation& /*implementation*/) const { return true; }

  // Returns whether an implementation of the host uses --threads threads; others use one.
  virtual bool UsesAllCores(const Implementation& /*implementation*/) const { return false; }

  // Returns the name of the implementation that this one hands the point to on such a device; empty
  // for one that does not choose.
  virtual std::string ChosenBy(const Implementation& /*implementation*/, const Point& /*point*/,
                               const DeviceInfo& /*device*/) const {
    return "";
  }

  // Returns whether it launches a kernel that a profiler can watch.
  virtual bool HasKernel(const Implementation& implementation) const {
    return implementation.operands_on_device();
  }

  // REQUIRES: `point` has a value for every extent and axis.
  virtual std::unique_ptr<Problem> MakeProblem(const Point& point) const = 0;

  // Returns the same entry with functions that run on the host executor. Unimplemented, naming it,
  // for what the executor cannot run.
  virtual absl::StatusOr<std::unique_ptr<Implementation>> OnExecutor(
      const Implementation& implementation) const;

  // Estimates the loads and stores of all threads of a device implementation together. Extents
  // count as whole blocks of `side`.
  virtual double EstimatedAccesses(const Point& /*point*/, int64_t /*side*/) const { return 0; }

  // Returns the device's peak for the arithmetic of the point; 0 where it is not known.
  virtual double PeakGflops(const Point& /*point*/, const DeviceInfo& /*device*/) const {
    return 0;
  }

  // Returns whether judging a device's result wants a cuBLAS handle.
  virtual bool VerifiesWithCublas() const { return false; }

  // For --list: one word or two on what the implementation takes, and lines below the presets.
  virtual std::string TakesText(const Implementation& /*implementation*/) const { return ""; }
  virtual std::string ListNotes() const { return ""; }

  // Returns the entry of that name; null where there is none.
  const Implementation* Find(absl::string_view implementation) const;

  // Returns the peer of that name; null where there is none.
  const Peer* FindPeer(absl::string_view implementation) const;

  // Returns the smallest point that every implementation takes which takes `like`: extents of 1,
  // unless one of them needs more.
  virtual Point TinyPoint(const Point& like) const;

  // Returns the usual point of a shape: one problem of the usual type.
  Point UsualPoint(std::vector<int64_t> extents) const;
};

// One implementation at one point: what a row measures.
struct Config {
  const Operation* operation = nullptr;
  const Implementation* implementation = nullptr;
  Point point;
  Block block = kNoBlock;  // As the row says; kNoBlock where the implementation has none.
  std::string family{};    // Of a point that was drawn at random: its ShapeFamily.
};

// Returns the names of the flags of all their axes, without dashes. A program that links operations
// but plans no lists of configurations does not use these flags; see ProgramMain().
std::vector<std::string> AxisFlagsOf(absl::Span<const Operation* const> operations);

// Returns what the flags of the operation's axes say, by flag. InvalidArgument, naming the flag, if
// an axis is given that one of `others` has and the operation has not.
absl::StatusOr<std::map<std::string, std::string>> GivenAxes(
    const Operation& operation, absl::Span<const Operation* const> others);

// Returns the smallest multiple that is not less than the extent, for EstimatedAccesses().
double RoundedUp(int64_t extent, int64_t multiple);

// "4096x4096x64".
std::string ShapeText(const Config& config);

// "tile_square, 512x512 float, blocks of 32x32".
std::string Title(const Config& config);

// Sets the columns that name the problem: operation, shape, type, batch and axes.
void SetProblemColumns(const Operation& operation, const Point& point, ResultRow* row);

// Returns the point that the columns of a row of this operation name.
Point PointOf(const Operation& operation, const ResultRow& row);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_OPERATION_H_
