// Ctrl-C ends a sweep after the run under way, with all finished rows in the file.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_INTERRUPT_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_INTERRUPT_H_

namespace stridewise {

// From now on the first SIGINT only makes Interrupted() true; the second ends the program at once.
void CatchInterrupts();

bool Interrupted();

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_INTERRUPT_H_
