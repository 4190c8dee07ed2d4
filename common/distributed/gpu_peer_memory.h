// Memory of the GPUs of one machine (peer_memory.h): of ranks that are threads by their pointers,
// of ranks that are processes by CUDA's handles for other processes.

#ifndef STRIDEWISE_COMMON_DISTRIBUTED_GPU_PEER_MEMORY_H_
#define STRIDEWISE_COMMON_DISTRIBUTED_GPU_PEER_MEMORY_H_

#include <memory>

#include "common/distributed/peer_memory.h"

namespace stridewise {

// Returns that of the device that is the calling thread's when memory is named and reached. Memory
// is named by where its allocation begins (gpu::Allocate()).
std::unique_ptr<PeerMemory> MakeGpuPeerMemory();

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_DISTRIBUTED_GPU_PEER_MEMORY_H_
