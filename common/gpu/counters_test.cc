#include "common/gpu/counters.h"

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

// What happened, in order: a letter each.
using Log = std::string;

struct FakeGpu {
  int passes = 2;
  absl::Status begin;
  absl::Status start;
  absl::Status stop;
  std::vector<double> values = {1024, 0.5};
  Log log;
};

class FakeSession : public CounterSession {
 public:
  explicit FakeSession(FakeGpu* gpu) : gpu_(*gpu) {}
  ~FakeSession() override { gpu_.log += 'e'; }

  absl::Status StartPass() override {
    gpu_.log += '(';
    return gpu_.start;
  }
  absl::StatusOr<bool> StopPass() override {
    gpu_.log += ')';
    if (!gpu_.stop.ok()) return gpu_.stop;
    return ++passes_ == gpu_.passes;
  }
  absl::StatusOr<std::vector<double>> Values() override {
    gpu_.log += 'v';
    return gpu_.values;
  }

 private:
  FakeGpu& gpu_;
  int passes_ = 0;
};

class FakeSource : public CounterSource {
 public:
  explicit FakeSource(FakeGpu* gpu) : gpu_(gpu) {}
  absl::StatusOr<std::unique_ptr<CounterSession>> Begin() override {
    if (!gpu_->begin.ok()) return gpu_->begin;
    gpu_->log += 'b';
    return std::unique_ptr<CounterSession>(std::make_unique<FakeSession>(gpu_));
  }

 private:
  FakeGpu* gpu_;
};

absl::StatusOr<std::vector<double>> Read(FakeGpu* gpu, const absl::Status& prepared,
                                         const absl::Status& ran) {
  FakeSource source(gpu);
  return ReadCounters(source, {[&] {
                                 gpu->log += 'p';
                                 return prepared;
                               },
                               [&] {
                                 gpu->log += 'r';
                                 return ran;
                               }});
}

TEST(ParseCounterNamesTest, NamesOrTheReason) {
  const struct {
    const char* text;
    std::vector<std::string> names;
    const char* refused;
  } kCases[] = {
      {"", {}, nullptr},
      {"dram__bytes_read.sum", {"dram__bytes_read.sum"}, nullptr},
      {"a.sum, b.max.pct ,a.sum", {"a.sum", "b.max.pct"}, nullptr},
      {"a.sum,", {}, "--counters: '' is not allowed"},
      {"a=b", {}, "--counters: 'a=b' is not allowed"},
      {"a;b", {}, "--counters: 'a;b' is not allowed"},
  };
  for (const auto& c : kCases) {
    const absl::StatusOr<std::vector<std::string>> names = ParseCounterNames("--counters", c.text);
    if (c.refused == nullptr) {
      ASSERT_TRUE(names.ok()) << names.status();
      EXPECT_EQ(*names, c.names) << c.text;
    } else {
      EXPECT_EQ(names.status().code(), absl::StatusCode::kInvalidArgument) << c.text;
      EXPECT_TRUE(absl::StrContains(names.status().message(), c.refused)) << names.status();
    }
  }
}

TEST(ReadCountersTest, RunsTheWorkOnceForEachPass) {
  for (const auto& [passes, log] : std::vector<std::pair<int, Log>>{
           {1, "bp(r)ve"}, {2, "bp(r)p(r)ve"}, {3, "bp(r)p(r)p(r)ve"}}) {
    FakeGpu gpu;
    gpu.passes = passes;
    const absl::StatusOr<std::vector<double>> values =
        Read(&gpu, absl::OkStatus(), absl::OkStatus());
    ASSERT_TRUE(values.ok()) << values.status();
    EXPECT_EQ(*values, gpu.values);
    EXPECT_EQ(gpu.log, log);
  }
}

TEST(ReadCountersTest, ErrorsEndTheSession) {
  const absl::Status error = absl::DataLossError("lost");
  FakeGpu begin;
  begin.begin = error;
  EXPECT_EQ(Read(&begin, absl::OkStatus(), absl::OkStatus()).status(), error);
  EXPECT_EQ(begin.log, "");
  FakeGpu prepare;
  EXPECT_EQ(Read(&prepare, error, absl::OkStatus()).status(), error);
  EXPECT_EQ(prepare.log, "bpe");
  FakeGpu start;
  start.start = error;
  EXPECT_EQ(Read(&start, absl::OkStatus(), absl::OkStatus()).status(), error);
  EXPECT_EQ(start.log, "bp(e");
  FakeGpu run;  // The pass is stopped; the work's error counts, not the profiler's.
  run.stop = absl::InternalError("stop");
  EXPECT_EQ(Read(&run, absl::OkStatus(), error).status(), error);
  EXPECT_EQ(run.log, "bp(r)e");
  FakeGpu stop;
  stop.stop = error;
  EXPECT_EQ(Read(&stop, absl::OkStatus(), absl::OkStatus()).status(), error);
  FakeGpu never;
  never.passes = 0;
  EXPECT_EQ(Read(&never, absl::OkStatus(), absl::OkStatus()).status().code(),
            absl::StatusCode::kInternal);
}

TEST(CountersTextTest, NamesAndValues) {
  const std::vector<std::string> names = {"a.sum", "b.pct", "c.sum"};
  EXPECT_EQ(CountersText(names, {268435456, 0.1, 0}), "a.sum=268435456;b.pct=0.1;c.sum=0");
  EXPECT_EQ(CountersText(names, {std::numeric_limits<double>::quiet_NaN(), 99.5, 1e12}),
            "b.pct=99.5;c.sum=1e+12");
  EXPECT_EQ(CountersText({}, {}), "");
}

TEST(OpenCountersTest, IsOneLineWithoutAGpu) {
  // Whatever this machine lacks: CUPTI, a GPU, the permission, or only the counter.
  const absl::Status status = OpenCounters({"no_such_counter.sum"}, 0).status();
  EXPECT_TRUE(absl::IsUnavailable(status) || absl::IsInvalidArgument(status)) << status;
  EXPECT_FALSE(status.message().empty());
  EXPECT_FALSE(absl::StrContains(status.message(), "\n")) << status;
}

}  // namespace
}  // namespace stridewise
