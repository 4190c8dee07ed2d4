// Permutes dimensions of which the innermost stays, in rows of elements of 1 and 2 bytes that begin
// anywhere and that Canonical() can therefore not make larger: 1469 bytes, 195 elements of 2.
//
// A thread stores 16 bytes of `out`, which has no gaps, at a multiple of 16. They come from one row
// of `in`, or from two neighbours of `out`, at any address: each source is the two aligned chunks
// that lie under it, shifted byte by byte in registers. permute_tile gathers the same bytes from
// shared memory one at a time: 16 loads for what are two to four here, and no bank conflicts.
//
// Where a row begins takes a division and more for each dimension. A block does that once for each
// of its rows: 82 million instructions instead of 196 at 2x54x3x178x7x409:203415 of 2 bytes, whose
// rows have 818 bytes.

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
constexpr int kBlocks = 6;    // On a multiprocessor.
constexpr int kBlockBytes = kThreads * kInFlight * kVectorBytes;
// Shorter rows are more rows of a block, for which a table is slower: on an H100 0.79 of a copy,
// and 0.82 without, for 101 bytes, but 0.84 and 0.79 for 150, and 0.97 and 0.86 for 818.
constexpr int kLeastTableRowBytes = 128;
constexpr int kMostRows = kBlockBytes / kLeastTableRowBytes + 3;

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

// Returns the vector that begins `inside` bytes after the first of two neighbouring chunks.
__device__ inline Vector Shifted(const Vector& first, const Vector& second, int inside) {
  const uint32_t words[8] = {first.x,  first.y,  first.z,  first.w,
                             second.x, second.y, second.z, second.w};
  uint32_t by_one[7];
  uint32_t by_two[5];
#pragma unroll
  for (int i = 0; i < 7; ++i) by_one[i] = (inside & 4) != 0 ? words[i + 1] : words[i];
#pragma unroll
  for (int i = 0; i < 5; ++i) by_two[i] = (inside & 8) != 0 ? by_one[i + 2] : by_one[i];
  const int bits = 8 * (inside & 3);
  return make_uint4(
      __funnelshift_r(by_two[0], by_two[1], bits), __funnelshift_r(by_two[1], by_two[2], bits),
      __funnelshift_r(by_two[2], by_two[3], bits), __funnelshift_r(by_two[3], by_two[4], bits));
}

// Returns where a row of `out` begins in `in`, in bytes.
__device__ inline int64_t OffsetOfRow(const PermuteRowsPlan& plan, uint32_t row) {
  int64_t offset = 0;
#pragma unroll
  for (int i = 1; i < kMaxPermuteRank; ++i) {
    if (i == plan.digits) break;
    const RowsDigit& digit = plan.digit[i];
    const uint32_t next = i + 1 == plan.digits ? 0 : digit.by_count.Quotient(row);
    offset += (row - next * digit.count) * digit.stride_in;
    row = next;
  }
  return offset;
}

// Where the rows of a block begin: computed for each vector, or, kTable, once for each row.
template <bool kTable>
class RowPlaces {
 public:
  // `table` has kRows entries for the rows from that of `byte` on. Ends with a barrier.
  __device__ RowPlaces(const PermuteRowsPlan& plan, uint32_t byte, int64_t* table)
      : plan_(plan), table_(table) {
    if constexpr (kTable) {
      first_ = plan.digit[0].by_count.Quotient(byte);
      const uint32_t last = plan.elements / plan.digit[0].count - 1;
      const uint32_t rows = kBlockBytes / plan.digit[0].count + 3;
      for (uint32_t i = threadIdx.x; i < rows; i += kThreads) {
        table[i] = OffsetOfRow(plan, first_ + i < last ? first_ + i : last);
      }
      __syncthreads();
    }
  }
  __device__ int64_t operator[](uint32_t row) const {
    if constexpr (kTable) return table_[row - first_];
    return OffsetOfRow(plan_, row);
  }

 private:
  const PermuteRowsPlan& plan_;
  const int64_t* table_;
  uint32_t first_ = 0;
};

// Moves bytes of `out` one by one.
__device__ inline void MoveBytes(const unsigned char* in, unsigned char* out,
                                 const PermuteRowsPlan& plan, int64_t begin, int64_t end) {
  for (int64_t byte = begin; byte < end; ++byte) {
    out[byte] = in[OffsetsOf(plan, static_cast<uint32_t>(byte)).in];
  }
}

// `plan` is of bytes, and in_bytes the span of `in`.
template <bool kTable>
__global__ void __launch_bounds__(kThreads, kBlocks)
    PermuteRowBytesKernel(const unsigned char* in, int64_t in_bytes, unsigned char* out,
                          PermuteRowsPlan plan) {
  __shared__ int64_t table[kTable ? kMostRows : 1];
  const auto in_begin = reinterpret_cast<intptr_t>(in);
  const intptr_t in_end = in_begin + in_bytes;
  const auto lead = static_cast<int>(reinterpret_cast<intptr_t>(out) & (kVectorBytes - 1));
  const uint32_t row_bytes = plan.digit[0].count;
  const int64_t block = static_cast<int64_t>(blockIdx.x) * kBlockBytes - lead;
  const RowPlaces<kTable> rows(plan, static_cast<uint32_t>(block < 0 ? 0 : block), table);
  const auto first_byte = [&](int i) {
    return block + (i * kThreads + static_cast<int>(threadIdx.x)) * kVectorBytes;
  };
  uint32_t row[kInFlight];
  int left[kInFlight];    // Bytes of the row from the vector on; 0: it is moved byte by byte.
  int inside[kInFlight];  // Bytes from the chunk under the vector to its first byte.
  Vector low[kInFlight];
  Vector high[kInFlight];
#pragma unroll
  for (int i = 0; i < kInFlight; ++i) {
    // Before `out` begins the number is larger than all others.
    const auto byte = static_cast<uint32_t>(first_byte(i));
    left[i] = 0;
    // Only a vector that lies in `out` whole.
    if (byte > plan.elements - kVectorBytes) continue;
    row[i] = plan.digit[0].by_count.Quotient(byte);
    const uint32_t of_row = byte - row[i] * row_bytes;
    const intptr_t from = in_begin + rows[row[i]] + of_row;
    inside[i] = static_cast<int>(from & (kVectorBytes - 1));
    const intptr_t chunk = from - inside[i];
    const auto of_first = static_cast<int>(row_bytes - of_row);
    const bool two = inside[i] != 0 && of_first > kVectorBytes - inside[i];
    if (chunk < in_begin || chunk + (two ? 2 : 1) * kVectorBytes > in_end) continue;
    left[i] = of_first;
    low[i] = LoadOfLine(chunk);
    high[i] = two ? LoadOfLine(chunk + kVectorBytes) : Vector{};
  }
#pragma unroll
  for (int i = 0; i < kInFlight; ++i) {
    bool whole = left[i] > 0;
    Vector vector = {};
    if (whole) vector = Shifted(low[i], high[i], inside[i]);
    if (whole && left[i] < kVectorBytes) {
      const intptr_t from = in_begin + rows[row[i] + 1] - left[i];
      const auto in_chunk = static_cast<int>(from & (kVectorBytes - 1));
      const intptr_t chunk = from - in_chunk;
      const bool first = left[i] < kVectorBytes - in_chunk;
      whole =
          (!first || chunk >= in_begin) && chunk + (in_chunk != 0 ? 2 : 1) * kVectorBytes <= in_end;
      if (whole) {
        const Vector upper = first ? LoadOfLine(chunk) : Vector{};
        const Vector lower = in_chunk != 0 ? LoadOfLine(chunk + kVectorBytes) : Vector{};
        vector = Joined(vector, Shifted(upper, lower, in_chunk), left[i]);
      }
    }
    if (whole) {
      StoreVector(out + static_cast<uint32_t>(first_byte(i)), vector);
    } else {
      const int64_t byte = first_byte(i);
      const int64_t elements = plan.elements;
      MoveBytes(in, out, plan, byte < 0 ? 0 : byte,
                byte + kVectorBytes < elements ? byte + kVectorBytes : elements);
    }
  }
}

}  // namespace

LaunchStatus PermuteRowBytes(const PermuteArgs& args) {
  const PermuteRowsPlan plan = MakePermuteRowBytesPlan(args);
  const int64_t bytes = int64_t{plan.elements} + kVectorBytes - 1;
  return Launch(plan.digit[0].count >= kLeastTableRowBytes ? PermuteRowBytesKernel<true>
                                                           : PermuteRowBytesKernel<false>,
                Grid{CeilDiv(bytes, kBlockBytes)}, Block{kThreads}, 0, args.stream,
                static_cast<const unsigned char*>(args.in), SpanBytesOfIn(args),
                static_cast<unsigned char*>(args.out), plan);
}

}  // namespace stridewise
