// What the processor can do at most, measured: the clock of a core, its rate of multiply-adds, and
// the rate at which cores copy memory. The roofline of host implementations.

#ifndef STRIDEWISE_COMMON_MEASURE_HOST_PEAKS_H_
#define STRIDEWISE_COMMON_MEASURE_HOST_PEAKS_H_

namespace stridewise {

// Returns the clock of the calling thread's core from the time of a chain of multiplications, of
// which each takes three cycles; 0 on processors where that is not known. Takes 0.2 ms.
double MeasureHostClockMhz();

// What a multiply-add computes. Those of bfloat16 are TDPBF16PS where HasBf16Tiles(), VDPBF16PS
// where HasBf16Products(), and floats' elsewhere, as which such products are computed then.
enum class VectorMath { kFloat, kDouble, kBf16 };

// Returns GFLOP/s of fused multiply-adds on vector registers alone, of as many cores as `threads`
// find, at the same time; 0 for processors other than those with AVX-512 or AVX2. The mean over so
// many seconds, at least 0.1 ms: a short burst may run at a clock that a longer loop does not keep.
double MeasureFmaGflops(VectorMath math, int threads, double seconds);

// Returns GB/s, read and written together, of a copy with streaming stores that no cache holds.
// Measured once for each number of threads. Takes 0.2 s then.
double HostCopyGbps(int threads);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_MEASURE_HOST_PEAKS_H_
