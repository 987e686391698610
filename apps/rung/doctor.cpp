// rung doctor: shows what is installed, and what is missing.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "command_line.hpp"
#include "core/rung.hpp"
#include "tools/measure/environment.hpp"
#include "tools/measure/peers/peer.hpp"
#include "tools/report/table.hpp"

namespace rung {
namespace {

void print_line(std::string_view key, const std::string& value) {
  fmt::print("  {:<12} {}\n", key, value);
}

std::string format_bytes(std::int64_t bytes) {
  const bool is_mib = bytes >= 1 << 20;
  return fmt::format("{:.4g} {}", static_cast<double>(bytes) / (is_mib ? 1 << 20 : 1 << 10),
                     is_mib ? "MiB" : "KiB");
}

void print_machine() {
  const Environment here = environment();
  const auto& [isa, caches] = here.machine;
  fmt::print("machine\n");
  print_line("cpu", here.cpu);
  print_line("isa", std::string(name(isa)));
  print_line("processors", std::to_string(here.threads));
  print_line("caches", fmt::format("L1 {}, L2 {}, L3 {}", format_bytes(caches.l1),
                                   format_bytes(caches.l2), format_bytes(caches.l3)));
  print_line("os", here.os);
  print_line("rung", fmt::format("{} (commit {}, {})", here.version, here.commit, here.compiler));
}

// The form of code that the device loads, from the first rung of that language.
std::string code_on(const Backend& backend, std::string_view language) {
  for (const RungInfo& rung : catalog()) {
    if (rung.backend == language) return backend.code(rung);
  }
  return "";
}

void print_device(std::string_view key, std::string_view name, std::string_view language) {
  const Backend& backend = *find_backend(name, language);
  const std::string_view rungs = language == "metal" ? ", for the rungs of Metal" : "";
  if (const auto reason = backend.absent()) {
    print_line(key, *reason);
    return;
  }
  print_line(key, fmt::format("{}{}", backend.device().substr(name.size() + 1), rungs));
  const std::string code = code_on(backend, language);
  if (!code.empty()) print_line("", "takes " + code);
}

void print_devices() {
  fmt::print("devices\n");
  for (const std::string_view name : device_names) {
    const char* const language = name == "cpu" ? "cpu" : "cuda";
    print_device(name, name, language);
    if (name == "cpu") continue;
    const auto reason = find_backend(name, "metal")->absent();
    const bool is_known = reason && reason == find_backend(name, language)->absent();
    if (!is_known) print_device("", name, "metal");
  }
}

std::string find_program(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::string rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t stop = std::min(rest.find(':'), rest.size());
    const auto candidate = std::filesystem::path(rest.substr(0, stop)) / program;
    if (access(candidate.c_str(), X_OK) == 0) return candidate.string();
    rest.erase(0, stop + 1);
  }
  return "";
}

void print_compilers() {
  struct Compiler {
    const char* program;
    const char* package;
  };
  fmt::print("compilers\n");
  for (const auto& [program, package] : {Compiler{"g++", "g++"}, Compiler{"clang++-19", "clang-19"},
                                         Compiler{"nvcc", "nvidia-cuda-toolkit"}}) {
    const std::string found = find_program(program);
    print_line(program,
               found.empty() ? fmt::format("missing; it comes with package {}", package) : found);
  }
}

// Call this before a peer is opened: it clears variables that would affect the peer.
void print_variables() {
  fmt::print("environment\n");
  const std::vector<std::string> cleared = prepare_environment();
  for (const std::string& setting : cleared) {
    fmt::print("  {}: would distort a measurement; rung clears it in its own process\n", setting);
  }
  if (cleared.empty()) fmt::print("  nothing set that would distort a measurement\n");
}

void print_peers() {
  fmt::print("peers\n");
  for (const PeerKind& kind : peer_kinds()) {
    std::string why_not;
    const auto peer = open_peer(kind, *find_backend(kind.device), why_not);
    if (peer == nullptr) {
      print_line(kind.name, why_not);
      continue;
    }
    print_line(kind.name, fmt::format("{}, kernels: {}", peer->version(), peer->kernels()));
    print_line("", peer->path());
    if (!peer->note().empty()) print_line("", peer->note());
  }
}

}  // namespace

Action add_doctor(Options& app) {
  app.footer("Peers are the libraries that rung bench compares with; Rung does not need them.");
  return [] {
    print_machine();
    print_devices();
    print_compilers();
    print_variables();
    print_peers();
    return exit_right;
  };
}

}  // namespace rung
