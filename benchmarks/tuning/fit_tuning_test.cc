// Times of made-up products: what is read, fitted and chosen.

#include "benchmarks/tuning/fit_tuning.h"

#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmarks/matmul/product_args.h"
#include "benchmarks/tuning/tune_report.h"
#include "common/gpu/device_model.h"
#include "common/measure/csv_records.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

std::vector<const ShapeTimes*> Pointers(const TuneData& data) {
  std::vector<const ShapeTimes*> pointers;
  for (const ShapeTimes& shape : data.shapes) pointers.push_back(&shape);
  return pointers;
}

// Random products at which the kernels take what the tuning that is built in predicts.
TuneData Made(int64_t count, uint64_t seed) {
  TuneData data;
  data.device = "a GPU";
  data.model = H200Model();
  const MatMulChooser& chooser = ChooserFor(data.model);
  const auto shapes = DrawTuneShapes(count, seed);
  EXPECT_TRUE(shapes.ok()) << shapes.status();
  for (const TuneShape& shape : *shapes) {
    ShapeTimes times = {shape, GaplessArgs(shape.point), {}};
    for (const bool with_workspace : {true, false}) {
      const MatMulArgs args = with_workspace ? WithAnyWorkspace(times.args) : times.args;
      for (const MatMulPrediction& prediction :
           chooser.PredictAll(args, data.model, RunsOn::kDevice)) {
        times.times.push_back(
            {prediction.row->implementation, with_workspace ? 1 << 20 : 0, 1, prediction.us / 1e3});
      }
    }
    data.shapes.push_back(times);
  }
  return data;
}

TEST(DrawTuneShapesTest, DependOnSeedAndNumberAlone) {
  const auto few = DrawTuneShapes(20, 3);
  const auto many = DrawTuneShapes(40, 3);
  ASSERT_TRUE(few.ok() && many.ok());
  ASSERT_EQ(few->size(), 20u);
  std::set<std::string> families;
  for (size_t i = 0; i < few->size(); ++i) {
    EXPECT_TRUE((*few)[i].point == (*many)[i].point) << i;
    families.insert((*few)[i].family);
  }
  EXPECT_EQ(families,
            (std::set<std::string>{"batched", "cube", "even_batch", "log_uniform", "model"}));
}

TEST(DrawTuneShapesTest, EvenBatchesHaveRowsOfVectorsAndFitAGpu) {
  const auto shapes = DrawTuneShapes(1600, 5);
  ASSERT_TRUE(shapes.ok());
  std::set<std::string> layouts;
  int even = 0;
  for (const TuneShape& shape : *shapes) {
    if (shape.family != "even_batch") continue;
    ++even;
    const std::vector<int64_t>& of = shape.point.extents;
    for (const int64_t extent : of) EXPECT_TRUE(extent % 4 == 0 && extent <= 256) << extent;
    EXPECT_GE(shape.point.batch, 16);
    for (const int64_t elements : {of[0] * of[1], of[0] * of[2], of[1] * of[2]}) {
      EXPECT_LE(elements * shape.point.batch, int64_t{1} << 26);
    }
    layouts.insert(shape.point.axes[0]);
  }
  EXPECT_EQ(even, 100);
  EXPECT_EQ(layouts.size(), 4u);
}

TEST(ReadTuneDataTest, ReadsWhatIsWritten) {
  const TuneData made = Made(16, 1);
  const std::string path = testing::TempDir() + "/times.csv";
  std::ofstream file(path, std::ios::binary);
  const auto write = [&](const std::vector<std::string>& record) {
    file << FormatCsvRecord(std::vector<absl::string_view>(record.begin(), record.end()));
  };
  write(TuneHeader());
  for (const ShapeTimes& shape : made.shapes) {
    for (const auto& record : TuneRecords(made.device, made.model, shape)) write(record);
  }
  file.flush();
  const auto read = ReadTuneData({path});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->device, "a GPU");
  EXPECT_EQ(read->model.multiprocessors, 132);
  ASSERT_EQ(read->shapes.size(), made.shapes.size());
  for (size_t i = 0; i < made.shapes.size(); ++i) {
    EXPECT_TRUE(read->shapes[i].shape.point == made.shapes[i].shape.point);
    ASSERT_EQ(read->shapes[i].times.size(), made.shapes[i].times.size());
    EXPECT_EQ(read->shapes[i].times[0].kernel, made.shapes[i].times[0].kernel);
    EXPECT_NEAR(read->shapes[i].times[0].ms / made.shapes[i].times[0].ms, 1, 1e-5);
  }

  const std::string rate = absl::StrCat(H200Model().memory_gbps);
  const std::string gpu = "a GPU,90,132," + rate;
  const std::string line = "another GPU,90,132," + rate + ",1,0,model,8,8,8,nn,1,tiny,0,5,0.01\n";
  const struct {
    std::string text, says;
  } bad[] = {
      {"a,b\n1,2\n", "its columns are not"},
      {line + gpu + ",1,1,model,8,8,8,nn,1,tiny,0,5,0.01\n", "record 2: it is of a GPU"},
      {gpu + ",1,0,model,8,8,8,nx,1,tiny,0,5,0.01\n", "record 1: "},
      {gpu + ",1,0,model,8,8,0,nn,1,tiny,0,5,0.01\n", "record 1: "},
      {gpu + ",1,0,model,8,8,8,nn,1,tiny,0,5,-1\n", "record 1: "},
      {gpu + ",1,0,model,8,8,8,nn,1,tiny,0,5,nan\n", "record 1: "},
      {"a GPU,90,0," + rate + ",1,0,model,8,8,8,nn,1,tiny,0,5,1\n", "record 1: "},
      {"a GPU,90,132,0,1,0,model,8,8,8,nn,1,tiny,0,5,1\n", "record 1: "},
  };
  for (const auto& c : bad) {
    const bool whole = c.says.rfind("its", 0) == 0;
    std::string header;
    for (const std::string& name : TuneHeader()) header += (header.empty() ? "" : ",") + name;
    std::ofstream(path, std::ios::binary) << (whole ? "" : header + "\n") << c.text;
    const absl::Status status = ReadTuneData({path}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.text;
    EXPECT_NE(std::string(status.message()).find(c.says), std::string::npos) << status;
  }
}

TEST(FitTuningTest, ChoosesWellWhereItWasNotFitted) {
  const TuneData fitted = Made(600, 1);
  const TuneData judged = Made(200, 2);
  const MatMulTuning tuning = FitTuning(fitted, Pointers(fitted));
  EXPECT_EQ(tuning.device, "a GPU");
  EXPECT_EQ(tuning.kernels.size(), MatMulDispatchTable().size());
  const std::vector<TuneChoice> choices =
      ChoicesOf(MatMulChooser(tuning), judged.model, Pointers(judged));
  EXPECT_EQ(choices.size(), 400u);
  const auto records = RegretRecords({{"held out", choices}});
  ASSERT_EQ(records.size(), 3u);
  for (size_t i = 1; i < records.size(); ++i) {
    EXPECT_EQ(records[i][2], "200");
    EXPECT_LT(std::stod(records[i][3]), 1.03);
  }
  // It comes back from its text, and chooses the same.
  const auto again = ParseTuning(TuningText(tuning));
  ASSERT_TRUE(again.ok()) << again.status();
  const std::vector<TuneChoice> same =
      ChoicesOf(MatMulChooser(*again), judged.model, Pointers(judged));
  size_t equal = 0;
  for (size_t i = 0; i < same.size(); ++i) equal += same[i].chosen == choices[i].chosen ? 1 : 0;
  // Numbers are written with four digits, which decides between kernels that are as fast.
  EXPECT_GE(equal, same.size() * 95 / 100);
  EXPECT_NEAR(MeanRegret(same), MeanRegret(choices), 1e-3);
}

// `tiny` takes half of what the tuning says: its constants alone change.
TEST(FitKernelsTest, KeepsTheOthers) {
  TuneData data = Made(200, 1);
  for (ShapeTimes& shape : data.shapes) {
    for (KernelTime& time : shape.times) time.ms *= time.kernel == "tiny" ? 0.5 : 1;
  }
  const MatMulTuning start = ForMemoryRate(TuningFor(data.model), data.model.memory_gbps);
  const MatMulTuning tuning = FitKernels(data, Pointers(data), start, {"tiny"});
  ASSERT_EQ(tuning.kernels.size(), start.kernels.size());
  MatMulTuning before = start;
  MatMulTuning after = tuning;
  for (MatMulTuning* of : {&before, &after}) {
    of->device = "a GPU";
    for (auto& kernel : of->kernels) {
      if (kernel.kernel == "tiny") kernel.model = MatMulCostModel();
    }
  }
  EXPECT_EQ(TuningText(before), TuningText(after));
  EXPECT_NE(TuningText(start), TuningText(tuning));
  EXPECT_LT(MeanRegret(ChoicesOf(MatMulChooser(tuning), data.model, Pointers(data))), 1.05);
  EXPECT_GT(MeanRegret(ChoicesOf(MatMulChooser(start), data.model, Pointers(data))), 1.05);
}

// The same, where `tiny` keeps its constants and gets more corrections.
TEST(FitKernelsTest, CorrectsOnTop) {
  TuneData data = Made(200, 1);
  for (ShapeTimes& shape : data.shapes) {
    for (KernelTime& time : shape.times) time.ms *= time.kernel == "tiny" ? 0.5 : 1;
  }
  const MatMulTuning start = ForMemoryRate(TuningFor(data.model), data.model.memory_gbps);
  constexpr int kOnTopOfStart = 20;
  const MatMulTuning tuning = FitKernels(data, Pointers(data), start, {"tiny"}, kOnTopOfStart);
  ASSERT_EQ(tuning.kernels.size(), start.kernels.size());
  for (const MatMulKernelTuning& kernel : start.kernels) {
    const MatMulCostModel& now = *tuning.Find(kernel.kernel);
    const size_t more = kernel.kernel == "tiny" ? kOnTopOfStart : 0;
    EXPECT_EQ(now.corrections.size(), kernel.model.corrections.size() + more) << kernel.kernel;
    EXPECT_EQ(now.costs.fixed, kernel.model.costs.fixed) << kernel.kernel;
  }
  EXPECT_LT(MeanRegret(ChoicesOf(MatMulChooser(tuning), data.model, Pointers(data))), 1.05);
}

TEST(ChoicesOfTest, AChoiceThatWasNotMeasuredCountsAsSlow) {
  TuneData data = Made(8, 1);
  for (ShapeTimes& shape : data.shapes) shape.times = {{"no_such_kernel", 0, 1, 0.5}};
  const std::vector<TuneChoice> choices =
      ChoicesOf(ChooserFor(data.model), data.model, Pointers(data));
  ASSERT_EQ(choices.size(), 16u);
  for (const TuneChoice& choice : choices) {
    EXPECT_FALSE(choice.is_measured);
    EXPECT_GE(choice.Regret(), 4);
  }
  EXPECT_NE(WorstChoices(choices, 3).find("no_such_kernel"), std::string::npos);
}

}  // namespace
}  // namespace stridewise
