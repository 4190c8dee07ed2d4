#include "common/executor/ptx/program.h"

#include <cstdint>
#include <string>

#include "common/executor/ptx/atomic_opcode.h"
#include "common/executor/ptx/tensor_core.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

using Kind = PtxValue::Kind;

TEST(PtxProgram, ReadsAnInstructionAndItsOperands) {
  const PtxProgram program = ParsePtx("st.shared.v2.b32 [%0 + 16], {%1, 7};");
  ASSERT_EQ(program.unknown, "");
  ASSERT_EQ(program.instructions.size(), 1u);
  EXPECT_EQ(program.arguments, 2);
  const PtxInstruction& store = program.instructions[0];
  EXPECT_EQ(store.opcode.kind, PtxKind::kStore);
  EXPECT_EQ(store.opcode.space, PtxSpace::kShared);
  EXPECT_EQ(store.opcode.count, 2);
  EXPECT_EQ(store.opcode.type.bits, 32);
  ASSERT_EQ(store.operands.size(), 2u);
  EXPECT_TRUE(store.operands[0].is_address);
  EXPECT_EQ(store.operands[0].offset, 16);
  EXPECT_EQ(store.operands[0].values[0].kind, Kind::kArgument);
  EXPECT_EQ(store.operands[1].values[1].kind, Kind::kImmediate);
  EXPECT_EQ(store.operands[1].values[1].bits, 7u);
}

TEST(PtxProgram, ReadsPredicatesLabelsAndBranches) {
  const PtxProgram program = ParsePtx(
      "{\n.reg .pred done;  // A comment.\n.reg .b32 t<2>;\n"
      "again:\nadd.u32 t1, %0, 1;\nsetp.ge.u32 done, t1, %1;\n@!done bra again;\n}\n");
  ASSERT_EQ(program.unknown, "");
  ASSERT_EQ(program.instructions.size(), 3u);
  EXPECT_EQ(program.registers, 3);
  EXPECT_EQ(program.instructions[0].operands[0].values[0].bits, 2u);
  EXPECT_EQ(program.instructions[0].guard, -1);
  EXPECT_EQ(program.instructions[2].guard, 0);
  EXPECT_TRUE(program.instructions[2].guard_negated);
  EXPECT_EQ(program.instructions[2].target, 0);
}

// As CUTLASS waits for a barrier.
TEST(PtxProgram, ReadsALabelBeforeTheLastBrace) {
  const PtxProgram program = ParsePtx(
      "{\n.reg .pred P1;\nLAB_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
      "@P1 bra DONE;\nbra LAB_WAIT;\nDONE:\n}");
  ASSERT_EQ(program.unknown, "");
  ASSERT_EQ(program.instructions.size(), 3u);
  EXPECT_EQ(program.instructions[1].target, 3);
  EXPECT_EQ(program.instructions[2].target, 0);
}

TEST(PtxProgram, ReadsWhatTensorCoresMultiply) {
  const PtxProgram program = ParsePtx(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};");
  ASSERT_EQ(program.unknown, "");
  const TensorForm& form = program.instructions[0].opcode.form;
  EXPECT_EQ(form.m, 16);
  EXPECT_EQ(form.n, 8);
  EXPECT_EQ(form.k, 32);
  EXPECT_EQ(form.a, TensorType::kS8);
  EXPECT_EQ(form.b, TensorType::kU8);
  EXPECT_EQ(form.sums, TensorType::kS32);
}

TEST(PtxProgram, ReadsABoxOfATensor) {
  const PtxProgram program = ParsePtx(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
      "[%1 + 64, {%2, -3}], [%4];\n"
      "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%1, {%2}], [%0];");
  ASSERT_EQ(program.unknown, "");
  ASSERT_EQ(program.instructions.size(), 2u);
  const PtxInstruction& load = program.instructions[0];
  EXPECT_EQ(load.opcode.kind, PtxKind::kBulkLoad);
  EXPECT_EQ(load.opcode.dimensions, 2);
  ASSERT_EQ(load.operands.size(), 3u);
  ASSERT_EQ(load.operands[1].values.size(), 3u);
  EXPECT_EQ(load.operands[1].offset, 64);
  EXPECT_EQ(load.operands[1].values[1].bits, 2u);
  EXPECT_EQ(static_cast<int64_t>(load.operands[1].values[2].bits), -3);
  EXPECT_EQ(program.instructions[1].opcode.kind, PtxKind::kBulkStore);
}

TEST(PtxProgram, ReadsStoresThatCompleteBytes) {
  const PtxProgram program = ParsePtx(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%0], {%1, %2}, [%3];\n"
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0 + 4], "
      "%1, "
      "[%3];\n"
      "st.shared::cluster.u32 [%0], %1;");
  ASSERT_EQ(program.unknown, "");
  ASSERT_EQ(program.instructions.size(), 3u);
  const PtxKind kinds[] = {PtxKind::kStore, PtxKind::kAtomic, PtxKind::kStore};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(program.instructions[i].opcode.kind, kinds[i]);
    EXPECT_EQ(program.instructions[i].opcode.completes, i < 2);
    EXPECT_EQ(program.instructions[i].operands.size(), i < 2 ? 3u : 2u);
  }
  EXPECT_EQ(program.instructions[0].opcode.count, 2);
  EXPECT_EQ(program.instructions[1].opcode.operation, '+');
}

TEST(PtxProgram, ReadsWhatAWarpgroupMultiplies) {
  const PtxProgram program = ParsePtx(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, 1, -1, 0, "
      "1;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, "
      "1, 1, 1, 0;");
  ASSERT_EQ(program.unknown, "");
  EXPECT_EQ(program.instructions[0].opcode.kind, PtxKind::kWgmma);
  EXPECT_EQ(program.instructions[0].opcode.form.n, 8);
  EXPECT_EQ(program.instructions[0].operands.size(), 8u);
  EXPECT_EQ(program.instructions[1].operands.size(), 7u);
}

TEST(PtxProgram, ReadsAtomicOperations) {
  const struct {
    const char* text;
    char operation;
    uint64_t old, value, swap, result;
  } cases[] = {
      {"red.shared::cluster.add.u32 [%0], %1;", '+', 0xffffffff, 2, 0, 1},
      {"red.relaxed.gpu.global.add.f32 [%0], %1;", '+', 0x3f800000, 0x40000000, 0, 0x40400000},
      {"atom.add.u64 %0, [%1 + 8], %2;", '+', 0xffffffff, 2, 0, 0x100000001},
      {"atom.global.min.s32 %0, [%1], %2;", '<', 0xffffffff, 2, 0, 0xffffffff},
      {"atom.cta.shared.min.u32 %0, [%1], %2;", '<', 0xffffffff, 2, 0, 2},
      {"atom.max.s64 %0, [%1], %2;", '>', ~uint64_t{0}, 2, 0, 2},
      {"red.global.or.b32 [%0], %1;", '|', 12, 10, 0, 14},
      {"red.global.and.b64 [%0], %1;", '&', 12, 10, 0, 8},
      {"red.global.xor.b32 [%0], %1;", '^', 12, 10, 0, 6},
      {"atom.inc.u32 %0, [%1], %2;", 'i', 5, 5, 0, 0},
      {"atom.dec.u32 %0, [%1], %2;", 'd', 0, 5, 0, 5},
      {"atom.exch.b32 %0, [%1], %2;", 'x', 5, 7, 0, 7},
      {"atom.relaxed.sys.global.cas.b64 %0, [%1], %2, %3;", 'c', 5, 5, 9, 9},
      {"atom.cas.b32 %0, [%1], %2, %3;", 'c', 5, 6, 9, 5},
  };
  for (const auto& c : cases) {
    const PtxProgram program = ParsePtx(c.text);
    ASSERT_EQ(program.unknown, "") << c.text;
    const PtxOpcode& opcode = program.instructions[0].opcode;
    EXPECT_EQ(opcode.kind, PtxKind::kAtomic) << c.text;
    EXPECT_EQ(opcode.operation, c.operation) << c.text;
    EXPECT_EQ(AtomicResult(opcode, c.old, c.value, c.swap), c.result) << c.text;
  }
}

// A policy changes nothing, and is no source size of a copy.
TEST(PtxProgram, DropsPoliciesOfCaches) {
  const PtxProgram program = ParsePtx(
      "createpolicy.fractional.L2::evict_first.b64 %0, 1.0;\n"
      "cp.async.cg.shared.global.L2::cache_hint [%1], [%2], 16, %0;\n"
      "cp.async.cg.shared.global.L2::cache_hint [%1], [%2], 16, %3, %0;\n"
      "ld.global.L1::no_allocate.L2::cache_hint.v4.b32 {%4, %5, %6, %7}, [%2], %0;");
  ASSERT_EQ(program.unknown, "");
  EXPECT_EQ(program.instructions[0].opcode.kind, PtxKind::kCachePolicy);
  EXPECT_EQ(program.instructions[1].operands.size(), 3u);
  EXPECT_EQ(program.instructions[2].operands.size(), 4u);
  EXPECT_EQ(program.instructions[3].operands.size(), 2u);
}

TEST(PtxProgram, NothingIsAProgram) {
  EXPECT_EQ(ParsePtx("").unknown, "");
  EXPECT_TRUE(ParsePtx(" \n").instructions.empty());
}

TEST(PtxProgram, NamesWhatItDoesNotKnow) {
  const struct {
    const char* text;
    const char* unknown;
  } cases[] = {
      {"brev.b32 %0, %1;", "the instruction 'brev.b32'"},
      {"add.f32 %0, %1, %2;", "the instruction 'add.f32'"},
      {"ld.acquire.gpu.b32 %0, [%1];", "the instruction 'ld.acquire.gpu.b32'"},
      {"atom.acquire.gpu.global.add.u32 %0, [%1], %2;",
       "the instruction 'atom.acquire.gpu.global.add.u32'"},
      {"red.global.exch.b32 [%0], %1;", "the instruction 'red.global.exch.b32'"},
      {"st.async.global.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];",
       "the instruction 'st.async.global.mbarrier::complete_tx::bytes.u32'"},
      {"st.async.shared::cluster.u32 [%0], %1;", "the instruction 'st.async.shared::cluster.u32'"},
      {"st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1;",
       "the operands of 'st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1'"},
      {"atom.add.u32 [%0], %1;", "the operands of 'atom.add.u32 [%0], %1'"},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
       "{%8, %9}, {%0, %1, %2, %3};",
       "the instruction 'mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32'"},
      {"ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%0, %1, %2}, [%3];",
       "the instruction 'ldmatrix.sync.aligned.m8n8.x3.shared.b16'"},
      {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1}, [%2];",
       "the operands of 'ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1}, [%2]'"},
      {"mov.u32 %0, %%smid;", "the operands of 'mov.u32 %0, %smid'"},
      {"bar.arrive 1;", "the operands of 'bar.arrive 1'"},
      {"mbarrier.init.shared.b64 [%0];", "the operands of 'mbarrier.init.shared.b64 [%0]'"},
      {"mbarrier.try_wait.noComplete.b64 %0, [%1], %2;",
       "the instruction 'mbarrier.try_wait.noComplete.b64'"},
      {"@p mov.u32 %0, 1;", "the predicate 'p'"},
      {"wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%0, %1, %2, %3}, %4, %5, 1, 1, 1;",
       "the operands of 'wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%0, %1, %2, %3}, %4, %5, "
       "1, 1, 1'"},
      {"cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1}], [%2];",
       "the operands of 'cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1}], [%2]'"},
      {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 16;",
       "the instruction 'cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32'"},
      {"bra nowhere;", "the label 'nowhere'"},
      {".reg .b32 t<33>;", "more registers than the executor has"},
  };
  for (const auto& c : cases) EXPECT_EQ(ParsePtx(c.text).unknown, c.unknown) << c.text;
}

}  // namespace
}  // namespace stridewise::executor
