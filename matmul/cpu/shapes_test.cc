// Products of every form that the host has code of its own for, on the border of each: beside the
// definition, in whole numbers, whose sums are exact in any order.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/base/element_type.h"
#include "common/base/half_types.h"
#include "gtest/gtest.h"
#include "matmul/args.h"
#include "matmul/cpu/host_product.h"
#include "matmul/cpu/multiply.h"
#include "matmul/cpu/whole_numbers.h"

namespace stridewise {
namespace {

struct Shape {
  int64_t m, n, k;
  int64_t gap = 3;  // Elements between one row and the next.
};

// Dot products take up to k / 8 rows and k / 16 columns, five to eight of these at once, outer
// products a k of up to 12; tiles have up to 14 rows and 8 vectors; a quarter of a vector behind
// them is dot products from k = 32 on, half of one from 128. Columns that leave lanes of a vector
// idle, or that read A from 192 pages, are rows of C's transpose where A is transposed; up to 39
// rows of A are tiles in place, which fetch rows of B that are pages apart, 128 of them at once
// where there is much of B; those of a B of 8 MB, of the L2 cache beside up to three rows of A, or
// of a quarter of it where they are a multiple of 16 KB apart and A has 16 rows or more, are read
// one by one. From 256 rows of A and 128 steps along k on there are strips of a B whose
// rows have 1200 bytes or more, 2 KB along k and a third of the L2 cache of A at once. Rows of a
// page are cut into blocks of 1024, and copied where they are used for ten blocks of columns. In
// BF16 up to 64 rows or columns are beside rows along k that AMX's tiles read where they lie, 32 at
// a time.
constexpr Shape kShapes[] = {{1, 1, 1},
                             {1, 70, 2},
                             {3, 24, 6},
                             {9, 23, 6},
                             {8, 40, 1},
                             {17, 33, 3},
                             {5, 100, 4},
                             {11, 1500, 5},
                             {7, 47, 7},
                             {4, 100, 1030},
                             {6, 37, 96},
                             {7, 37, 96},
                             {13, 21, 104},
                             {12, 5, 192},
                             {40, 12, 200},
                             {40, 13, 200},
                             {2, 4, 2500},
                             {25, 31, 1100},
                             {97, 101, 800},
                             {96, 19, 1600},
                             {4, 400, 90},
                             {100, 4, 90},
                             {14, 129, 60},
                             {15, 17, 60},
                             {31, 49, 50},
                             {64, 64, 64},
                             {65, 66, 67},
                             {3, 2100, 20},
                             {2, 2100, 300},
                             {130, 95, 33},
                             {70, 350, 400},
                             {16, 130, 70},
                             {260, 49, 1030},
                             {260, 13, 40},
                             {1030, 70, 24, 1100},
                             {41, 3700, 40, 1100},
                             {19, 1050, 300},
                             {13, 33, 32},
                             {150, 52, 70},
                             {200, 18, 1500},
                             {30, 40, 130},
                             {90, 9, 25},
                             {61, 20, 70},
                             {33, 17, 300},
                             {130, 700, 9},
                             {44, 80, 70, 600},
                             {40, 20, 200, 2000},
                             {8, 130, 1100, 2000},
                             {9, 200, 700, 824},
                             {9, 47, 7},
                             {110, 600, 8},
                             {97, 70, 10},
                             {96, 800, 12},
                             {100, 65, 12},
                             {4, 300, 500, 800},
                             {6, 300, 500, 800},
                             {7, 300, 500, 800},
                             {8, 301, 600, 723},
                             {20, 300, 500, 1748},
                             {45, 400, 350, 700},
                             {5, 1100, 2000, 9},
                             {40, 70, 9},
                             {64, 100, 64},
                             {70, 33, 90},
                             {5, 64, 31},
                             {2, 1100, 300, 9},
                             {31, 6, 100},
                             {40, 7, 1100},
                             {97, 8, 2500},
                             {29, 1700, 20},
                             {257, 97, 131, 400},
                             {350, 100, 1000, 300},
                             {16, 700, 260, 3396},
                             {1000, 17, 200, 3096}};

// A matrix of rows x cols as it is stored, with `gap` elements behind each row.
template <typename T>
struct Operand {
  Operand(int64_t rows, int64_t cols, int64_t gap, bool stored_transposed, int64_t step)
      : transposed(stored_transposed),
        ld((transposed ? rows : cols) + gap),
        values(WholeNumbers<T>((transposed ? cols : rows) * ld, step)) {}

  T At(int64_t row, int64_t col) const {
    return values[static_cast<size_t>(transposed ? col * ld + row : row * ld + col)];
  }

  bool transposed;
  int64_t ld;
  std::vector<T> values;
};

template <typename T, typename Out>
void CheckProduct(const Shape& shape, bool transposed_a, bool transposed_b, double alpha,
                  double beta) {
  const Operand<T> a(shape.m, shape.k, shape.gap, transposed_a, 3);
  const Operand<T> b(shape.k, shape.n, shape.gap, transposed_b, 7);
  const int64_t ldc = shape.n + shape.gap - 1;
  // What beta = 0 must not read, and nothing may write.
  using Sum = ScaleOf<T>;
  const auto poison = static_cast<Out>(std::numeric_limits<float>::quiet_NaN());
  std::vector<Out> c(static_cast<size_t>(shape.m * ldc), poison);
  std::vector<Out> expected = c;
  for (int64_t row = 0; row < shape.m; ++row) {
    for (int64_t col = 0; col < shape.n; ++col) {
      Sum sum = 0;
      for (int64_t p = 0; p < shape.k; ++p) sum += a.At(row, p) * b.At(p, col);
      const auto at = static_cast<size_t>(row * ldc + col);
      const auto before = static_cast<Sum>((row + col) % 5);
      if (beta != 0) c[at] = static_cast<Out>(before);
      expected[at] = static_cast<Out>(static_cast<Sum>(alpha) * sum +
                                      (beta != 0 ? static_cast<Sum>(beta) * before : Sum{0}));
    }
  }
  MatMulArgs args;
  args.m = shape.m;
  args.n = shape.n;
  args.k = shape.k;
  args.alpha = alpha;
  args.beta = beta;
  args.a.data = a.values.data();
  args.a.ld = a.ld;
  args.a.transposed = transposed_a;
  args.a.type = kElementTypeOf<T>;
  args.b.data = b.values.data();
  args.b.ld = b.ld;
  args.b.transposed = transposed_b;
  args.b.type = kElementTypeOf<T>;
  args.c.data = c.data();
  args.c.ld = ldc;
  args.c.type = kElementTypeOf<Out>;
  MultiplyOnHost(args, /*threads=*/1);
  int64_t wrong = 0;
  for (size_t i = 0; i < c.size(); ++i) {
    const bool both_poison = c[i] != c[i] && expected[i] != expected[i];
    if (!both_poison && c[i] != expected[i]) ++wrong;
  }
  EXPECT_EQ(wrong, 0) << shape.m << "x" << shape.n << "x" << shape.k << (transposed_a ? " t" : " n")
                      << (transposed_b ? "t" : "n") << ", " << sizeof(T) << " and " << sizeof(Out)
                      << " bytes, alpha " << alpha << ", beta " << beta;
}

template <typename T, typename Out = T>
void CheckAll() {
  for (const Shape& shape : kShapes) {
    for (int ops = 0; ops < 4; ++ops) {
      CheckProduct<T, Out>(shape, (ops & 1) != 0, (ops & 2) != 0, 1, 0);
      CheckProduct<T, Out>(shape, (ops & 1) != 0, (ops & 2) != 0, -2, 3);
    }
  }
}

TEST(ShapesTest, Float) { CheckAll<float>(); }
TEST(ShapesTest, Double) { CheckAll<double>(); }
TEST(ShapesTest, Bf16ToFloat) { CheckAll<Bf16, float>(); }
TEST(ShapesTest, Bf16ToBf16) { CheckAll<Bf16>(); }

}  // namespace
}  // namespace stridewise
