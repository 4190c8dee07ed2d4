#include "common/executor/coalescer.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "common/executor/trace.h"
#include "common/measure/csv.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

constexpr uint32_t kAll = ~uint32_t{0};
constexpr int kWidths[] = {1, 2, 4, 8, 16};
constexpr uint64_t kBase = uint64_t{1} << 40;  // Of a buffer: aligned, and needs 64 bits.

struct Addresses {
  uint64_t of_lane[kWarpLanes] = {};
};

Addresses Pattern(const std::function<uint64_t(uint64_t lane)>& address) {
  Addresses addresses;
  for (int lane = 0; lane < kWarpLanes; ++lane) addresses.of_lane[lane] = address(lane);
  return addresses;
}

GlobalCost Global(const Addresses& addresses, uint32_t mask, int bytes) {
  return CoalesceGlobal(addresses.of_lane, mask, bytes);
}

SharedCost Shared(const Addresses& addresses, uint32_t mask, int bytes, bool store = false) {
  return CoalesceShared(addresses.of_lane, mask, bytes, store);
}

// The definitions, byte for byte and word for word.
void ExpectGlobalAsDefined(const Addresses& addresses, uint32_t mask, int bytes) {
  std::set<uint64_t> distinct, sectors, lines;
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    for (int i = 0; i < bytes; ++i) {
      const uint64_t byte = addresses.of_lane[lane] + i;
      distinct.insert(byte);
      sectors.insert(byte / 32);
      lines.insert(byte / 128);
    }
  }
  const GlobalCost cost = Global(addresses, mask, bytes);
  EXPECT_EQ(cost.distinct_bytes, distinct.size());
  EXPECT_EQ(cost.sectors, sectors.size());
  EXPECT_EQ(cost.lines, lines.size());
  EXPECT_EQ(cost.ideal_sectors, (distinct.size() + 31) / 32);
}

// Stores, which go in groups that depend on nothing but the width.
void ExpectSharedStoreAsDefined(const Addresses& addresses, uint32_t mask, int bytes) {
  const int group = bytes == 16 ? 8 : bytes == 8 ? 16 : 32;
  std::set<uint64_t> distinct;
  uint32_t wavefronts = 0;
  uint32_t groups = 0;
  for (int first = 0; first < kWarpLanes; first += group) {
    std::map<uint64_t, std::set<uint64_t>> words_of_bank;
    for (int lane = first; lane < first + group; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      for (int i = 0; i < bytes; ++i) {
        const uint64_t byte = addresses.of_lane[lane] + i;
        distinct.insert(byte);
        words_of_bank[byte / 4 % 32].insert(byte / 4);
      }
    }
    size_t most = 0;
    for (const auto& [bank, words] : words_of_bank) most = std::max(most, words.size());
    wavefronts += most;
    groups += most > 0;
  }
  const SharedCost cost = Shared(addresses, mask, bytes, /*store=*/true);
  EXPECT_EQ(cost.distinct_bytes, distinct.size());
  EXPECT_EQ(cost.wavefronts, wavefronts);
  EXPECT_EQ(cost.ideal_wavefronts, groups);
}

TEST(CoalesceGlobal, TextbookPatterns) {
  const auto column = [](uint64_t row_bytes, int lanes_in_x) {  // A transpose's strided side.
    return Pattern([=](uint64_t lane) {
      return kBase + lane % lanes_in_x * row_bytes + lane / lanes_in_x * 4;
    });
  };
  const struct {
    const char* name;
    Addresses addresses;
    uint32_t mask;
    int bytes;
    uint32_t distinct_bytes, sectors, lines, ideal_sectors;
  } cases[] = {
      {"consecutive floats", Pattern([](uint64_t i) { return kBase + 4 * i; }), kAll, 4,  //
       128, 4, 1, 4},
      {"the same, backwards", Pattern([](uint64_t i) { return kBase + 4 * (31 - i); }), kAll, 4,
       128, 4, 1, 4},
      {"one element off", Pattern([](uint64_t i) { return kBase + 4 + 4 * i; }), kAll, 4,  //
       128, 5, 2, 4},
      {"column, block 32x8", column(4096, 32), kAll, 4, 128, 32, 32, 4},
      {"column, block 16x16", column(4096, 16), kAll, 4, 128, 16, 16, 4},
      {"every other float", Pattern([](uint64_t i) { return kBase + 8 * i; }), kAll, 4,  //
       128, 8, 2, 4},
      {"float4", Pattern([](uint64_t i) { return kBase + 16 * i; }), kAll, 16, 512, 16, 4, 16},
      {"float2", Pattern([](uint64_t i) { return kBase + 8 * i; }), kAll, 8, 256, 8, 2, 8},
      {"chars", Pattern([](uint64_t i) { return kBase + i; }), kAll, 1, 32, 1, 1, 1},
      {"shorts", Pattern([](uint64_t i) { return kBase + 2 * i; }), kAll, 2, 64, 2, 1, 2},
      {"broadcast", Pattern([](uint64_t) { return kBase + 52; }), kAll, 4, 4, 1, 1, 1},
      {"one lane", Pattern([](uint64_t i) { return kBase + 4 * i; }), 1u << 17, 4, 4, 1, 1, 1},
      {"ragged edge", Pattern([](uint64_t i) { return kBase + 4 * i; }), 0x1ff, 4, 36, 2, 1, 2},
      {"no lane", Pattern([](uint64_t i) { return kBase + 4 * i; }), 0, 4, 0, 0, 0, 0},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const GlobalCost cost = Global(c.addresses, c.mask, c.bytes);
    EXPECT_EQ(cost.distinct_bytes, c.distinct_bytes);
    EXPECT_EQ(cost.sectors, c.sectors);
    EXPECT_EQ(cost.lines, c.lines);
    EXPECT_EQ(cost.ideal_sectors, c.ideal_sectors);
  }
}

TEST(CoalesceShared, TextbookPatterns) {
  const struct {
    const char* name;
    Addresses addresses;
    uint32_t mask;
    int bytes;
    bool store;
    uint32_t distinct_bytes, wavefronts, ideal_wavefronts;
  } cases[] = {
      {"row", Pattern([](uint64_t i) { return 4 * i; }), kAll, 4, true, 128, 1, 1},
      {"column of a 32x32 tile", Pattern([](uint64_t i) { return 128 * i; }), kAll, 4, false,  //
       128, 32, 1},
      {"column, padded to 33", Pattern([](uint64_t i) { return 132 * i; }), kAll, 4, false,  //
       128, 1, 1},
      {"broadcast", Pattern([](uint64_t) { return 64; }), kAll, 4, false, 4, 1, 1},
      {"two rows of one column", Pattern([](uint64_t i) { return i % 2 * 128; }), kAll, 4, false, 8,
       2, 1},
      {"chars of one word", Pattern([](uint64_t i) { return i % 4; }), kAll, 1, false, 4, 1, 1},
      {"half the column", Pattern([](uint64_t i) { return 128 * i; }), 0xffff, 4, false,  //
       64, 16, 1},
      {"no lane", Pattern([](uint64_t i) { return 128 * i; }), 0, 4, false, 0, 0, 0},
      {"float2", Pattern([](uint64_t i) { return 8 * i; }), kAll, 8, false, 256, 2, 2},
      {"float4", Pattern([](uint64_t i) { return 16 * i; }), kAll, 16, false, 512, 4, 4},
      {"float4, 9 lanes", Pattern([](uint64_t i) { return 16 * i; }), 0x1ff, 16, true, 144, 2, 2},
      {"float4, last quarter", Pattern([](uint64_t i) { return 16 * i; }), 0xff000000, 16, true,
       128, 1, 1},
      {"load of one float2", Pattern([](uint64_t) { return 8; }), kAll, 8, false, 8, 1, 1},
      {"store of one float2", Pattern([](uint64_t) { return 8; }), kAll, 8, true, 8, 2, 2},
      {"load of one float4", Pattern([](uint64_t) { return 16; }), kAll, 16, false, 16, 2, 2},
      {"store of one float4", Pattern([](uint64_t) { return 16; }), kAll, 16, true, 16, 4, 4},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const SharedCost cost = Shared(c.addresses, c.mask, c.bytes, c.store);
    EXPECT_EQ(cost.distinct_bytes, c.distinct_bytes);
    EXPECT_EQ(cost.wavefronts, c.wavefronts);
    EXPECT_EQ(cost.ideal_wavefronts, c.ideal_wavefronts);
  }
}

TEST(CoalesceShared, IsWhatTheHardwareMeasured) {
  const auto table = ReadCsv("common/executor/testdata/h200_shared_wavefronts.csv");
  ASSERT_TRUE(table.ok()) << table.status();
  ASSERT_EQ(table->header,
            std::vector<std::string>({"bytes", "store", "lanes", "addresses", "wavefronts"}));
  ASSERT_EQ(table->rows.size(), 1122);
  for (const std::vector<std::string>& row : table->rows) {
    const std::vector<std::string> texts = absl::StrSplit(row[3], ' ');
    ASSERT_EQ(texts.size(), kWarpLanes);
    const Addresses addresses = Pattern([&](uint64_t lane) { return std::stoull(texts[lane]); });
    const auto mask = static_cast<uint32_t>(std::stoul(row[2], nullptr, 0));
    const SharedCost cost = Shared(addresses, mask, std::stoi(row[0]), row[1] == "1");
    EXPECT_EQ(cost.wavefronts, std::stoul(row[4]))
        << row[0] << " bytes, store " << row[1] << ", lanes " << row[2] << ": " << row[3];
    EXPECT_LE(cost.ideal_wavefronts, cost.wavefronts);
  }
}

TEST(Coalescer, StridesCostWhatTheDefinitionsSay) {
  for (const int bytes : kWidths) {
    for (int stride = 0; stride <= 33; ++stride) {
      for (const int offset : {0, 1, 7}) {
        SCOPED_TRACE(testing::Message() << bytes << " bytes, stride " << stride << " + " << offset);
        const Addresses addresses =
            Pattern([&](uint64_t lane) { return (offset + stride * lane) * bytes; });
        ExpectGlobalAsDefined(addresses, kAll, bytes);
        ExpectSharedStoreAsDefined(addresses, kAll, bytes);
      }
    }
  }
}

TEST(Coalescer, RandomPatternsCostWhatTheDefinitionsSay) {
  std::mt19937 random(7);
  for (int repetition = 0; repetition < 300; ++repetition) {
    for (const int bytes : kWidths) {
      const uint32_t window = 1u << random() % 12;
      const bool all = random() % 4 == 0;
      const uint32_t mask = all ? kAll : random();
      const Addresses addresses = Pattern([&](uint64_t) { return random() % window * bytes; });
      SCOPED_TRACE(testing::Message() << repetition << ", " << bytes << " bytes");
      ExpectGlobalAsDefined(addresses, mask, bytes);
      ExpectSharedStoreAsDefined(addresses, mask, bytes);
    }
  }
}

TEST(Coalescer, LanesThatAreOffDoNotCount) {
  std::mt19937 random(11);
  for (const int bytes : kWidths) {
    for (const bool store : {false, true}) {
      const uint32_t mask = random();
      const Addresses some = Pattern([&](uint64_t) { return random() % 64 * bytes; });
      Addresses other = some;
      for (int lane = 0; lane < kWarpLanes; ++lane) {
        if ((mask >> lane & 1) == 0) other.of_lane[lane] = random();
      }
      EXPECT_EQ(Global(some, mask, bytes).sectors, Global(other, mask, bytes).sectors);
      EXPECT_EQ(Shared(some, mask, bytes, store).wavefronts,
                Shared(other, mask, bytes, store).wavefronts);
    }
  }
}

}  // namespace
}  // namespace stridewise::executor
