// Who reads shared memory asynchronously, and has perhaps not finished: the operands of wgmma, and
// what the TMA stores. A later store must come behind a wait for the reader's group.

#ifndef STRIDEWISE_COMMON_EXECUTOR_ASYNC_READS_H_
#define STRIDEWISE_COMMON_EXECUTOR_ASYNC_READS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stridewise::executor {

class AsyncReads {
 public:
  static constexpr uint32_t kPieceBytes = 16;

  // A group of instructions of `threads` threads, as wgmma.commit_group and, of one thread,
  // cp.async.bulk.commit_group count them.
  struct Reader {
    int first_thread;
    int threads;
    uint32_t group;
    uintptr_t pc;  // Of the last instruction that reads the piece.
  };

  bool empty() const { return touched_.empty(); }

  // Records that the reader reads the piece at `offset`, a multiple of kPieceBytes. Groups of the
  // same threads finish in order, so the last one stands for all.
  void Add(uint32_t offset, const Reader& reader) {
    const size_t piece = offset / kPieceBytes;
    if (piece >= pieces_.size()) pieces_.resize(piece + 1);
    for (Reader& other : pieces_[piece]) {
      if (other.first_thread != reader.first_thread || other.threads != reader.threads) continue;
      other = reader;
      return;
    }
    if (pieces_[piece].empty()) touched_.push_back(piece);
    pieces_[piece].push_back(reader);
  }

  // Returns the readers of the bytes' pieces since the last store to one, and forgets them.
  std::vector<Reader> Take(uint32_t offset, int bytes) {
    std::vector<Reader> readers;
    const size_t end = (offset + static_cast<size_t>(bytes) - 1) / kPieceBytes;
    for (size_t piece = offset / kPieceBytes; piece <= end && piece < pieces_.size(); ++piece) {
      readers.insert(readers.end(), pieces_[piece].begin(), pieces_[piece].end());
      pieces_[piece].clear();
    }
    return readers;
  }

  void Clear() {
    for (const size_t piece : touched_) pieces_[piece].clear();
    touched_.clear();
  }

 private:
  std::vector<std::vector<Reader>> pieces_;
  std::vector<size_t> touched_;  // Pieces that have had readers.
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_ASYNC_READS_H_
