// Cooperative groups: grids, clusters, blocks, tiles of a warp, the lanes that are active, parts of
// these. A barrier of the grid needs a cooperative launch, as on a GPU. Tiles of several warps wait
// at named barriers, which a kernel that uses them itself as well would share.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_COOPERATIVE_GROUPS_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_COOPERATIVE_GROUPS_H_

#include <type_traits>

#include "cuda_runtime.h"

extern "C" void simt_assert_fail(const char* assertion, const char* file, unsigned line,
                                 const char* function);

namespace cooperative_groups {

// Any group: `size` 0 stands for the block.
class thread_group {
 public:
  SIMT_INLINE explicit thread_group(unsigned size) : size_(size) {}
  SIMT_INLINE void sync() const {
    if (size_ == 0) {
      __syncthreads();
    } else {
      __syncwarp(Mask());
    }
  }
  SIMT_INLINE unsigned size() const {
    return size_ == 0 ? blockDim.x * blockDim.y * blockDim.z : size_;
  }
  SIMT_INLINE unsigned long long num_threads() const { return size(); }
  SIMT_INLINE unsigned long long thread_rank() const {
    return size_ == 0 ? BlockRank() : BlockRank() % size_;
  }

  static SIMT_INLINE unsigned BlockRank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
  SIMT_INLINE unsigned Mask() const {
    return 0xffffffffu >> (32 - size_) << (BlockRank() % 32 / size_ * size_);
  }

 private:
  unsigned size_;
};

class thread_block : public thread_group {
 public:
  SIMT_INLINE thread_block() : thread_group(0) {}
  static SIMT_INLINE void sync() { __syncthreads(); }
  static SIMT_INLINE unsigned thread_rank() { return BlockRank(); }
  static SIMT_INLINE unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static SIMT_INLINE unsigned num_threads() { return size(); }
  static SIMT_INLINE dim3 thread_index() { return threadIdx; }
  static SIMT_INLINE dim3 group_index() { return blockIdx; }
  static SIMT_INLINE dim3 group_dim() { return blockDim; }
  static SIMT_INLINE dim3 dim_threads() { return blockDim; }
};

static SIMT_INLINE thread_block this_thread_block() { return {}; }
template <unsigned kMaxThreads>
struct block_tile_memory {};
template <unsigned kMaxThreads>
static SIMT_INLINE thread_block this_thread_block(block_tile_memory<kMaxThreads>&) {
  return {};
}

// The blocks of a cluster run side by side.
class cluster_group {
 public:
  static SIMT_INLINE void barrier_arrive() { ::SimtPtx("barrier.cluster.arrive.aligned;"); }
  static SIMT_INLINE void barrier_wait() { ::SimtPtx("barrier.cluster.wait.aligned;"); }
  static SIMT_INLINE void sync() {
    barrier_arrive();
    barrier_wait();
  }
  static SIMT_INLINE unsigned block_rank() {
    unsigned rank;
    ::SimtPtx("mov.u32 %0, %%cluster_ctarank;", ::SimtOut(rank));
    return rank;
  }
  static SIMT_INLINE unsigned num_blocks() {
    unsigned blocks;
    ::SimtPtx("mov.u32 %0, %%cluster_nctarank;", ::SimtOut(blocks));
    return blocks;
  }
  static SIMT_INLINE dim3 block_index() {
    dim3 index;
    ::SimtPtx(
        "mov.u32 %0, %%cluster_ctaid.x;\nmov.u32 %1, %%cluster_ctaid.y;\n"
        "mov.u32 %2, %%cluster_ctaid.z;",
        ::SimtOut(index.x), ::SimtOut(index.y), ::SimtOut(index.z));
    return index;
  }
  static SIMT_INLINE dim3 dim_blocks() {
    dim3 blocks;
    ::SimtPtx(
        "mov.u32 %0, %%cluster_nctaid.x;\nmov.u32 %1, %%cluster_nctaid.y;\n"
        "mov.u32 %2, %%cluster_nctaid.z;",
        ::SimtOut(blocks.x), ::SimtOut(blocks.y), ::SimtOut(blocks.z));
    return blocks;
  }
  static SIMT_INLINE unsigned thread_rank() {
    return block_rank() * thread_block::size() + thread_block::thread_rank();
  }
  static SIMT_INLINE unsigned num_threads() { return num_blocks() * thread_block::size(); }
  static SIMT_INLINE unsigned size() { return num_threads(); }
  // The same place in the shared memory of another block, and whose memory it is.
  template <typename T>
  static SIMT_INLINE T* map_shared_rank(T* pointer, int rank) {
    T* there;
    ::SimtPtx("mapa.u64 %0, %1, %2;", ::SimtOut(there), ::SimtIn(pointer), ::SimtIn(rank));
    return there;
  }
  static SIMT_INLINE unsigned query_shared_rank(const void* pointer) {
    unsigned rank;
    ::SimtPtx("getctarank.u64 %0, %1;", ::SimtOut(rank), ::SimtIn(pointer));
    return rank;
  }
};

static SIMT_INLINE cluster_group this_cluster() { return {}; }

class grid_group {
 public:
  static SIMT_INLINE bool is_valid() { return simt_is_cooperative() != 0; }
  static SIMT_INLINE void sync() { simt_grid_barrier(); }
  static SIMT_INLINE unsigned long long block_rank() {
    return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x +
           blockIdx.x;
  }
  static SIMT_INLINE unsigned long long num_blocks() {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  static SIMT_INLINE unsigned long long thread_rank() {
    return block_rank() * thread_block::size() + thread_block::thread_rank();
  }
  static SIMT_INLINE unsigned long long size() { return num_blocks() * thread_block::size(); }
  static SIMT_INLINE unsigned long long num_threads() { return size(); }
  static SIMT_INLINE dim3 block_index() { return blockIdx; }
  static SIMT_INLINE dim3 dim_blocks() { return gridDim; }
  static SIMT_INLINE dim3 group_dim() { return gridDim; }
};
static SIMT_INLINE grid_group this_grid() { return {}; }

// Waits for the `size` threads of a tile of several warps: at barrier 15 the first tile, and so on.
SIMT_INLINE void SimtTileBarrier(unsigned tile, unsigned size) {
  simt_asm("barrier.sync %0, %1;" ::"r"(15 - tile), "r"(size) : "memory");
}

// `kSize` neighbouring threads of a block: of one warp, or several whole ones.
template <unsigned kSize, typename Parent = void>
class thread_block_tile : public thread_group {
  static_assert(kSize >= 1 && kSize <= 1024 && (kSize & (kSize - 1)) == 0,
                "a tile has 1, 2, 4 ... 1024 threads");

 public:
  SIMT_INLINE thread_block_tile() : thread_group(kSize) {}
  template <typename Other>
  SIMT_INLINE thread_block_tile(const thread_block_tile<kSize, Other>&) : thread_group(kSize) {}

  static SIMT_INLINE void sync() {
    if constexpr (kSize <= 32) {
      __syncwarp(TileMask());
    } else {
      SimtTileBarrier(meta_group_rank(), kSize);
    }
  }
  static SIMT_INLINE unsigned thread_rank() { return BlockRank() % kSize; }
  static constexpr SIMT_INLINE unsigned size() { return kSize; }
  static constexpr SIMT_INLINE unsigned num_threads() { return kSize; }
  static SIMT_INLINE unsigned meta_group_rank() { return BlockRank() / kSize; }
  static SIMT_INLINE unsigned meta_group_size() {
    return (thread_block::size() + kSize - 1) / kSize;
  }

  template <typename T>
  SIMT_INLINE T shfl(T value, int rank) const {
    return Exchange(value, kSimtFromLane, rank);
  }
  template <typename T>
  SIMT_INLINE T shfl_up(T value, unsigned delta) const {
    return Exchange(value, kSimtUp, static_cast<int>(delta));
  }
  template <typename T>
  SIMT_INLINE T shfl_down(T value, unsigned delta) const {
    return Exchange(value, kSimtDown, static_cast<int>(delta));
  }
  template <typename T>
  SIMT_INLINE T shfl_xor(T value, unsigned mask) const {
    return Exchange(value, kSimtXor, static_cast<int>(mask));
  }
  // Bit i is the predicate of the tile's thread i.
  SIMT_INLINE unsigned ballot(int predicate) const {
    return __ballot_sync(TileMask(), predicate) >> (BlockRank() % 32 / kSize * kSize);
  }
  SIMT_INLINE int any(int predicate) const { return __any_sync(TileMask(), predicate); }
  SIMT_INLINE int all(int predicate) const { return __all_sync(TileMask(), predicate); }

 private:
  static SIMT_INLINE unsigned TileMask() {
    static_assert(kSize <= 32, "a tile of several warps has no mask");
    return 0xffffffffu >> (32 - kSize) << (BlockRank() % 32 / kSize * kSize);
  }
  // In pieces of 8 bytes.
  template <typename T>
  static SIMT_INLINE T Exchange(T value, SimtShuffleMode mode, int argument) {
    static_assert(std::is_trivially_destructible<T>::value && sizeof(T) <= 32,
                  "up to 32 bytes of plain data");
    constexpr unsigned kPieces = (sizeof(T) + 7) / 8;
    uint64_t pieces[kPieces] = {};
    __builtin_memcpy(pieces, &value, sizeof(T));
#pragma unroll
    for (unsigned i = 0; i < kPieces; ++i) {
      pieces[i] = simt_shuffle(TileMask(), pieces[i], mode, argument, kSize);
    }
    __builtin_memcpy(reinterpret_cast<char*>(&value), pieces, sizeof(T));
    return value;
  }
};

template <unsigned kSize, typename Parent>
static SIMT_INLINE thread_block_tile<kSize, Parent> tiled_partition(const Parent&) {
  return {};
}
static SIMT_INLINE thread_group tiled_partition(const thread_group&, unsigned size) {
  return thread_group(size);
}

// Lanes of a warp, ranked in their order.
class coalesced_group {
 public:
  SIMT_INLINE explicit coalesced_group(unsigned mask) : mask_(mask) {}
  SIMT_INLINE unsigned Mask() const { return mask_; }
  SIMT_INLINE unsigned size() const { return __builtin_popcount(mask_); }
  SIMT_INLINE unsigned num_threads() const { return size(); }
  SIMT_INLINE unsigned thread_rank() const {
    return __builtin_popcount(mask_ & ((1u << Lane()) - 1));
  }
  SIMT_INLINE void sync() const { __syncwarp(mask_); }
  template <typename T>
  SIMT_INLINE T shfl(T value, unsigned rank) const {
    return __shfl_sync(mask_, value, LaneOf(rank % size()));
  }
  // From beyond the group a thread gets its own value back.
  template <typename T>
  SIMT_INLINE T shfl_up(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return __shfl_sync(mask_, value, LaneOf(rank < delta ? rank : rank - delta));
  }
  template <typename T>
  SIMT_INLINE T shfl_down(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return __shfl_sync(mask_, value, LaneOf(rank + delta < size() ? rank + delta : rank));
  }
  SIMT_INLINE unsigned ballot(int predicate) const {
    const unsigned lanes = __ballot_sync(mask_, predicate);
    unsigned ranks = 0;
    for (unsigned rank = 0; rank < size(); ++rank) ranks |= (lanes >> LaneOf(rank) & 1) << rank;
    return ranks;
  }
  SIMT_INLINE int any(int predicate) const { return __any_sync(mask_, predicate); }
  SIMT_INLINE int all(int predicate) const { return __all_sync(mask_, predicate); }

 private:
  static SIMT_INLINE unsigned Lane() { return thread_group::BlockRank() % 32; }
  SIMT_INLINE int LaneOf(unsigned rank) const {
    unsigned lanes = mask_;
    for (unsigned i = 0; i < rank; ++i) lanes &= lanes - 1;
    return __builtin_ctz(lanes);
  }
  unsigned mask_;
};

static SIMT_INLINE coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }
template <typename Group>
static SIMT_INLINE coalesced_group binary_partition(const Group& group, bool predicate) {
  const unsigned chosen = __ballot_sync(group.Mask(), predicate);
  return coalesced_group(predicate ? chosen : group.Mask() & ~chosen);
}
template <typename Group, typename Label>
static SIMT_INLINE coalesced_group labeled_partition(const Group& group, Label label) {
  return coalesced_group(__match_any_sync(group.Mask(), label));
}

template <typename Group>
static SIMT_INLINE void sync(const Group& group) {
  group.sync();
}
template <typename Group>
static SIMT_INLINE auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <typename Group>
static SIMT_INLINE auto group_size(const Group& group) {
  return group.size();
}

}  // namespace cooperative_groups

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_COOPERATIVE_GROUPS_H_
