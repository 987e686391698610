#include "program.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

namespace rung {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Removes settings of peers from the environment, which `rung bench` would report.
void forget_settings_of_peers() {
  std::vector<std::string> names;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view name = *variable;
    for (const char* prefix :
         {"OPENBLAS_", "GOTO_", "BLIS_", "DNNL_", "ONEDNN_", "MKL_", "OMP_", "GOMP_", "KMP_",
          "CUBLAS", "CUDA_LAUNCH_BLOCKING", "NVIDIA_TF32_OVERRIDE"}) {
      if (name.starts_with(prefix)) names.emplace_back(name.substr(0, name.find('=')));
    }
  }
  for (const std::string& name : names) unsetenv(name.c_str());
}

}  // namespace

Output run_shell(const std::string& command) {
  const auto stem =
      std::filesystem::temp_directory_path() / ("rung_cli_" + std::to_string(getpid()));
  const std::string out = stem.string() + ".out";
  const std::string err = stem.string() + ".err";
  forget_settings_of_peers();
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
