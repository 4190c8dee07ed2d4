// What tests of each operation's registry expect of the host executor.

#ifndef STRIDEWISE_COMMON_EXECUTOR_EXPECT_ON_HOST_EXECUTOR_H_
#define STRIDEWISE_COMMON_EXECUTOR_EXPECT_ON_HOST_EXECUTOR_H_

#include <string>

#include "absl/status/status.h"
#include "common/gpu/implementation.h"
#include "gtest/gtest.h"

namespace stridewise {

// Expects of each implementation of a registry that OnHostExecutor() has it, with a function of its
// own, where its line says so, and that it is refused by its name elsewhere.
template <typename Implementations>
void ExpectOnHostExecutorWhatTheRegistrySays(const Implementations& implementations) {
  for (const auto& implementation : implementations) {
    const auto on_host = OnHostExecutor(implementation);
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

#endif  // STRIDEWISE_COMMON_EXECUTOR_EXPECT_ON_HOST_EXECUTOR_H_
