// Tests the checks of products: correct products of any order of summation pass both checks, and
// each known kind of kernel bug is caught by both.
//
// A mutant may have nothing to change in a shape: a 1x1 matrix is its own transpose, and a leading
// dimension does nothing to a single row. It then says so, and the test checks that claim: the
// values must be those of the correct product. No mutant is excused for being small.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "common/verify/freivalds.h"
#include "common/verify/product_fixture.h"
#include "common/verify/validation.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

// 8 bits of exponent and 10 of mantissa, as tensor cores take them.
float ToTf32(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  bits = (bits + 0x1000) & ~uint32_t{0x1fff};
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

struct Problem {
  Problem(int64_t m, int64_t n, int64_t k, int64_t padding)
      : padding(padding),
        a(Random<float>(m, k, padding, 1)),
        b(Random<float>(k, n, padding, 2)),
        c(Naive(a, b, k)),
        stale(Naive(Random<float>(m, k, padding, 3), Random<float>(k, n, padding, 4), k)),
        reference(Product<double>(a, b, k, padding, true,
                                  [](double s, double x, double y) { return s + x * y; })),
        abs_product(Product<double>(a, b, k, padding, true, [](double s, double x, double y) {
          return s + std::abs(x * y);
        })) {}

  Owned<float> Naive(const Owned<float>& left, const Owned<float>& right, int64_t k_extent) const {
    return Product<float>(left, right, k_extent, padding, true, MultiplyAdd);
  }

  absl::Status FullCheck(const Owned<float>& got) const {
    const ProductError error =
        CompareProduct(got.view(), reference.view(), abs_product.view(), a.cols());
    return CheckProduct(error, a.cols(), AccuracyOf<float>());
  }

  absl::Status FastCheck(const Owned<float>& got) const {
    const ProductError error = CheckProductFast(a.view(), b.view(), got.view(), 5);
    return CheckProduct(error, a.cols(), AccuracyOf<float>());
  }

  int64_t padding;
  Owned<float> a, b;
  Owned<float> c;      // The correct product,
  Owned<float> stale;  // and that of other inputs.
  Owned<double> reference, abs_product;
};

// Runs `body` for shapes at, below and above tile sizes, with and without padded rows.
void ForEachProblem(const std::function<void(const Problem&)>& body) {
  const int64_t shapes[][3] = {
      {1, 1, 1}, {7, 5, 3}, {33, 65, 31}, {128, 128, 128}, {200, 300, 257}};
  for (const auto& [m, n, k] : shapes) {
    for (const int64_t padding : {0, 3}) {
      SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k << ", padding " << padding);
      body(Problem(m, n, k, padding));
    }
  }
}

TEST(CorrectProduct, PassesInAnyOrderOfSummation) {
  ForEachProblem([](const Problem& p) {
    for (const bool ascending : {true, false}) {
      for (const auto step : {MultiplyAdd, FusedMultiplyAdd}) {
        const Owned<float> c = Product<float>(p.a, p.b, p.a.cols(), p.padding, ascending, step);
        EXPECT_TRUE(p.FullCheck(c).ok()) << p.FullCheck(c);
        EXPECT_TRUE(p.FastCheck(c).ok()) << p.FastCheck(c);
      }
    }
  });
}

// Overwrites the 32x32 tile at (row, col) with what `from` holds there, or with zeros.
void SkipTile(int64_t row, int64_t col, const Owned<float>* from, Owned<float>* c) {
  for (int64_t i = row; i < std::min(row + 32, c->rows()); ++i) {
    for (int64_t j = col; j < std::min(col + 32, c->cols()); ++j) {
      (*c)(i, j) = from == nullptr ? 0 : (*from)(i, j);
    }
  }
}

// Stores the product with another leading dimension over the stale contents of C.
void StoreWithLd(const Problem& p, int64_t ld, Owned<float>* c) {
  *c = p.stale;
  for (int64_t i = 0; i < c->rows(); ++i) {
    for (int64_t j = 0; j < c->cols(); ++j) {
      const size_t at = static_cast<size_t>(i * ld + j);
      if (at < c->data().size()) c->data()[at] = p.c(i, j);
    }
  }
}

// Makes C the product with B loaded by another leading dimension, at most its own.
void LoadBWithLd(const Problem& p, int64_t ld, Owned<float>* c) {
  Owned<float> b = p.b;
  for (int64_t i = 0; i < b.rows(); ++i) {
    for (int64_t j = 0; j < b.cols(); ++j) b(i, j) = p.b.view().data[i * ld + j];
  }
  *c = p.Naive(p.a, b, p.a.cols());
}

// Makes C what the buffer of its transpose, rows of m without padding, looks like as C.
void Transpose(const Problem& p, Owned<float>* c) {
  for (int64_t i = 0; i < c->rows(); ++i) {
    for (int64_t j = 0; j < c->cols(); ++j) {
      const int64_t at = i * c->cols() + j;
      (*c)(i, j) = p.c(at % c->rows(), at / c->rows());
    }
  }
}

void RoundInputs(const Problem& p, Owned<float>* c) {
  const auto step = [](float sum, float a, float b) {
    return MultiplyAdd(sum, ToTf32(a), ToTf32(b));
  };
  *c = Product<float>(p.a, p.b, p.a.cols(), p.padding, true, step);
}

bool Never(const Problem&) { return false; }
bool IfCHasOneEntry(const Problem& p) { return p.c.rows() == 1 && p.c.cols() == 1; }
bool IfCHasOneRow(const Problem& p) { return p.c.rows() == 1; }
bool IfBHasOneRow(const Problem& p) { return p.b.rows() == 1; }

struct Mutant {
  const char* name;
  void (*spoil)(const Problem& p, Owned<float>* c);  // `c` comes as the correct product.
  bool (*changes_nothing)(const Problem& p);
};

using P = const Problem&;
using C = Owned<float>*;

int64_t Inside(int64_t size) { return size * 2 / 5; }
int64_t Last(int64_t size) { return size - 1; }
int64_t LastTile(int64_t size) { return (size - 1) / 32 * 32; }

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

const Mutant kMutants[] = {
    {"NaN", [](P, C c) { (*c)(Inside(c->rows()), Inside(c->cols())) = kNaN; }, Never},
    {"infinity", [](P, C c) { (*c)(Inside(c->rows()), Inside(c->cols())) = kInfinity; }, Never},
    {"wrong inside", [](P, C c) { (*c)(Inside(c->rows()), Inside(c->cols())) *= 1.01f; }, Never},
    {"wrong top left", [](P, C c) { (*c)(0, 0) *= 1.01f; }, Never},
    {"wrong top right", [](P, C c) { (*c)(0, Last(c->cols())) *= 1.01f; }, Never},
    {"wrong bottom left", [](P, C c) { (*c)(Last(c->rows()), 0) *= 1.01f; }, Never},
    {"wrong bottom right", [](P, C c) { (*c)(Last(c->rows()), Last(c->cols())) *= 1.01f; }, Never},
    {"first tile zero", [](P, C c) { SkipTile(0, 0, nullptr, c); }, Never},
    {"last tile zero",
     [](P, C c) { SkipTile(LastTile(c->rows()), LastTile(c->cols()), nullptr, c); }, Never},
    {"first tile stale", [](P p, C c) { SkipTile(0, 0, &p.stale, c); }, Never},
    {"last tile stale",
     [](P p, C c) { SkipTile(LastTile(c->rows()), LastTile(c->cols()), &p.stale, c); }, Never},
    {"all stale", [](P p, C c) { *c = p.stale; }, Never},
    {"last k step missing", [](P p, C c) { *c = p.Naive(p.a, p.b, p.a.cols() - 1); }, Never},
    {"transposed", Transpose, IfCHasOneEntry},
    {"ld of C too large", [](P p, C c) { StoreWithLd(p, c->ld() + 1, c); }, IfCHasOneRow},
    {"ld of C too small", [](P p, C c) { StoreWithLd(p, c->ld() - 1, c); }, IfCHasOneRow},
    {"ld of B too small", [](P p, C c) { LoadBWithLd(p, p.b.ld() - 1, c); }, IfBHasOneRow},
    {"TF32 inputs", RoundInputs, Never},
};

bool SameValues(const Owned<float>& x, const Owned<float>& y) {
  for (int64_t i = 0; i < x.rows(); ++i) {
    for (int64_t j = 0; j < x.cols(); ++j) {
      if (!(x(i, j) == y(i, j))) return false;
    }
  }
  return true;
}

TEST(Mutants, AreCaughtByBothChecks) {
  ForEachProblem([](const Problem& p) {
    for (const Mutant& mutant : kMutants) {
      Owned<float> c = p.c;
      mutant.spoil(p, &c);
      if (mutant.changes_nothing(p)) {
        EXPECT_TRUE(SameValues(c, p.c)) << mutant.name;
        continue;
      }
      EXPECT_FALSE(p.FullCheck(c).ok()) << mutant.name;
      EXPECT_FALSE(p.FastCheck(c).ok()) << mutant.name;
    }
  });
}

}  // namespace
}  // namespace stridewise
