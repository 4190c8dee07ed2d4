// Configurations by name, for tests.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_MAKE_CONFIG_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_MAKE_CONFIG_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/harness/operation.h"
#include "gtest/gtest.h"

namespace stridewise {

// Returns the configuration at the usual point of a shape. An empty type is the usual one; a block
// of kNoBlock the implementation's own.
inline Config MakeConfig(const Operation& operation, const std::string& implementation,
                         std::vector<int64_t> extents, const std::string& type = "",
                         const Block& block = kNoBlock) {
  Config config;
  config.operation = &operation;
  config.implementation = operation.Find(implementation);
  EXPECT_NE(config.implementation, nullptr) << implementation;
  config.point = operation.UsualPoint(std::move(extents));
  if (!type.empty()) config.point.type = type;
  config.block = block.x > 0 ? block : config.implementation->default_block;
  return config;
}

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_MAKE_CONFIG_H_
