#include "common/base/table.h"

#include <sstream>

#include "gtest/gtest.h"

namespace stridewise {
namespace {

TEST(TableTest, AlignsAndDoesNotCut) {
  std::ostringstream out;
  Table table({{"kernel", 8, false}, {"n", 4, true}, {"GFLOP/s", 3, true}, {"status", 8, false}},
              &out);
  table.PrintHeader();
  table.PrintRow({"naive", "1", "2.5", "ok"});
  table.PrintRow({"a_long_name", "12345", "", "skipped"});
  table.PrintRow({"tiled", "7"});
  table.PrintRow({});
  EXPECT_EQ(out.str(),
            "kernel       n  GFLOP/s  status\n"
            "--------  ----  -------  --------\n"
            "naive        1      2.5  ok\n"
            "a_long_name  12345           skipped\n"
            "tiled        7\n"
            "\n");
}

TEST(TableTest, PrintsNothingUnasked) {
  std::ostringstream out;
  Table table({{"a", 1, false}}, &out);
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace stridewise
