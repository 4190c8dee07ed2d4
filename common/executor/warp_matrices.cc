// The instructions of matrices that a whole warp executes: ldmatrix, stmatrix, movmatrix and mma.

#include "common/executor/warp_matrices.h"

#include <cstdint>
#include <cstring>

#include "common/executor/ptx/tensor_core.h"

namespace stridewise::executor {
namespace {

// The values of the operands that the lanes of a warp have come with. Lanes that a last, smaller
// warp does not have hold zeros.
struct WarpLanes {
  Lane* lanes;
  int count;

  uint32_t Word(int lane, int operand) const {
    return lane < count ? static_cast<uint32_t>(lanes[lane].operands[operand]) : 0;
  }
  void SetWord(int lane, int operand, uint32_t word) const {
    if (lane < count) lanes[lane].operands[operand] = word;
  }
  // Returns the row of 8 elements whose address lane `row` gives; null where there is no such lane.
  uint8_t* Row(int row, int address) const {
    return row < count ? reinterpret_cast<uint8_t*>(lanes[row].operands[address]) : nullptr;
  }
};

// Of an 8x8 matrix of 16-bit elements lane l holds elements (l / 4, l % 4 * 2) and the next one.
void LoadMatrices(const WarpLanes& warp, const PtxOpcode& opcode) {
  for (int i = 0; i < opcode.count; ++i) {
    uint16_t matrix[kMatrixRows][kMatrixRows] = {};
    for (int row = 0; row < kMatrixRows; ++row) {
      const uint8_t* const from = warp.Row(i * kMatrixRows + row, opcode.count);
      if (from != nullptr) std::memcpy(matrix[row], from, kMatrixRowBytes);
    }
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      const int row = lane / 4;
      const int col = lane % 4 * 2;
      const uint32_t low = opcode.transposed ? matrix[col][row] : matrix[row][col];
      const uint32_t high = opcode.transposed ? matrix[col + 1][row] : matrix[row][col + 1];
      warp.SetWord(lane, i, low | high << 16);
    }
  }
}

void StoreMatrices(const WarpLanes& warp, const PtxOpcode& opcode) {
  for (int i = 0; i < opcode.count; ++i) {
    uint16_t matrix[kMatrixRows][kMatrixRows];
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      const int row = lane / 4;
      const int col = lane % 4 * 2;
      const uint32_t word = warp.Word(lane, 1 + i);
      (opcode.transposed ? matrix[col][row] : matrix[row][col]) = static_cast<uint16_t>(word);
      (opcode.transposed ? matrix[col + 1][row] : matrix[row][col + 1]) =
          static_cast<uint16_t>(word >> 16);
    }
    for (int row = 0; row < kMatrixRows; ++row) {
      uint8_t* const to = warp.Row(i * kMatrixRows + row, 0);
      if (to != nullptr) std::memcpy(to, matrix[row], kMatrixRowBytes);
    }
  }
}

void TransposeMatrix(const WarpLanes& warp) {
  uint16_t matrix[kMatrixRows][kMatrixRows];
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    const uint32_t word = warp.Word(lane, 1);
    matrix[lane / 4][lane % 4 * 2] = static_cast<uint16_t>(word);
    matrix[lane / 4][lane % 4 * 2 + 1] = static_cast<uint16_t>(word >> 16);
  }
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    const uint32_t high = matrix[lane % 4 * 2 + 1][lane / 4];
    warp.SetWord(lane, 0, matrix[lane % 4 * 2][lane / 4] | high << 16);
  }
}

// PTX ISA, "Matrix Fragments for mma.m16n8k16" and its kin. With g = lane / 4 and t = lane % 4,
// registers of A hold 32 bits of k of rows g and g + 8, at t and, in the second half of them, half
// the k extent further; those of B the same of column g; those of D columns 2t and 2t + 1 of rows g
// and g + 8.
void Multiply(const WarpLanes& warp, const PtxOpcode& opcode) {
  constexpr int kMaxDepth = 32;
  const TensorForm& form = opcode.form;
  const int bits = TensorTypeBits(form.a);
  const int each = 32 / bits;  // Elements of a register.
  const uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
  const int of_a = form.m * form.k * bits / 1024;
  const int of_b = form.n * form.k * bits / 1024;
  const bool half_sums = form.sums == TensorType::kF16;
  const int of_d = half_sums ? 2 : 4;
  uint32_t a[16 * kMaxDepth], b[8 * kMaxDepth], d[16 * 8];
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    const int g = lane / 4;
    const int t = lane % 4;
    for (int i = 0; i < of_a; ++i) {
      const uint32_t word = warp.Word(lane, of_d + i);
      uint32_t* const to = a + (g + i % 2 * 8) * form.k + t * each + i / 2 * 4 * each;
      for (int j = 0; j < each; ++j) to[j] = word >> (j * bits) & mask;
    }
    for (int i = 0; i < of_b; ++i) {
      const uint32_t word = warp.Word(lane, of_d + of_a + i);
      uint32_t* const to = b + g * form.k + t * each + i * 4 * each;
      for (int j = 0; j < each; ++j) to[j] = word >> (j * bits) & mask;
    }
    for (int i = 0; i < 4; ++i) {
      const uint32_t word = warp.Word(lane, of_d + of_a + of_b + (half_sums ? i / 2 : i));
      d[(g + i / 2 * 8) * form.n + t * 2 + i % 2] =
          half_sums ? word >> (i % 2 * 16) & 0xffff : word;
    }
  }
  MultiplyTensors(form, a, b, d, d);
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    const uint32_t* const from = d + lane / 4 * form.n + lane % 4 * 2;
    for (int i = 0; i < of_d; ++i) {
      const uint32_t* const row = from + (half_sums ? i : i / 2) * 8 * form.n;
      warp.SetWord(lane, i, half_sums ? row[0] | row[1] << 16 : row[i % 2]);
    }
  }
}

}  // namespace

void ExecuteMatrices(const PtxOpcode& opcode, Lane* lanes, int count) {
  const WarpLanes warp = {lanes, count};
  if (opcode.kind == PtxKind::kLoadMatrices) LoadMatrices(warp, opcode);
  if (opcode.kind == PtxKind::kStoreMatrices) StoreMatrices(warp, opcode);
  if (opcode.kind == PtxKind::kTransposeMatrix) TransposeMatrix(warp);
  if (opcode.kind == PtxKind::kMultiply) Multiply(warp, opcode);
}

}  // namespace stridewise::executor
