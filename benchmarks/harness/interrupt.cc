#include "benchmarks/harness/interrupt.h"

#include <csignal>

namespace stridewise {
namespace {

// A signal handler can talk to the program through such a variable only.
volatile std::sig_atomic_t interrupted = 0;

void OnInterrupt(int /*signal*/) {
  interrupted = 1;
  (void)std::signal(SIGINT, SIG_DFL);
}

}  // namespace

void CatchInterrupts() { (void)std::signal(SIGINT, OnInterrupt); }

bool Interrupted() { return interrupted != 0; }

}  // namespace stridewise
