// A whole sweep of an operation that is not of this house: y = 2 x for a vector, on the host, on
// the device and beside a copy. What the harness asks of an operation is all here.

#include <cstring>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmarks/harness/operation.h"
#include "benchmarks/harness/sweep_main.h"
#include "benchmarks/harness/test/scale_kernel.h"
#include "common/gpu/gpu_runtime.h"
#include "common/verify/fill.h"

namespace stridewise {
namespace {

using Function = absl::Status (*)(const float* x, float* y, int64_t n, cudaStream_t stream);

struct ScaleImplementation : Implementation {
  bool copies = false;
  Function run = nullptr;
};

absl::Status ScaleLoop(const float* x, float* y, int64_t n, cudaStream_t /*stream*/) {
  for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
  return absl::OkStatus();
}

absl::Status CopyOnly(const float* x, float* y, int64_t n, cudaStream_t stream) {
  return gpu::CopyOnDevice(y, x, static_cast<size_t>(n) * sizeof(float), stream);
}

ScaleImplementation Entry(const char* name, int step, Target target, Function run) {
  ScaleImplementation entry;
  entry.name = name;
  entry.summary = absl::StrCat("y = 2 x by ", name);
  entry.step = step;
  entry.target = target;
  entry.is_built_in = run != nullptr;
  entry.copies = run == CopyOnly;
  entry.run = run;
  return entry;
}

const std::vector<ScaleImplementation>& Registry() {
  static const auto& registry = *new std::vector<ScaleImplementation>{
      Entry("loop", 1, kHostCpu, ScaleLoop), Entry("kernel", 1, kAnyGpu, ScaleOnDevice()),
      Entry("copy", kNoStep, kAnyGpu, CopyOnly)};
  return registry;
}

class ScaleProblem : public Problem {
 public:
  explicit ScaleProblem(int64_t n) : n_(n) {}

  Work work() const override {
    return {static_cast<double>(n_), 2 * static_cast<double>(output().bytes)};
  }
  std::vector<BufferSpec> inputs() const override { return {{"x", output().bytes, 4}}; }
  BufferSpec output() const override {
    return {"y", static_cast<size_t>(n_) * sizeof(float), sizeof(float)};
  }
  void Fill(size_t /*input*/, uint64_t seed, void* data) const override {
    FillUniform(Matrix<float>{static_cast<float*>(data), 1, n_, n_}, seed);
  }
  Binding Bind(const Implementation& implementation, const Block& /*block*/) const override {
    Binding binding;
    const Function run = static_cast<const ScaleImplementation&>(implementation).run;
    binding.run = [run, n = n_](const Buffers& buffers) {
      return run(static_cast<const float*>(buffers.inputs[0]), static_cast<float*>(buffers.output),
                 n, buffers.stream);
    };
    return binding;
  }
  absl::Status Verify(const Implementation& implementation, const Result& result,
                      VerifyMode /*mode*/, cublasHandle_t /*cublas*/, ResultRow* /*row*/) override {
    const float factor = static_cast<const ScaleImplementation&>(implementation).copies ? 1 : 2;
    for (int64_t i = 0; i < n_; ++i) {
      if (static_cast<const float*>(result.output)[i] !=
          factor * static_cast<const float*>(result.inputs[0])[i]) {
        return absl::DataLossError(absl::StrCat("element ", i, " is wrong"));
      }
    }
    return absl::OkStatus();
  }

 private:
  int64_t n_;
};

constexpr Column kExtents[] = {Column::kCols};
constexpr absl::string_view kTypes[] = {"float"};
constexpr Peer kPeers[] = {{"copy", Column::kPctOfCopy, 100}};

class Scale : public Operation {
 public:
  absl::string_view name() const override { return "scale"; }
  absl::string_view description() const override { return "scaling a vector"; }
  absl::Span<const Column> extent_columns() const override { return kExtents; }
  absl::Span<const absl::string_view> types() const override { return kTypes; }
  absl::Span<const Peer> peers() const override { return kPeers; }
  absl::string_view usual_peer() const override { return "copy"; }
  bool Competes(const Implementation& i) const override { return i.name != "copy"; }

  std::vector<const Implementation*> implementations() const override {
    std::vector<const Implementation*> all;
    for (const ScaleImplementation& entry : Registry()) all.push_back(&entry);
    return all;
  }
  absl::Span<const Preset> presets() const override {
    static const auto& presets = *new std::vector<Preset>{
        {"default", "all of it, small and large", {Selection("*").Sizes("1000,1048576")}}};
    return presets;
  }
  absl::Span<const Limit> limits() const override {
    static const auto& limits = *new std::vector<Limit>{
        {"large", Selection("kernel").Sizes("16777216"), {{"copy", 0.9, 0.95}}}};
    return limits;
  }
  std::unique_ptr<Problem> MakeProblem(const Point& point) const override {
    return std::make_unique<ScaleProblem>(point.extents[0]);
  }
};

}  // namespace
}  // namespace stridewise

int main(int argc, char** argv) {
  static const stridewise::Scale scale;
  return stridewise::SweepMain(argc, argv, scale);
}
