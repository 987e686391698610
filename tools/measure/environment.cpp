#include "tools/measure/environment.hpp"

#include <sys/utsname.h>

#include <ctime>
#include <fstream>

#include "rung/version.hpp"

namespace rung {
namespace {

std::string find_os() {
  std::string distribution;
  std::ifstream release("/etc/os-release");
  for (std::string line; std::getline(release, line);) {
    constexpr std::string_view key = "PRETTY_NAME=\"";
    if (line.starts_with(key)) distribution = line.substr(key.size(), line.size() - key.size() - 1);
  }
  utsname kernel{};
  uname(&kernel);
  const std::string name = std::string(kernel.sysname) + " " + kernel.release;
  return distribution.empty() ? name : distribution + ", " + name;
}

std::string now() {
  const std::time_t time = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&time, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

}  // namespace

Environment environment() {
#if defined(__clang__)
  const std::string compiler = "Clang " __clang_version__;
#else
  const std::string compiler = "GCC " __VERSION__;
#endif
  return {cpu::model(), cpu::available_threads(), cpu::machine(), find_os(),
          compiler,     std::string(version),     RUNG_COMMIT,    now()};
}

}  // namespace rung
