#include "program.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace rung {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Output run_shell(const std::string& command) {
  const auto stem =
      std::filesystem::temp_directory_path() / ("rung_cli_" + std::to_string(getpid()));
  const std::string out = stem.string() + ".out";
  const std::string err = stem.string() + ".err";
  setenv("RUNG", RUNG_PROGRAM, 1);
  setenv("RUNG_WRONG", RUNG_WRONG_PROGRAM, 1);
  setenv("XDG_CACHE_HOME", RUNG_TEST_CACHE, 1);  // what one test measures serves the next
  const int status = std::system(("{ " + command + "; } </dev/null >" + out + " 2>" + err).c_str());
  Output output{WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(out), read_file(err)};
  std::filesystem::remove(out);
  std::filesystem::remove(err);
  return output;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) found.push_back(line);
  return found;
}

}  // namespace rung
