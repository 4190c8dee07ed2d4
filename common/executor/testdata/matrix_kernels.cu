// Correct kernels with matrices in fragments: ldmatrix, stmatrix, mma and WMMA.

#include <cuda_fp16.h>
#include <mma.h>

#include "common/executor/testdata/correct_kernels.h"
#include "common/executor/testdata/correct_operations.h"

namespace stridewise::executor {
namespace {

// Four 8x8 matrices with elements 3 * (64 * matrix + 8 * row + col). Warp w keeps matrix w % 4, and
// warps from 4 on transposed.
__global__ void MatrixLoads(int* out, const int* in) {
  __shared__ __align__(16) unsigned short s[32][8];
  s[threadIdx.x / 8][threadIdx.x % 8] = static_cast<unsigned short>(in[threadIdx.x]);
  __syncthreads();
  const unsigned row = SharedAddressOf(&s[threadIdx.x % 32]);
  unsigned plain[4], transposed[4], two[2], one;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(plain[0]), "=r"(plain[1]), "=r"(plain[2]), "=r"(plain[3])
               : "r"(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(transposed[0]), "=r"(transposed[1]), "=r"(transposed[2]), "=r"(transposed[3])
               : "r"(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(two[0]), "=r"(two[1])
               : "r"(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1 + 128];" : "=r"(one) : "r"(row));
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const bool same = two[0] == plain[0] && two[1] == plain[1] && one == plain[1];
  out[threadIdx.x] = static_cast<int>(!same ? ~0u : warp < 4 ? plain[warp] : transposed[warp - 4]);
}

// Stores the lanes' registers as matrices, even warps plainly and odd ones transposed, after
// movmatrix has transposed them once.
__global__ void MatrixStores(int* out, const int* in) {
  __shared__ __align__(16) unsigned short s[8][4][8][8];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const unsigned value = static_cast<unsigned>(in[lane]) | static_cast<unsigned>(in[lane] + 1)
                                                               << 16;
  unsigned turned;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(turned) : "r"(value));
  const unsigned row = SharedAddressOf(&s[warp][lane / 8][lane % 8]);
  if (warp % 2 == 0) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %1, %2};" ::"r"(row),
                 "r"(value), "r"(turned)
                 : "memory");
  } else {
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %1, %2};" ::"r"(row),
        "r"(turned), "r"(value)
        : "memory");
  }
  __syncwarp();
  const unsigned short* const all = &s[warp][0][0][0];
  out[threadIdx.x] = all[2 * lane] + 1000 * all[64 + 2 * lane] + 1000000 * (all[129] == all[1]);
}

// Element (lane / 4, lane % 4 * 2 + i) of what MatrixStores stores is 3 * lane + i.
int WantStored(int i) {
  const int row = i % 32 / 4;
  const int col = i % 4 * 2;
  return 3 * (i % 32) + 1000 * (3 * (col * 4 + row / 2) + row % 2) + 1000000;
}

int IntegerA(int row, int k) { return (row + 3 * k) % 11 - 5; }
int IntegerB(int k, int col) { return (5 * k + col) % 13 - 6; }

// The fragments as PTX documents them, byte by byte.
__global__ void MultipliedIntegers(int* out, const int* in) {
  const int g = threadIdx.x % 32 / 4;
  const int t = threadIdx.x % 4;
  unsigned a[4] = {}, b[2] = {};
  for (int i = 0; i < 16; ++i) {
    const int row = i < 4 || (i >= 8 && i < 12) ? g : g + 8;
    const int k = t * 4 + i % 4 + (i >= 8 ? 16 : 0);
    a[i / 4] |= (static_cast<unsigned>(IntegerA(row, k)) & 0xff) << i % 4 * 8;
  }
  for (int i = 0; i < 8; ++i) {
    const int k = t * 4 + i % 4 + (i >= 4 ? 16 : 0);
    b[i / 4] |= (static_cast<unsigned>(IntegerB(k, g)) & 0xff) << i % 4 * 8;
  }
  int d[4] = {1000, 2000, 3000, 4000};
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  for (int i = 0; i < 4; ++i) {
    const int row = i < 2 ? g : g + 8;
    const int col = t * 2 + i % 2;
    out[threadIdx.x / 32 * 128 + row * 8 + col] = d[i];
  }
}

int WantIntegers(int i) {
  const int row = i % 128 / 8;
  const int col = i % 8;
  int sum = row < 8 ? 1000 + col % 2 * 1000 : 3000 + col % 2 * 1000;
  for (int k = 0; k < 32; ++k) sum += IntegerA(row, k) * IntegerB(k, col);
  return sum;
}

int HalfA(int row, int k) { return (3 * row + k) % 5; }
int HalfB(int k, int col) { return (k + 2 * col) % 7; }

template <typename LayoutA, typename LayoutB>
__device__ void MultiplyByWmma(const half* a, const half* b, nvcuda::wmma::layout_t layout,
                               float* c) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, LayoutA> of_a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, LayoutB> of_b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
  wmma::fill_fragment(sums, 1.0f);
  wmma::load_matrix_sync(of_a, a, 16);
  wmma::load_matrix_sync(of_b, b, 24);
  wmma::mma_sync(sums, of_a, of_b, sums);
  for (int i = 0; i < sums.num_elements; ++i) sums.x[i] *= 2;
  wmma::store_matrix_sync(c, sums, 20, layout);
}

// Each warp has another combination of layouts, and writes two rows of the result.
__global__ void WmmaLayouts(int* out, const int* in) {
  using namespace nvcuda;
  __shared__ __align__(32) half a[2][16][16], b[2][16][24];
  __shared__ __align__(32) float c[8][16][20];
  const int i = threadIdx.x / 16;
  const int j = threadIdx.x % 16;
  a[0][i][j] = static_cast<half>(HalfA(i, j));
  a[1][j][i] = static_cast<half>(HalfA(i, j));
  b[0][i][j] = static_cast<half>(HalfB(i, j));
  b[1][j][i] = static_cast<half>(HalfB(i, j));
  __syncthreads();
  const int warp = threadIdx.x / 32;
  float* const to = &c[warp][0][0];
  const auto layout = warp < 4 ? wmma::mem_row_major : wmma::mem_col_major;
  switch (warp % 4) {
    case 0:
      MultiplyByWmma<wmma::row_major, wmma::row_major>(a[0][0], b[0][0], layout, to);
      break;
    case 1:
      MultiplyByWmma<wmma::col_major, wmma::row_major>(a[1][0], b[0][0], layout, to);
      break;
    case 2:
      MultiplyByWmma<wmma::row_major, wmma::col_major>(a[0][0], b[1][0], layout, to);
      break;
    default:
      MultiplyByWmma<wmma::col_major, wmma::col_major>(a[1][0], b[1][0], layout, to);
  }
  __syncwarp();
  out[threadIdx.x] = static_cast<int>(warp < 4 ? c[warp][i][j] : c[warp][j][i]);
}

int WantWmma(int i) {
  int sum = 1;
  for (int k = 0; k < 16; ++k) sum += HalfA(i / 16, k) * HalfB(k, i % 16);
  return 2 * sum;
}

int WantLoaded(int i) {
  const int matrix = i / 32 % 4;
  const int g = i % 32 / 4;
  const int t = i % 4;
  const int first = matrix * 64 + (i < 128 ? g * 8 + 2 * t : 2 * t * 8 + g);
  return In(first) | In(first + (i < 128 ? 1 : 8)) << 16;
}
}  // namespace

std::vector<CorrectKernel> MatrixKernels() {
  return {
      CORRECT(MatrixLoads, false, WantLoaded(i)),
      CORRECT(MatrixStores, false, WantStored(i)),
      CORRECT(MultipliedIntegers, false, WantIntegers(i), 1, 64),
      CORRECT(WmmaLayouts, false, WantWmma(i)),
  };
}

}  // namespace stridewise::executor
