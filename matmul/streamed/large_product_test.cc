// Streamed products whose operands and offsets need 64 bits: all that a job of 69 GB for each
// matrix copies, without any memory; and products of sparse files whose rows lie 4 GiB apart.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/mapped_file.h"
#include "common/streaming/fake_stream_queues.h"
#include "common/streaming/stream_job.h"
#include "gtest/gtest.h"
#include "matmul/streamed/product_job.h"
#include "matmul/streamed/stream_plan.h"

namespace stridewise {
namespace {

constexpr int64_t kFloat = sizeof(float);

// A matrix of floats at addresses that nobody uses, and how many bytes of it were copied.
struct FarMatrix {
  int64_t begin, rows, cols, ld;
  int64_t copied = 0;

  int64_t bytes() const { return ((rows - 1) * ld + cols) * kFloat; }
  void* data() const { return reinterpret_cast<void*>(begin); }

  // Counts a block that is to be inside, row by row.
  void Count(const void* first, int64_t pitch, int64_t row_bytes, int64_t block_rows) {
    const auto offset = reinterpret_cast<int64_t>(first) - begin;
    ASSERT_EQ(pitch, ld * kFloat);
    ASSERT_GE(offset, 0);
    ASSERT_LE(offset + (block_rows - 1) * pitch + row_bytes, bytes());
    ASSERT_LE(offset % pitch + row_bytes, cols * kFloat);
    copied += block_rows * row_bytes;
  }
};

void ExpectInside(const void* first, int64_t pitch, const BlockCopy& copy, const void* buffer,
                  int64_t bytes) {
  const auto offset = reinterpret_cast<int64_t>(first) - reinterpret_cast<int64_t>(buffer);
  ASSERT_GE(offset, 0);
  ASSERT_LE(copy.row_bytes, pitch);
  ASSERT_LE(offset + (copy.rows - 1) * pitch + copy.row_bytes, bytes);
}

struct Transposed {
  bool a, b;
};

void ExpectEachElementIsCopied(int64_t m, int64_t n, int64_t k, int64_t device_bytes,
                               int64_t padding, double beta, Transposed transposed) {
  const auto place = [padding](int64_t begin, int64_t rows, int64_t cols, bool turned) {
    if (turned) std::swap(rows, cols);
    return FarMatrix{begin, rows, cols, cols + padding};
  };
  FarMatrix a = place(int64_t{1} << 44, m, k, transposed.a);
  FarMatrix b = place(int64_t{1} << 45, k, n, transposed.b);
  FarMatrix c = place(int64_t{1} << 46, m, n, false);
  FarMatrix c_read = c;
  MatMulProblem problem;
  problem.m = m, problem.n = n, problem.k = k;
  problem.a = {static_cast<const float*>(a.data()), a.ld};
  problem.b = {static_cast<const float*>(b.data()), b.ld};
  problem.a.transposed = transposed.a, problem.b.transposed = transposed.b;
  problem.c = {static_cast<float*>(c.data()), c.ld};
  problem.beta = beta;
  const auto args = StreamedArgs(problem);
  ASSERT_TRUE(args.ok()) << args.status();
  const auto plan = PlanStreamedProduct(ShapeOf(*args), {device_bytes, 1, {}});
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_LE(plan->device_bytes, device_bytes);
  const ProductJob job(*args, *plan, 0, nullptr);
  void* const input = reinterpret_cast<void*>(int64_t{1} << 40);
  void* const output = reinterpret_cast<void*>(int64_t{1} << 41);
  EXPECT_EQ(2 * (job.input_bytes() + job.output_bytes()), plan->device_bytes);
  const auto tiles = static_cast<int64_t>(job.first_checkpoint().done.size());
  for (int64_t tile = 0; tile < tiles; ++tile) {
    double multiplied = 0;
    const int64_t bands = tile == tiles - 1 ? job.bands() : 1;
    for (int64_t first = 0; first < job.slices(); first += job.slices_at_once()) {
      const StreamStep step = {tile, first, std::min(job.slices_at_once(), job.slices() - first)};
      const auto loads = job.Loads(step, input);
      ASSERT_EQ(loads.size(), 2u);
      for (const BlockCopy& load : loads) {
        FarMatrix& matrix = &load == &loads[0] ? a : b;
        matrix.Count(load.from, load.from_pitch, load.row_bytes, load.rows);
        ExpectInside(load.to, load.to_pitch, load, input, job.input_bytes());
      }
      const MatMulProblem product = job.StepProduct(step, {}, {input, output, nullptr});
      multiplied += static_cast<double>(product.k);
    }
    EXPECT_EQ(multiplied, static_cast<double>(k));
    for (const BlockCopy& load : job.OutputLoads(tile, output)) {
      c_read.Count(load.from, load.from_pitch, load.row_bytes, load.rows);
      ExpectInside(load.to, load.to_pitch, load, output, job.output_bytes());
    }
    for (int64_t band = 0; band < bands; ++band) {
      const BlockCopy store = job.Store(tile, {band, bands}, output);
      if (store.rows == 0) continue;
      c.Count(store.to, store.to_pitch, store.row_bytes, store.rows);
      ExpectInside(store.from, store.from_pitch, store, output, job.output_bytes());
    }
  }
  EXPECT_EQ(a.copied, m * k * kFloat * plan->tiles_across);
  EXPECT_EQ(b.copied, k * n * kFloat * plan->tiles_down);
  EXPECT_EQ(c.copied, m * n * kFloat);
  EXPECT_EQ(c_read.copied, beta == 0 ? 0 : m * n * kFloat);
  EXPECT_EQ(static_cast<double>(a.copied + b.copied + c_read.copied), plan->bytes_in);
}

TEST(LargeProductTest, EachElementOfSeventyGigabytesIsCopied) {
  constexpr int64_t kGigabyte = 1'000'000'000, n = 131072;
  for (const int64_t device_bytes : {kGigabyte, 4 * kGigabyte, 70 * kGigabyte, 125 * kGigabyte}) {
    for (const double beta : {0.0, 1.0}) {
      ExpectEachElementIsCopied(n, n, n, device_bytes, 0, beta, {false, false});
    }
    ExpectEachElementIsCopied(n, n, n, device_bytes, 5, 1, {true, true});
    ExpectEachElementIsCopied(n + 1, n - 1, n + 3, device_bytes, 1, 0, {true, false});
    ExpectEachElementIsCopied(n - 1, n + 1, n - 3, device_bytes, 0, 0, {false, true});
  }
  // More elements than 2^31 in a row, and in a tile.
  ExpectEachElementIsCopied(3, int64_t{3} << 30, 5, 4 * kGigabyte, 0, 1, {false, false});
  ExpectEachElementIsCopied(int64_t{3} << 30, 3, 5, 70 * kGigabyte, 0, 1, {true, true});
}

// A file of zeros of which only what is written takes a disk's blocks.
absl::StatusOr<MappedFile> MakeSparse(const std::string& name, int64_t bytes) {
  const std::string path = testing::TempDir() + "/" + name;
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const bool is_long = fd >= 0 && ::ftruncate(fd, bytes) == 0;
  if (fd >= 0) ::close(fd);
  absl::StatusOr<MappedFile> file = is_long ? MappedFile::OpenForWriting(path)
                                            : absl::UnavailableError("no files of this length");
  ::unlink(path.c_str());
  return file;
}

absl::Status Multiply(const MatMulProblem& p, cudaStream_t) {
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      float& entry = static_cast<float*>(p.c.data)[i * p.c.ld + j];
      float sum = p.beta == 0 ? 0 : static_cast<float>(p.beta) * entry;
      for (int64_t l = 0; l < p.k; ++l) {
        sum += static_cast<const float*>(p.a.data)[i * p.a.ld + l] *
               static_cast<const float*>(p.b.data)[l * p.b.ld + j];
      }
      entry = sum;
    }
  }
  return absl::OkStatus();
}

TEST(LargeProductTest, SparseFilesWithRowsFourGibibytesApart) {
  constexpr int64_t kLd = (int64_t{1} << 30) + 1;
  constexpr int64_t m = 5, n = 6, k = 7;
  std::vector<MappedFile> files;
  for (const int64_t rows : {m, k, m}) {
    auto file = MakeSparse(std::to_string(files.size()), rows * kLd * kFloat);
    if (!file.ok()) GTEST_SKIP() << file.status();
    files.push_back(*std::move(file));
  }
  auto* const a = files[0].As<float>();
  auto* const b = files[1].As<float>();
  auto* const c = files[2].As<float>();
  for (int64_t l = 0; l < k; ++l) {
    for (int64_t i = 0; i < m; ++i) a[i * kLd + l] = static_cast<float>(i + 2 * l - 5);
    for (int64_t j = 0; j < n; ++j) b[l * kLd + j] = static_cast<float>(3 * l - j);
  }
  MatMulProblem problem;
  problem.m = m, problem.n = n, problem.k = k;
  problem.a = {a, kLd}, problem.b = {b, kLd}, problem.c = {c, kLd};
  const auto args = StreamedArgs(problem);
  ASSERT_TRUE(args.ok()) << args.status();
  const auto plan = PlanWithTiles(ShapeOf(*args), {1 << 20, 1, {}}, 2, 4);
  const ProductJob job(*args, plan, 0, Multiply);
  FakeStreamQueues queues(3, plan.device_bytes);
  const absl::Status status = RunStreamJob(job, {&queues}, {});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(queues.CanariesAreWhole());
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float want = 0;
      for (int64_t l = 0; l < k; ++l) want += a[i * kLd + l] * b[l * kLd + j];
      EXPECT_EQ(c[i * kLd + j], want) << i << ", " << j;
    }
    EXPECT_EQ(c[i * kLd + n], 0);  // Behind the row.
  }
}

}  // namespace
}  // namespace stridewise
