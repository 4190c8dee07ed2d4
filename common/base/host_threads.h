// The number of threads that host implementations use: OpenMP's.

#ifndef STRIDEWISE_COMMON_BASE_HOST_THREADS_H_
#define STRIDEWISE_COMMON_BASE_HOST_THREADS_H_

namespace stridewise {

// Returns the number of threads that OpenMP would use for the calling thread: what
// SetHostThreads() said, OMP_NUM_THREADS, or the processors that this process may run on.
int HostThreads();

// Sets it. REQUIRES: at least 1.
void SetHostThreads(int threads);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_HOST_THREADS_H_
