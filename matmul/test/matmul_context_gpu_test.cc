// MatMulContext on a GPU: what it computes is what MatMul() computes with the workspace that it
// asks for, to the bit, also where the workspace grows, with several streams and threads, and from
// graphs that are launched after the context has grown.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/matrix.h"
#include "common/base/status_macros.h"
#include "common/gpu/buffer.h"
#include "common/gpu/captured_graph.h"
#include "common/gpu/device.h"
#include "common/gpu/device_ops.h"
#include "common/gpu/gpu_runtime.h"
#include "gtest/gtest.h"
#include "matmul/context.h"

namespace stridewise {
namespace {

struct Shape {
  int64_t m, n, k;
};

// From what may need no workspace, or some for a k that is split, to packed operands.
constexpr Shape kGrowing[] = {
    {64, 64, 10000}, {256, 256, 8192}, {2048, 2048, 1024}, {3000, 3000, 1500}};

// A product on the device, and the result of MatMul() with a workspace of its own.
class Product {
 public:
  static absl::StatusOr<Product> Create(const Shape& shape, uint64_t seed) {
    Product product;
    product.shape_ = shape;
    ASSIGN_OR_RETURN(product.a_, Filled(shape.m, shape.k, seed));
    ASSIGN_OR_RETURN(product.b_, Filled(shape.k, shape.n, seed + 1));
    ASSIGN_OR_RETURN(product.c_, DeviceBuffer::AllocateGuarded(product.Bytes()));
    MatMulProblem problem = product.problem();
    problem.workspace_bytes = product.WorkspaceBytes();
    ASSIGN_OR_RETURN(const DeviceBuffer workspace,
                     DeviceBuffer::Allocate(static_cast<size_t>(problem.workspace_bytes)));
    problem.workspace = workspace.data();
    RETURN_IF_ERROR(MatMul(problem, nullptr));
    RETURN_IF_ERROR(gpu::Synchronize(nullptr));
    ASSIGN_OR_RETURN(product.expected_, product.Result());
    RETURN_IF_ERROR(product.c_.Poison());
    return product;
  }

  MatMulProblem problem() const {
    MatMulProblem problem;
    problem.m = shape_.m;
    problem.n = shape_.n;
    problem.k = shape_.k;
    problem.a = {a_.As<float>(), shape_.k};
    problem.b = {b_.As<float>(), shape_.n};
    problem.c = {c_.As<float>(), shape_.n};
    return problem;
  }

  int64_t WorkspaceBytes() const { return MatMulWorkspaceBytes(problem()); }

  // Returns OK where C is what was expected, and forgets it. REQUIRES: the work is done.
  absl::Status Check() {
    RETURN_IF_ERROR(c_.CheckGuards());
    ASSIGN_OR_RETURN(const std::vector<float> result, Result());
    RETURN_IF_ERROR(c_.Poison());
    const bool same = std::memcmp(result.data(), expected_.data(), Bytes()) == 0;
    return same ? absl::OkStatus() : absl::DataLossError("another result");
  }

 private:
  size_t Bytes() const { return static_cast<size_t>(shape_.m * shape_.n) * sizeof(float); }

  static absl::StatusOr<DeviceBuffer> Filled(int64_t rows, int64_t cols, uint64_t seed) {
    ASSIGN_OR_RETURN(DeviceBuffer buffer,
                     DeviceBuffer::Allocate(static_cast<size_t>(rows * cols) * sizeof(float)));
    RETURN_IF_ERROR(
        FillUniformOnDevice(Matrix<float>{buffer.As<float>(), rows, cols, cols}, seed, nullptr));
    RETURN_IF_ERROR(gpu::Synchronize(nullptr));
    return buffer;
  }

  absl::StatusOr<std::vector<float>> Result() const {
    std::vector<float> result(static_cast<size_t>(shape_.m * shape_.n));
    RETURN_IF_ERROR(gpu::Copy(result.data(), c_.data(), Bytes()));
    return result;
  }

  Shape shape_ = {};
  DeviceBuffer a_, b_, c_;
  std::vector<float> expected_;
};

class MatMulContextTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto device = OpenDevice(0);
    if (!device.ok()) GTEST_SKIP() << device.status();
    for (cudaStream_t& stream : streams_) {
      const auto created = gpu::CreateStream();
      ASSERT_TRUE(created.ok()) << created.status();
      stream = *created;
    }
    for (const Shape& shape : kGrowing) {
      auto product = Product::Create(shape, products_.size());
      ASSERT_TRUE(product.ok()) << product.status();
      products_.push_back(*std::move(product));
    }
    ASSERT_GT(products_.back().WorkspaceBytes(), products_.front().WorkspaceBytes());
  }
  void TearDown() override {
    for (const cudaStream_t stream : streams_) {
      if (stream == nullptr) continue;
      EXPECT_TRUE(gpu::DestroyStream(stream).ok());
    }
  }

  static MatMulContext ContextOn(cudaStream_t stream) {
    auto context = MatMulContext::Create(stream);
    EXPECT_TRUE(context.ok()) << context.status();
    return *std::move(context);
  }

  // Queues all products, one behind the other, and checks them.
  absl::Status RunAll(MatMulContext& context) {
    for (const Product& product : products_) RETURN_IF_ERROR(MatMul(context, product.problem()));
    RETURN_IF_ERROR(gpu::Synchronize(context.stream()));
    for (Product& product : products_) RETURN_IF_ERROR(product.Check());
    return absl::OkStatus();
  }

  // Captures a call, in the mode that forbids all other threads to allocate.
  static absl::StatusOr<CapturedGraph> Capture(MatMulContext& context, const Product& product) {
    ASSIGN_OR_RETURN(CapturedGraph graph,
                     CapturedGraph::Capture(context.stream(), cudaStreamCaptureModeGlobal,
                                            [&] { return MatMul(context, product.problem()); }));
    RETURN_IF_ERROR(graph.Instantiate());
    return graph;
  }

  cudaStream_t streams_[2] = {};
  std::vector<Product> products_;
};

TEST_F(MatMulContextTest, GrowsAndIsReused) {
  MatMulContext context = ContextOn(streams_[0]);
  EXPECT_EQ(context.allocated_bytes(), 0);
  int64_t before = 0;
  for (Product& product : products_) {
    ASSERT_TRUE(MatMul(context, product.problem()).ok());
    EXPECT_GE(context.allocated_bytes(), product.WorkspaceBytes());
    EXPECT_GE(context.allocated_bytes(), before);
    before = context.allocated_bytes();
  }
  ASSERT_TRUE(gpu::Synchronize(streams_[0]).ok());
  for (Product& product : products_) EXPECT_TRUE(product.Check().ok());
  for (int i = 0; i < 3; ++i) {
    const absl::Status status = RunAll(context);
    ASSERT_TRUE(status.ok()) << status;
  }
  EXPECT_EQ(context.allocated_bytes(), before);
}

TEST_F(MatMulContextTest, ReservesAndMoves) {
  MatMulContext first = ContextOn(nullptr);
  ASSERT_TRUE(first.Reserve(products_.back().WorkspaceBytes()).ok());
  const int64_t reserved = first.allocated_bytes();
  EXPECT_GE(reserved, products_.back().WorkspaceBytes());
  MatMulContext second = std::move(first);
  const absl::Status status = RunAll(second);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(second.allocated_bytes(), reserved);
}

// Two contexts at the same time, a thread each: each grows while the other works.
TEST_F(MatMulContextTest, StreamsDoNotShare) {
  std::vector<std::thread> threads;
  for (const cudaStream_t stream : streams_) {
    threads.emplace_back([this, stream] {
      for (int round = 0; round < 3; ++round) {
        MatMulContext context = ContextOn(stream);
        for (const Shape& shape : kGrowing) {
          auto product = Product::Create(shape, 100 + round);
          ASSERT_TRUE(product.ok()) << product.status();
          for (int i = 0; i < 10; ++i) ASSERT_TRUE(MatMul(context, product->problem()).ok());
          ASSERT_TRUE(gpu::Synchronize(stream).ok());
          EXPECT_TRUE(product->Check().ok());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(MatMulContextTest, ThreadsShareAContext) {
  MatMulContext context = ContextOn(streams_[0]);
  std::vector<std::thread> threads;
  for (Product& product : products_) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) EXPECT_TRUE(MatMul(context, product.problem()).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(gpu::Synchronize(streams_[0]).ok());
  for (Product& product : products_) EXPECT_TRUE(product.Check().ok());
}

// The graphs are captured while the context grows, and launched after it has grown, beside calls on
// its stream and beside each other.
TEST_F(MatMulContextTest, GraphsKeepWhatTheyCaptured) {
  MatMulContext context = ContextOn(streams_[0]);
  std::vector<CapturedGraph> graphs;
  ASSERT_TRUE(MatMul(context, products_[0].problem()).ok());
  for (int i = 0; i < 3; ++i) {
    auto graph = Capture(context, products_[static_cast<size_t>(i)]);
    ASSERT_TRUE(graph.ok()) << graph.status();
    graphs.push_back(*std::move(graph));
  }
  Product& direct = products_[3];
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(graphs[0].Launch(streams_[1]).ok());
    ASSERT_TRUE(MatMul(context, direct.problem()).ok());  // Grows the first time.
    ASSERT_TRUE(graphs[1].Launch(streams_[1]).ok());
    ASSERT_TRUE(graphs[2].Launch(streams_[0]).ok());
    ASSERT_TRUE(MatMul(context, direct.problem()).ok());
    for (const cudaStream_t stream : streams_) ASSERT_TRUE(gpu::Synchronize(stream).ok());
    for (Product& product : products_) {
      const absl::Status status = product.Check();
      EXPECT_TRUE(status.ok()) << "round " << round << ": " << status;
    }
  }
}

TEST_F(MatMulContextTest, RefusesWhatItCannotDo) {
  MatMulContext context = ContextOn(streams_[0]);
  const auto says = [](const absl::Status& status, absl::StatusCode code, const char* text) {
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_NE(std::string(status.message()).find(text), std::string::npos) << status;
  };
  MatMulProblem problem = products_[0].problem();
  problem.workspace = products_[1].problem().c.data;
  problem.workspace_bytes = 1024;
  says(MatMul(context, problem), absl::StatusCode::kInvalidArgument,
       "workspace is given, of 1024 bytes; allowed is none");
  problem = products_[0].problem();
  problem.device = 1;
  says(MatMul(context, problem), absl::StatusCode::kInvalidArgument,
       "device is 1; allowed is 0, the context's, or -1");
  problem.device = 0;
  EXPECT_TRUE(MatMul(context, problem).ok());
  problem.a.ld = 1;
  says(MatMul(context, problem), absl::StatusCode::kInvalidArgument, "lda is 1");
  says(MatMulContext::Create(streams_[0], 1000).status(), absl::StatusCode::kInvalidArgument,
       "device is 1000");

  says(context.Reserve(-1), absl::StatusCode::kInvalidArgument, "bytes is -1");
  says(context.Reserve(int64_t{1} << 50), absl::StatusCode::kResourceExhausted, "device memory: ");
  const absl::Status status = RunAll(context);
  EXPECT_TRUE(status.ok()) << status;
}

}  // namespace
}  // namespace stridewise
