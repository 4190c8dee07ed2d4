// Teams of plain threads beside one core, in whole numbers, whose sums are exact in any order. A
// build for ThreadSanitizer sees what these threads do to each other, where libgomp's barriers hide
// it.

#include "matmul/cpu/team.h"

#include <cstddef>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

#include "common/base/half_types.h"
#include "gtest/gtest.h"
#include "matmul/cpu/host_product.h"
#include "matmul/cpu/whole_numbers.h"

namespace stridewise {
namespace {

// Extents are no multiples of a tile's, and there are several blocks along each.
template <typename T, typename Out>
void CheckTeams(bool transposed) {
  constexpr int kThreads = 4;
  const int64_t m = 150;
  const int64_t n = 203;
  const int64_t k = 197;
  const std::vector<T> a = WholeNumbers<T>(m * k, 3);
  const std::vector<T> b = WholeNumbers<T>(k * n, 7);
  HostProduct<T, Out> product;
  product.m = m;
  product.n = n;
  product.k = k;
  product.a = transposed ? Strided<T>{a.data(), 1, m} : Strided<T>{a.data(), k, 1};
  product.b = transposed ? Strided<T>{b.data(), 1, k} : Strided<T>{b.data(), n, 1};
  product.ldc = n;
  product.alpha = 2;
  product.beta = -1;
  CacheBlocks blocks;
  if (!IsPackedOnHost(product, &blocks)) GTEST_SKIP() << "this processor packs no such product";
  blocks.m = 32;
  blocks.n = 96;  // A multiple of every tile's columns.
  blocks.k = 64;
  std::vector<Out> expected = WholeNumbers<Out>(m * n, 5);
  product.c = expected.data();
  MultiplyOnOneCore(product);
  std::vector<Out> c = WholeNumbers<Out>(m * n, 5);
  product.c = c.data();
  std::vector<ScaleOf<T>> sums(static_cast<size_t>(m * n));
  TeamWork<T, Out> work(product, blocks, std::is_same_v<Out, Bf16> ? sums.data() : nullptr);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&work] {
      work.Enter();
      WorkOnHost(&work);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(work.threads(), kThreads);
  int64_t wrong = 0;
  for (size_t i = 0; i < c.size(); ++i) wrong += c[i] != expected[i];
  EXPECT_EQ(wrong, 0) << "transposed " << transposed;
}

template <typename T, typename Out = T>
void CheckBothWays() {
  CheckTeams<T, Out>(false);
  CheckTeams<T, Out>(true);
}

TEST(TeamTest, Float) { CheckBothWays<float>(); }
TEST(TeamTest, Double) { CheckBothWays<double>(); }
TEST(TeamTest, Bf16ToFloat) { CheckBothWays<Bf16, float>(); }
TEST(TeamTest, Bf16ToBf16) { CheckBothWays<Bf16>(); }

}  // namespace
}  // namespace stridewise
