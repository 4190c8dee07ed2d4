#include "common/executor/symbolizer.h"

#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace stridewise::executor {
namespace {

// --- Addresses ---------------------------------------------------------------------------------

// The address range of the program's own machine code, without shared libraries: they have no
// kernels.
struct Program {
  uintptr_t load_bias = 0;  // From an address in the file to the one in memory.
  std::vector<std::pair<uintptr_t, uintptr_t>> code;

  bool Contains(uintptr_t address) const {
    for (const auto& [begin, end] : code) {
      if (begin <= address && address < end) return true;
    }
    return false;
  }
};

Program ThisProgram() {
  const auto read_first = [](dl_phdr_info* info, size_t, void* result) {
    auto* program = static_cast<Program*>(result);
    program->load_bias = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = info->dlpi_phdr[i];
      if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
      const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
      program->code.emplace_back(begin, begin + segment.p_memsz);
    }
    return 1;  // The program itself comes first; no more is needed.
  };
  Program program;
  dl_iterate_phdr(read_first, &program);
  return program;
}

// --- Running addr2line -------------------------------------------------------------------------

// Input and output are files in memory instead of pipes, so that no process waits for another.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("addr2line", MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int descriptor() const { return descriptor_; }

  // Writes from the start and seeks back there. Returns false where that fails.
  bool Fill(absl::string_view text) {
    while (!text.empty()) {
      const ssize_t bytes = write(descriptor_, text.data(), text.size());
      if (bytes < 0 && errno != EINTR) return false;
      if (bytes > 0) text.remove_prefix(static_cast<size_t>(bytes));
    }
    return lseek(descriptor_, 0, SEEK_SET) == 0;
  }

  std::string Contents() const {
    std::string text;
    char buffer[65536];
    for (;;) {
      const ssize_t bytes =
          pread(descriptor_, buffer, sizeof(buffer), static_cast<off_t>(text.size()));
      if (bytes > 0) text.append(buffer, static_cast<size_t>(bytes));
      if (bytes == 0 || (bytes < 0 && errno != EINTR)) return text;
    }
  }

 private:
  int descriptor_;
};

// Returns the output of addr2line for the addresses in `input`, one per line; nothing where it
// cannot be run.
std::string RunAddr2line(absl::string_view input) {
  MemoryFile in, out;
  if (in.descriptor() < 0 || out.descriptor() < 0 || !in.Fill(input)) return "";

  // Not /proc/self, which is addr2line once it runs.
  const std::string program = absl::StrCat("/proc/", getpid(), "/exe");
  const char* const arguments[] = {"addr2line", "-e", program.c_str(), "-a", "-f",
                                   "-i",        "-C", nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.descriptor(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t process = 0;
  const int error = posix_spawnp(&process, arguments[0], &actions, nullptr,
                                 const_cast<char* const*>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return "";
  while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
  return out.Contents();
}

// --- Reading what it prints --------------------------------------------------------------------

// The functions that contain an address: the innermost inlined one first, the one that the linker
// knows last.
using Frames = std::vector<SourceLine>;

absl::string_view RelativeToWorkspace(absl::string_view file) {
  // Bazel's compilers see the workspace as /proc/self/cwd.
  while (absl::ConsumePrefix(&file, "/proc/self/cwd/") || absl::ConsumePrefix(&file, "./")) {
  }
  return file;
}

// `place` is "file:line", "file:line (discriminator 3)", "file:?" or "??:0".
SourceLine ParseFrame(absl::string_view function, absl::string_view place) {
  SourceLine result;
  if (function != "??") {
    result.function = ShortFunctionName(function);
    result.full_name = std::string(function);
  }
  const size_t colon = place.rfind(':');
  if (colon == absl::string_view::npos) return result;
  const absl::string_view number = place.substr(colon + 1, place.find(' ', colon) - colon - 1);
  int line = 0;
  if (absl::SimpleAtoi(number, &line) && line > 0) {
    result.file = std::string(RelativeToWorkspace(place.substr(0, colon)));
    result.line = line;
  }
  return result;
}

// Parses addr2line's output to an element for each address: a line "0x..." and then two lines,
// function and position, for each frame.
std::vector<Frames> ParseAddr2line(absl::string_view output) {
  std::vector<Frames> result;
  const std::vector<absl::string_view> lines = absl::StrSplit(output, '\n', absl::SkipEmpty());
  for (size_t i = 0; i < lines.size(); ++i) {
    if (absl::StartsWith(lines[i], "0x")) {
      result.emplace_back();
    } else if (!result.empty() && i + 1 < lines.size()) {
      result.back().push_back(ParseFrame(lines[i], lines[i + 1]));
      ++i;
    }
  }
  return result;
}

// Looks up address - back for each address. An unknown address has no frames.
std::vector<Frames> FramesOf(absl::Span<const uintptr_t> addresses, uintptr_t back) {
  const Program program = ThisProgram();
  std::vector<size_t> asked;
  std::string input;
  for (size_t i = 0; i < addresses.size(); ++i) {
    const uintptr_t address = addresses[i] - back;
    if (!program.Contains(address)) continue;
    asked.push_back(i);
    absl::StrAppend(&input, absl::Hex(address - program.load_bias), "\n");
  }
  std::vector<Frames> result(addresses.size());
  if (asked.empty()) return result;
  std::vector<Frames> answers = ParseAddr2line(RunAddr2line(input));
  for (size_t i = 0; i < answers.size() && i < asked.size(); ++i) {
    result[asked[i]] = std::move(answers[i]);
  }
  return result;
}

SourceLine InnermostOfTheKernel(const Frames& frames) {
  SourceLine result;
  for (const SourceLine& frame : frames) {
    // Instructions that the compiler merged from several lines have line 0; the line at which their
    // function was inlined is still known.
    if (frame.line == 0 || absl::StrContains(frame.file, "common/executor/shim/") ||
        absl::StrContains(frame.file, "common/executor/run/include/")) {
      continue;
    }
    result = frame;
    break;
  }
  // addr2line does not know the names of inlined functions for sure.
  if (!frames.empty()) {
    result.function = frames.back().function;
    result.full_name = frames.back().full_name;
  }
  return result;
}

}  // namespace

std::string SourceLine::ToString() const {
  if (line == 0) return "unknown line";
  return absl::StrCat(absl::string_view(file).substr(file.rfind('/') + 1), ":", line);
}

std::vector<SourceLine> SymbolizeCalls(absl::Span<const uintptr_t> return_addresses) {
  std::vector<SourceLine> result;
  for (const Frames& frames : FramesOf(return_addresses, 1)) {
    result.push_back(InnermostOfTheKernel(frames));
  }
  return result;
}

std::vector<SourceLine> SymbolizeFunctions(absl::Span<const uintptr_t> entries) {
  std::vector<SourceLine> result;
  for (const Frames& frames : FramesOf(entries, 0)) {
    // A function may begin with one that was inlined into it.
    result.push_back(frames.empty() ? SourceLine() : frames.back());
  }
  return result;
}

}  // namespace stridewise::executor
