// An operation for tests of plans, speed-ups and limits: a registry of names, and nothing that
// runs.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_TEST_FAKE_OPERATION_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_TEST_FAKE_OPERATION_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "benchmarks/harness/operation.h"

namespace stridewise {

// Shapes are rows x cols. The axis --layouts takes any text; copy and memcpy do not compete.
class FakeOperation : public Operation {
 public:
  explicit FakeOperation(std::vector<Limit> limits = {}) : limits_(std::move(limits)) {
    Add("loop", 1, kHostCpu, kNoBlock);
    Add("fast_loop", 2, kHostCpu, kNoBlock);
    Add("copy", kNoStep, kAnyGpu, {256, 1, 1});
    Add("memcpy", kNoStep, kAnyGpu, kNoBlock);
    Add("naive", 1, kAnyGpu, {16, 16, 1}, Blocks::kAny);
    Add("better", 2, kAnyGpu, {16, 16, 1}, Blocks::kAny);
    Add("unrolled", 3, kAnyGpu, {16, 16, 1}, Blocks::kAny);
    Add("tile", 4, kAnyGpu, {32, 32, 1});
    Add("thin_tile", 5, kAnyGpu, {32, 8, 1});
    Add("no_block", 6, kAnyGpu, kNoBlock);
    Add("library", kNoStep, kAnyGpu, kNoBlock);
    streamed_.name = "streamed";
    streamed_.on_host_memory = true;
  }

  absl::string_view name() const override { return "fake"; }
  absl::string_view description() const override { return "nothing"; }
  absl::Span<const Column> extent_columns() const override { return kExtents; }
  absl::Span<const absl::string_view> types() const override { return kTypes; }
  absl::Span<const Axis> axes() const override { return kAxes; }
  absl::Span<const Peer> peers() const override { return kPeers; }
  absl::string_view usual_peer() const override { return "copy"; }
  absl::Span<const Preset> presets() const override { return {}; }
  absl::Span<const Limit> limits() const override { return limits_; }
  std::unique_ptr<Problem> MakeProblem(const Point& /*point*/) const override { return nullptr; }
  bool Competes(const Implementation& i) const override {
    return i.name != "copy" && i.name != "memcpy";
  }
  std::vector<const Implementation*> implementations() const override {
    std::vector<const Implementation*> all;
    for (const Implementation& implementation : registry_) all.push_back(&implementation);
    return all;
  }
  const Implementation* beyond_card() const override { return &streamed_; }

 private:
  static absl::StatusOr<std::vector<std::string>> Split(absl::string_view /*flag*/,
                                                        absl::string_view text) {
    return std::vector<std::string>(absl::StrSplit(text, ','));
  }

  static constexpr Column kExtents[] = {Column::kRows, Column::kCols};
  static constexpr absl::string_view kTypes[] = {"float", "u8"};
  static constexpr Axis kAxes[] = {
      {"layouts", Column::kLayout, "nn", Split, [] { return std::string(); }}};
  static constexpr Peer kPeers[] = {{"copy", Column::kPctOfCopy, 100},
                                    {"library", Column::kVsCublas, 1}};

  void Add(const char* name, int step, Target target, Block block, Blocks blocks = Blocks::kFixed) {
    Implementation& entry = registry_.emplace_back();
    entry.name = name;
    entry.step = step;
    entry.target = target;
    entry.blocks = blocks;
    entry.default_block = block;
  }

  std::vector<Implementation> registry_;
  Implementation streamed_;
  std::vector<Limit> limits_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_TEST_FAKE_OPERATION_H_
