// Permutes dimensions of which the innermost stays, in rows of elements of 1 and 2 bytes that begin
// anywhere and that Canonical() can therefore not make larger: 1469 bytes, 195 elements of 2.
//
// A thread stores 16 bytes of `out`, which has no gaps, at a multiple of 16. They come from one row
// of `in`, or from two neighbours of `out`, at any address: each source is the two aligned chunks
// that lie under it, shifted byte by byte in registers. permute_tile gathers the same bytes from
// shared memory one at a time: 16 loads for what are two to four here, and no bank conflicts.

#include <cstdint>

#include "common/gpu/launch.h"
#include "transpose/device/rows_offsets.h"
#include "transpose/device/vectors.h"
#include "transpose/permute_args.h"
#include "transpose/permute_rows_plan.h"

namespace stridewise {
namespace {

constexpr int kThreads = 256;
constexpr int kInFlight = 2;  // Vectors that a thread loads before it stores the first.

// Loads a vector, and lets L2 fetch the whole cache line: what other rows have of it is needed
// soon.
__device__ inline Vector LoadOfLine(intptr_t from) {
#ifdef STRIDEWISE_HOST_EXECUTOR
  return *reinterpret_cast<const Vector*>(from);
#else
  Vector vector;
  asm volatile("ld.global.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(vector.x), "=r"(vector.y), "=r"(vector.z), "=r"(vector.w)
               : "l"(from));
  return vector;
#endif
}

// Bytes begin to end of a vector, which lie in `in` from `address` + begin on.
class Source {
 public:
  __device__ Source(intptr_t address, int begin, int end)
      : inside_(static_cast<int>(address & (kVectorBytes - 1))),
        chunk_(address - inside_),
        low_(begin < end && begin < kVectorBytes - inside_),
        high_(begin < end && inside_ != 0 && end > kVectorBytes - inside_) {}

  // Returns whether all chunks that are loaded lie between these addresses.
  __device__ bool IsWithin(intptr_t begin, intptr_t end) const {
    const intptr_t from = chunk_ + (low_ ? 0 : kVectorBytes);
    const intptr_t to = chunk_ + (high_ ? 2 : 1) * kVectorBytes;
    return (!low_ && !high_) || (from >= begin && to <= end);
  }

  __device__ void Load() {
    if (low_) chunks_[0] = LoadOfLine(chunk_);
    if (high_) chunks_[1] = LoadOfLine(chunk_ + kVectorBytes);
  }

  // Returns the vector. Bytes outside of begin and end are any.
  __device__ Vector Shifted() const {
    const uint32_t words[8] = {chunks_[0].x, chunks_[0].y, chunks_[0].z, chunks_[0].w,
                               chunks_[1].x, chunks_[1].y, chunks_[1].z, chunks_[1].w};
    uint32_t by_one[7];
    uint32_t by_two[5];
#pragma unroll
    for (int i = 0; i < 7; ++i) by_one[i] = (inside_ & 4) != 0 ? words[i + 1] : words[i];
#pragma unroll
    for (int i = 0; i < 5; ++i) by_two[i] = (inside_ & 8) != 0 ? by_one[i + 2] : by_one[i];
    const int bits = 8 * (inside_ & 3);
    return make_uint4(
        __funnelshift_r(by_two[0], by_two[1], bits), __funnelshift_r(by_two[1], by_two[2], bits),
        __funnelshift_r(by_two[2], by_two[3], bits), __funnelshift_r(by_two[3], by_two[4], bits));
  }

 private:
  int inside_;      // Bytes from the first chunk to the vector's first byte.
  intptr_t chunk_;  // The first chunk.
  bool low_;        // Whether the vector needs the first chunk,
  bool high_;       // and the second.
  Vector chunks_[2] = {};
};

// Returns a vector with the first `count` bytes of `first` and the others of `second`.
__device__ inline Vector Joined(const Vector& first, const Vector& second, int count) {
  const auto word = [count](uint32_t a, uint32_t b, int at) {
    const int bytes = count - at;
    const uint32_t mask = bytes <= 0 ? 0 : bytes >= 4 ? 0xffffffffu : (1u << 8 * bytes) - 1;
    return (a & mask) | (b & ~mask);
  };
  return make_uint4(word(first.x, second.x, 0), word(first.y, second.y, 4),
                    word(first.z, second.z, 8), word(first.w, second.w, 12));
}

// Moves bytes of `out` one by one.
__device__ inline void MoveBytes(const unsigned char* in, unsigned char* out,
                                 const PermuteRowsPlan& plan, int64_t begin, int64_t end) {
  for (int64_t byte = begin; byte < end; ++byte) {
    out[byte] = in[OffsetsOf(plan, static_cast<uint32_t>(byte)).in];
  }
}

// `plan` is of bytes, and in_bytes the span of `in`.
__global__ void __launch_bounds__(kThreads)
    PermuteRowBytesKernel(const unsigned char* in, int64_t in_bytes, unsigned char* out,
                          PermuteRowsPlan plan) {
  const auto in_begin = reinterpret_cast<intptr_t>(in);
  const intptr_t in_end = in_begin + in_bytes;
  const auto lead = static_cast<int>(reinterpret_cast<intptr_t>(out) & (kVectorBytes - 1));
  const auto row_bytes = static_cast<int>(plan.digit[0].count);
  const int64_t block = static_cast<int64_t>(blockIdx.x) * (kThreads * kInFlight) + threadIdx.x;
  const auto first_byte = [&](int i) { return (block + i * kThreads) * kVectorBytes - lead; };
  // Whether a vector lies in `out` whole, and what it comes from in `in`.
  const auto is_whole = [&](int64_t byte) {
    return byte >= 0 && byte + kVectorBytes <= int64_t{plan.elements};
  };
  Vector vectors[kInFlight];
  bool loaded[kInFlight];
#pragma unroll
  for (int i = 0; i < kInFlight; ++i) {
    const int64_t byte = first_byte(i);
    loaded[i] = is_whole(byte);
    if (!loaded[i]) continue;
    const auto from = static_cast<uint32_t>(byte);
    const uint32_t row = plan.digit[0].by_count.Quotient(from);
    const auto left = row_bytes - static_cast<int>(from - row * plan.digit[0].count);
    const int count = left < kVectorBytes ? left : kVectorBytes;  // Bytes of the first row.
    Source first(in_begin + OffsetsOf(plan, from).in, 0, count);
    intptr_t next = 0;
    if (count < kVectorBytes) next = in_begin + OffsetsOf(plan, from + count).in - count;
    Source second(next, count, kVectorBytes);
    loaded[i] = first.IsWithin(in_begin, in_end) && second.IsWithin(in_begin, in_end);
    if (!loaded[i]) continue;
    first.Load();
    second.Load();
    vectors[i] = first.Shifted();
    if (count < kVectorBytes) vectors[i] = Joined(vectors[i], second.Shifted(), count);
  }
#pragma unroll
  for (int i = 0; i < kInFlight; ++i) {
    const int64_t byte = first_byte(i);
    if (loaded[i]) {
      StoreVector(out + byte, vectors[i]);
    } else {
      const int64_t elements = plan.elements;
      MoveBytes(in, out, plan, byte < 0 ? 0 : byte,
                byte + kVectorBytes < elements ? byte + kVectorBytes : elements);
    }
  }
}

}  // namespace

LaunchStatus PermuteRowBytes(const PermuteArgs& args) {
  const PermuteRowsPlan plan = MakePermuteRowBytesPlan(args);
  const int64_t vectors = CeilDiv(int64_t{plan.elements} + kVectorBytes - 1, kVectorBytes);
  return Launch(PermuteRowBytesKernel, Grid{CeilDiv(vectors, kThreads * kInFlight)},
                Block{kThreads}, 0, args.stream, static_cast<const unsigned char*>(args.in),
                SpanBytesOfIn(args), static_cast<unsigned char*>(args.out), plan);
}

}  // namespace stridewise
