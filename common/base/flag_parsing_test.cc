#include "common/base/flag_parsing.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/reflection.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

ABSL_FLAG(std::string, test_sizes, "1:10:1", "Sizes.\nOn a second line.");
ABSL_FLAG(int, test_count, 5, std::string(60, 'x') + " " + std::string(60, 'y'));
ABSL_FLAG(double, test_noise, 0.01, "Noise.");
ABSL_FLAG(bool, test_list, false, "List.");
ABSL_FLAG(bool, nothing, false, "A boolean whose name begins with \"no\".");
ABSL_FLAG(std::string, test_default, std::string("-"), "A dash.");

namespace stridewise {
namespace {

using Strings = std::vector<std::string>;

absl::StatusOr<CommandLine> Parse(const Strings& arguments,
                                  Positional positional = Positional::kRefuse) {
  std::vector<const char*> argv = {"--program"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  return ParseFlags(static_cast<int>(argv.size()), argv.data(), positional);
}

struct Values {
  std::string sizes = "1:10:1";
  int count = 5;
  double noise = 0.01;
  bool list = false;
  bool nothing = false;
};

TEST(ParseFlagsTest, Spellings) {
  const struct {
    Strings arguments;
    Values want;
  } kCases[] = {
      {{}, {}},
      {{"--test_count=7"}, {"1:10:1", 7}},
      {{"-test_count=7"}, {"1:10:1", 7}},
      {{"--test_count", "7"}, {"1:10:1", 7}},
      {{"--test_count", "-7"}, {"1:10:1", -7}},
      {{"--test_count=7", "--test_count=8"}, {"1:10:1", 8}},
      {{"--test_sizes="}, {""}},
      {{"--test_sizes", ""}, {""}},
      {{"--test_sizes=a=b --test_count=1"}, {"a=b --test_count=1"}},
      {{"--test_sizes", "-"}, {"-"}},
      {{"--test_sizes=--x"}, {"--x"}},
      {{"--test_list"}, {"1:10:1", 5, 0.01, true}},
      {{"-test_list"}, {"1:10:1", 5, 0.01, true}},
      {{"--test_list=true"}, {"1:10:1", 5, 0.01, true}},
      {{"--test_list", "--notest_list"}, {}},
      {{"--test_list", "--test_list=false"}, {}},
      {{"--nothing"}, {"1:10:1", 5, 0.01, false, true}},
      {{"--nothing", "--nonothing"}, {}},
      {{"--test_noise", "0.5", "--test_list", "--"}, {"1:10:1", 5, 0.5, true}},
  };
  for (const auto& test : kCases) {
    absl::FlagSaver saver;
    const absl::StatusOr<CommandLine> line = Parse(test.arguments);
    const std::string name = testing::PrintToString(test.arguments);
    ASSERT_TRUE(line.ok()) << name << ": " << line.status();
    EXPECT_FALSE(line->help) << name;
    EXPECT_TRUE(line->positional.empty()) << name;
    EXPECT_EQ(absl::GetFlag(FLAGS_test_sizes), test.want.sizes) << name;
    EXPECT_EQ(absl::GetFlag(FLAGS_test_count), test.want.count) << name;
    EXPECT_EQ(absl::GetFlag(FLAGS_test_noise), test.want.noise) << name;
    EXPECT_EQ(absl::GetFlag(FLAGS_test_list), test.want.list) << name;
    EXPECT_EQ(absl::GetFlag(FLAGS_nothing), test.want.nothing) << name;
  }
}

TEST(ParseFlagsTest, ErrorsAreOneLineThatNamesTheFlag) {
  const struct {
    Strings arguments;
    std::string named;
  } kCases[] = {
      {{"--test_cuont=7"}, "did you mean --test_count?"},
      {{"--testcount", "7"}, "did you mean --test_count?"},
      {{"--notest_lst"}, "--notest_lst"},
      {{"--wholly_different"}, "--wholly_different"},
      {{"--notest_count"}, "--notest_count"},
      {{"---test_count=7"}, "-test_count"},
      {{"--=7"}, "unknown"},
      {{"-7"}, "--7"},
      {{"--a\nb"}, "--a\\nb"},
      {{"--test_count"}, "--test_count needs a value"},
      {{"--test_sizes", "--test_list"}, "--test_sizes needs a value"},
      {{"--test_sizes", "--"}, "--test_sizes needs a value"},
      {{"--test_count="}, "--test_count"},
      {{"--test_count=x"}, "--test_count"},
      {{"--test_count=x"}, "'x' is not allowed; allowed is a whole number"},
      {{"--test_count=9999999999"}, "9999999999"},
      {{"--test_count", "1\n2"}, "1\\n2"},
      {{"--test_noise=loud"}, "--test_noise"},
      {{"--test_list=maybe"}, "--test_list"},
      {{"--notest_list=true"}, "--notest_list"},
      {{"file.csv"}, "file.csv"},
      {{"-"}, "\"-\""},
      {{"--test_list", "true"}, "\"true\""},
      {{"--", "--test_list"}, "--test_list"},
      {{""}, "\"\""},
      {{"--test_list", "--bad", "--help"}, "--bad"},
  };
  for (const auto& test : kCases) {
    absl::FlagSaver saver;
    const absl::Status status = Parse(test.arguments).status();
    const std::string name = testing::PrintToString(test.arguments);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_TRUE(absl::StrContains(status.message(), test.named)) << name << ": " << status;
    EXPECT_FALSE(absl::StrContains(status.message(), "\n")) << name << ": " << status;
  }
}

TEST(ParseFlagsTest, NoGuessWhereNothingIsNear) {
  EXPECT_FALSE(absl::StrContains(Parse({"--wholly_different"}).status().message(), "mean"));
}

TEST(ParseFlagsTest, PositionalArgumentsWhereAskedFor) {
  absl::FlagSaver saver;
  const absl::StatusOr<CommandLine> line =
      Parse({"a.csv", "--test_count", "3", "-", "--test_list", "b.csv", "--", "--c", "--"},
            Positional::kReturn);
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->positional, Strings({"a.csv", "-", "b.csv", "--c", "--"}));
  EXPECT_EQ(absl::GetFlag(FLAGS_test_count), 3);
}

TEST(ParseFlagsTest, HelpIsReportedAndNotAValue) {
  absl::FlagSaver saver;
  for (const char* help : {"--help", "-help", "-h"}) {
    const absl::StatusOr<CommandLine> line = Parse({"--test_count=3", help, "--bad"});
    ASSERT_TRUE(line.ok()) << line.status();
    EXPECT_TRUE(line->help);
  }
  EXPECT_FALSE(Parse({"--test_sizes=--help"})->help);
}

TEST(ParseFlagsTest, FlagsThatTheProgramDoesNotUseAreUnknown) {
  absl::FlagSaver saver;
  const Strings without = {"test_count", "test_list"};
  const auto parse = [&](const char* argument) {
    const char* const argv[] = {"--program", argument};
    return ParseFlags(2, argv, Positional::kRefuse, without).status();
  };
  EXPECT_TRUE(parse("--test_noise=0.5").ok());
  for (const char* argument : {"--test_count=7", "--test_list", "--notest_list", "--test_coun=7"}) {
    const absl::Status status = parse(argument);
    EXPECT_TRUE(absl::StrContains(status.message(), "unknown flag")) << argument << status;
    EXPECT_FALSE(absl::StrContains(status.message(), "--test_count?")) << argument << status;
  }
  EXPECT_EQ(absl::GetFlag(FLAGS_test_count), 5);
  const std::string text = HelpText("Usage: thing", "common/", without);
  EXPECT_TRUE(absl::StrContains(text, "--test_noise"));
  EXPECT_FALSE(absl::StrContains(text, "test_count"));
}

TEST(HelpTextTest, ListsTheFlagsOfTheFolderAndNoOthers) {
  absl::FlagSaver saver;
  absl::SetFlag(&FLAGS_test_count, 77);
  const std::string text = HelpText("Does a thing.\nUsage: thing", "common/");
  EXPECT_TRUE(absl::StartsWith(text, "Does a thing.\nUsage: thing\n"));
  for (const char* part :
       {"--test_sizes (default: \"1:10:1\")", "Sizes.\n", "On a second line.\n",
        "--test_count (default: 5)", "--[no]test_list (default: false)", "--test_default"}) {
    EXPECT_TRUE(absl::StrContains(text, part)) << part << "\n" << text;
  }
  EXPECT_LT(text.find("--test_count"), text.find("--test_default"));
  EXPECT_EQ(text.back(), '\n');
  for (absl::string_view line : absl::StrSplit(text, '\n')) EXPECT_LE(line.size(), 100u) << line;

  EXPECT_FALSE(absl::StrContains(HelpText("Usage: thing"), "test_count"));
  EXPECT_TRUE(absl::StartsWith(HelpText("Usage: thing"), "Usage: thing\n"));
}

TEST(ResolvePathTest, RelativePathsStartWhereTheUserIs) {
  const struct {
    const char* folder;  // Null: not under `bazel run`.
    const char* path;
    const char* want;
  } kCases[] = {
      {nullptr, "a.csv", "a.csv"},
      {"", "a.csv", "a.csv"},
      {"/home/me", "a.csv", "/home/me/a.csv"},
      {"/home/me", "../a.csv", "/home/me/../a.csv"},
      {"/home/me", "/tmp/a.csv", "/tmp/a.csv"},
      {"/home/me", "-", "-"},
      {"/home/me", "", ""},
  };
  for (const auto& test : kCases) {
    if (test.folder == nullptr) {
      unsetenv("BUILD_WORKING_DIRECTORY");
    } else {
      setenv("BUILD_WORKING_DIRECTORY", test.folder, 1);
    }
    EXPECT_EQ(ResolvePath(test.path), test.want);
  }
  unsetenv("BUILD_WORKING_DIRECTORY");
}

}  // namespace
}  // namespace stridewise
