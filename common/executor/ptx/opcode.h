// The PTX instructions that the host executor knows, by name.

#ifndef STRIDEWISE_COMMON_EXECUTOR_PTX_OPCODE_H_
#define STRIDEWISE_COMMON_EXECUTOR_PTX_OPCODE_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "common/executor/ptx/tensor_core.h"

namespace stridewise::executor {

enum class PtxKind : uint8_t {
  // One thread, registers only.
  kMove,  // mov, cvta
  kSetPredicate,
  kSelect,
  kArithmetic,
  kRoundToTf32,
  kBranch,
  kCachePolicy,  // createpolicy, whose result only hints look at.
  // griddepcontrol: kernels run one after the other. prefetch. Fences of global
  // memory.
  kNothing,
  // One thread, memory.
  kLoad,
  kStore,
  kAtomic,  // atom and red
  kCopyAsync,
  kCommitCopies,
  kWaitForCopies,  // cp.async.wait_group
  kWaitForAllCopies,
  kBulkLoad,  // cp.async.bulk and cp.async.bulk.tensor
  kBulkStore,
  kCommitBulkCopies,
  kWaitForBulkCopies,
  kSharedOfCluster,  // mapa, of an address in `space`
  kRankOfAddress,    // getctarank, likewise
  // The threads of a block or of a warp.
  kBarrier,         // bar.sync and bar.arrive
  kClusterBarrier,  // barrier.cluster
  kMbarrier,
  kArriveAfterCopies,  // cp.async.mbarrier.arrive
  kProxyFence,         // fence.proxy.async of shared memory
  kMbarrierInitFence,  // fence.mbarrier_init
  kElect,
  kLoadMatrices,
  kStoreMatrices,
  kTransposeMatrix,
  kMultiply,
  // A warpgroup.
  kRegisters,  // setmaxnreg
  kWgmmaFence,
  kWgmmaCommit,
  kWgmmaWait,
  kWgmma,
};

enum class PtxSpace : uint8_t { kGeneric, kGlobal, kShared };

enum class MbarrierOp : uint8_t {
  kInit,
  kInvalidate,
  kArrive,
  kExpectBytes,
  kCompleteBytes,
  kWait,  // test_wait and try_wait
  kPendingCount,
};

struct PtxType {
  char letter = 'b';  // b, u, s or f; p for a predicate.
  int bits = 32;
};

// An instruction's name, taken apart. Which fields have a meaning follows from the kind.
struct PtxOpcode {
  PtxKind kind = PtxKind::kNothing;
  PtxType type = {};
  // kArithmetic: + - * m & | ^ ~ l r; kSetPredicate: = ! < { > }; kAtomic: + < > & | ^ i d x c.
  // kRegisters: + -.
  char operation = 0;
  PtxSpace space = PtxSpace::kGeneric;
  int count = 1;            // Elements of a vector; matrices of ldmatrix and stmatrix.
  bool transposed = false;  // Of ldmatrix and stmatrix.
  bool has_policy = false;  // .L2::cache_hint: a last operand, which is a hint to the cache.
  bool has_result = false;  // Of kAtomic.
  bool completes =
      false;  // st.async, red.async: a last operand, the mbarrier that the bytes count for.
  int dimensions = 0;      // Of cp.async.bulk.tensor; 0: of cp.async.bulk.
  bool multicast = false;  // Of both: to blocks of the cluster.
  TensorForm form = {};    // Of kMultiply and kWgmma.
  // Of barriers. kBarrier and kClusterBarrier only know kArrive, which does not wait, and kWait.
  MbarrierOp barrier = MbarrierOp::kWait;
  bool orders = true;            // Not where it is .relaxed.
  bool expects_bytes = false;    // mbarrier.arrive.expect_tx
  bool drops = false;            // mbarrier.arrive_drop
  bool never_completes = false;  // mbarrier.arrive.noComplete
  bool by_parity = false;        // mbarrier.try_wait.parity
  bool counts = false;           // cp.async.mbarrier.arrive.noinc
};

// Take a part of a name: a type such as "u32", or a space of memory.
std::optional<PtxType> FindPtxType(absl::string_view name);
std::optional<PtxSpace> FindPtxSpace(absl::string_view name);

// Takes a name such as "ld.shared.v4.f32" apart. Returns nothing for an instruction, or a form of
// one, that the executor does not run.
std::optional<PtxOpcode> FindPtxOpcode(absl::string_view name);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_PTX_OPCODE_H_
