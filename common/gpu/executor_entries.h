// A test that a registry and its entries on the host executor agree.

#ifndef STRIDEWISE_COMMON_GPU_EXECUTOR_ENTRIES_H_
#define STRIDEWISE_COMMON_GPU_EXECUTOR_ENTRIES_H_

#include <string>

#include "absl/status/status.h"
#include "common/gpu/implementation.h"
#include "gtest/gtest.h"

namespace stridewise {

// Expects that `on_host_executor` returns a function of its own for each implementation that the
// registry says the executor can run, and for no other one.
template <typename Implementations, typename OnHostExecutor>
void ExpectEntriesOnExecutor(const Implementations& implementations,
                             const OnHostExecutor& on_host_executor) {
  for (const auto& implementation : implementations) {
    const auto on_host = on_host_executor(implementation);
    if (implementation.executor == Executor::kHostExecutable) {
      ASSERT_TRUE(on_host.ok()) << on_host.status();
      EXPECT_EQ(on_host->name, implementation.name);
      EXPECT_NE(on_host->run, nullptr) << implementation.name;
      EXPECT_NE(on_host->run, implementation.run) << implementation.name;
    } else {
      EXPECT_EQ(on_host.status().code(), absl::StatusCode::kUnimplemented);
      EXPECT_NE(std::string(on_host.status().message()).find(implementation.name),
                std::string::npos);
    }
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_EXECUTOR_ENTRIES_H_
