#include "emu/runtime/tool_process.hpp"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace rung::emu {

namespace fs = std::filesystem;

fs::path find_tool(const std::string& name, const char* variable) {
  if (const char* chosen = std::getenv(variable); chosen != nullptr && *chosen != '\0') {
    return chosen;
  }
  Dl_info library{};
  if (dladdr(reinterpret_cast<const void*>(&find_tool), &library) == 0) return {};
  const fs::path folder = fs::canonical(library.dli_fname).parent_path();
  for (const fs::path& candidate :
       {folder.parent_path() / name,
        folder.parent_path().parent_path().parent_path() / "bin" / name}) {
    if (fs::exists(candidate)) return candidate;
  }
  return {};
}

bool run_tool(const std::vector<std::string>& command, const fs::path& log) {
  const pid_t child = fork();
  if (child == 0) {
    if (std::freopen(log.c_str(), "w", stderr) == nullptr) _exit(127);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execv(words[0], words.data());
    _exit(127);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace rung::emu
