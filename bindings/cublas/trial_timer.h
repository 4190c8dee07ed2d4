// Times calls on their streams by events, without waiting for them: a call's time is read when a
// later one of its shape is made.

#ifndef STRIDEWISE_BINDINGS_CUBLAS_TRIAL_TIMER_H_
#define STRIDEWISE_BINDINGS_CUBLAS_TRIAL_TIMER_H_

#include "bindings/cublas/call_trials.h"
#include "common/gpu/cuda_handles.h"

namespace stridewise::drop_in {

// Returns how to make a call of this shape on the stream of the current device. Where that is to be
// timed, the thread's next EndTrial() ends it.
Way BeginTrial(const CallShape& shape, Way predicted, cudaStream_t stream);

// Ends what BeginTrial() began, if it did: the call was queued, or refused.
void EndTrial(bool queued);

}  // namespace stridewise::drop_in

#endif  // STRIDEWISE_BINDINGS_CUBLAS_TRIAL_TIMER_H_
