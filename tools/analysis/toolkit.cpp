#include "tools/analysis/toolkit.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "core/temporary_folder.hpp"

extern char** environ;

namespace rung::analysis {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) { return access(path.c_str(), X_OK) == 0; }

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw std::runtime_error(std::strerror(errno));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::string find_tool(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (is_program(fs::path(folder) / name)) return fs::path(folder) / name;
  }
  const fs::path usual = fs::path("/usr/local/cuda/bin") / name;
  return is_program(usual) ? usual.string() : "";
}

std::string ptxas_architecture(std::string_view ptx, int arch) {
  const std::string plain = fmt::format("sm_{}", arch);
  return ptx.find(fmt::format(".target {}a", plain)) == std::string_view::npos ? plain
                                                                               : plain + 'a';
}

ToolOutput run_tool(const std::vector<std::string>& command) {
  const TemporaryFolder folder;
  const fs::path out = folder.path() / "out";
  const fs::path err = folder.path() / "err";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT, 0600);
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error(fmt::format("{}: {}", command[0], std::strerror(error)));
  const int exit_code = wait_for(child);
  return {exit_code, contents(out), contents(err)};
}

}  // namespace rung::analysis
