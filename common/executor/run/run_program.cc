#include "common/executor/run/run_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

extern char** environ;

namespace stridewise::executor {

absl::StatusOr<int> RunProgram(const std::vector<std::string>& command, const std::string& output,
                               const std::string& errors) {
  std::vector<char*> argv;
  for (const std::string& argument : command) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const auto redirect = [&](int descriptor, const std::string& file) {
    if (file.empty()) return;
    posix_spawn_file_actions_addopen(&actions, descriptor, file.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0644);
  };
  redirect(STDOUT_FILENO, output);
  redirect(STDERR_FILENO, errors);
  pid_t process = 0;
  const int failed = posix_spawnp(&process, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    return absl::NotFoundError(
        absl::StrCat("cannot run ", command[0], "; install Debian's clang and binutils"));
  }
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace stridewise::executor
