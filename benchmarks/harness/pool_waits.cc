// Has the thread pools of all libraries sleep soon after a call, so that none takes cores from the
// next one's sample.
//
// Threads of a pool spin for a while before they sleep: OpenBLAS's for 2^26 cycles, some 26 ms,
// libgomp's for 300000 pauses, some 4 ms. A call of another library in that time shares its cores
// with them, and the scheduler takes turns of some 4 ms. Here they spin for about half a
// millisecond: long enough for calls in a row, and over soon enough to be waited for before each
// sample (host_rows.cc). BLIS has no pool; it starts threads for each call.

#include <cstdlib>

namespace stridewise {
namespace {

// libgomp, of which programs hold the archive, reads the environment in a constructor of its own.
// This one has an earlier priority. oneDNN's copy and OpenBLAS read it when they are loaded.
__attribute__((constructor(101))) void ShortenWaits() {
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) {
    setenv("GOMP_SPINCOUNT", "30000", /*overwrite=*/0);
  }
  setenv("OPENBLAS_THREAD_TIMEOUT", "20", /*overwrite=*/0);  // 2^20 cycles.
}

}  // namespace
}  // namespace stridewise
