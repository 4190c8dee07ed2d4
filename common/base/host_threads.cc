#include "common/base/host_threads.h"

#include <omp.h>

namespace stridewise {

int HostThreads() { return omp_get_max_threads(); }

void SetHostThreads(int threads) { omp_set_num_threads(threads); }

}  // namespace stridewise
