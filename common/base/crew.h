// Threads that share the parts of a call's work with the thread that calls, and wait for its next
// call.
//
// An OpenMP region ends when all of its threads have been there, also those that were still asleep
// or whose cores other programs had: up to a time slice, some milliseconds, for a product of some
// microseconds. Here each part is taken by whoever comes first, the calling thread waits for parts
// and not for threads, and a thread that comes late finds nothing to do. Each thread begins with
// the same parts in every call, so that what it wrote is still in its caches.

#ifndef STRIDEWISE_COMMON_BASE_CREW_H_
#define STRIDEWISE_COMMON_BASE_CREW_H_

#include <cstdint>

namespace stridewise {

using CrewFunction = void (*)(const void* work, int64_t first, int64_t end);

// Calls function(work, first, end) for ranges that make up [0, parts), on the calling thread and at
// most threads - 1 others, several ranges for each thread where there are more parts.
void RunRangesInCrew(int threads, int64_t parts, CrewFunction function, const void* work);

// Calls fn(part) once for each part in [0, parts), on the calling thread and at most threads - 1
// others, and returns when all have returned. Every calling thread has a crew of its own. On the
// calling thread alone in a parallel region of OpenMP and in a part of a crew; on OpenMP's threads
// where OMP_PROC_BIND or OMP_PLACES binds those to processors. After fork() the child has a new
// crew. `fn` throws nothing.
template <typename Fn>
void RunInCrew(int threads, int64_t parts, const Fn& fn) {
  const auto run = [](const void* work, int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i) (*static_cast<const Fn*>(work))(i);
  };
  RunRangesInCrew(threads, parts, run, &fn);
}

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_CREW_H_
