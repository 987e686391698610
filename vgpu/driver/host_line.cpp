#include "vgpu/driver/host_line.hpp"

#if defined(__linux__) && __has_include(<execinfo.h>)
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace rung::vgpu {
namespace {

constexpr int max_frames = 32;
constexpr std::array system_folders = {"/lib/", "/lib64/", "/usr/"};

/// Standard output of a command; empty if it cannot be run.
std::string output_of(const std::vector<std::string>& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  if (error == 0) {
    std::array<char, 4096> part;
    for (ssize_t n = 0; (n = read(ends[0], part.data(), part.size())) != 0;) {
      if (n > 0) text.append(part.data(), static_cast<std::size_t>(n));
      if (n < 0 && errno != EINTR) break;
    }
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  close(ends[0]);
  return text;
}

std::string take_line(std::string_view& text) {
  const std::size_t stop = std::min(text.find('\n'), text.size());
  std::string line(text.substr(0, stop));
  text.remove_prefix(std::min(stop + 1, text.size()));
  return line;
}

/// Parses "file:line (discriminator 2)". File and line stay empty if either is "?".
HostLine line_of(std::string function, std::string_view place) {
  place = place.substr(0, place.find(" ("));
  const std::size_t colon = std::min(place.rfind(':'), place.size());
  HostLine found{std::move(function), std::string(place.substr(0, colon)), 0};
  if (colon < place.size()) {
    std::from_chars(place.data() + colon + 1, place.data() + place.size(), found.line);
  }
  if (found.line == 0) found.file.clear();
  if (found.function.starts_with("?")) found.function.clear();
  return found;
}

/// The source lines at an offset in an object file: in inlined code those of its callers follow.
std::vector<HostLine> lines_in(const std::string& object, std::uint64_t offset) {
  const std::string output =
      output_of({"addr2line", "-e", object, "-f", "-i", fmt::format("{:#x}", offset)});
  std::vector<HostLine> lines;
  for (std::string_view rest = output; !rest.empty();) {
    std::string function = take_line(rest);
    lines.push_back(line_of(std::move(function), take_line(rest)));
  }
  return lines;
}

/// In inlined code, the innermost frame outside system headers.
HostLine line_in(const std::string& object, std::uint64_t offset) {
  HostLine innermost;
  for (const HostLine& found : lines_in(object, offset)) {
    if (!found.file.empty() && !is_of_system(found.file)) return found;
    if (innermost.file.empty()) innermost = found;
  }
  return innermost;
}

struct Object {
  std::string path;
  std::uint64_t loaded_at = 0;  // added to addresses in the file to get those in memory
};

Object object_of(const void* address) {
  Dl_info info{};
  link_map* map = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) return {};
  std::string path = map->l_name;
  std::error_code error;
  if (path.empty()) path = std::filesystem::read_symlink("/proc/self/exe", error).string();
  return {std::move(path), map->l_addr};
}

}  // namespace

bool is_of_system(const std::string& path) {
  return std::any_of(system_folders.begin(), system_folders.end(),
                     [&](const char* folder) { return path.starts_with(folder); });
}

void prepare_host_lines() {
  void* frame = nullptr;
  backtrace(&frame, 1);  // loads the unwinder
}

HostLine find_host_line(const void* instruction) {
  std::array<void*, max_frames> frames{};
  const int count = backtrace(frames.data(), max_frames);
  const auto end = frames.begin() + count;
  // Skip the signal handler's own frames.
  auto frame = std::find(frames.begin(), end, instruction);
  if (frame == end) {
    frames[0] = const_cast<void*>(instruction);
    frame = frames.begin();
  }
  const std::string own = object_of(reinterpret_cast<const void*>(&find_host_line)).path;
  for (bool is_first = true; frame < end; ++frame, is_first = false) {
    const Object object = object_of(*frame);
    if (object.path.empty() || object.path == own || is_of_system(object.path)) continue;
    // The outer frames hold return addresses: subtract 1 to get into the call.
    const auto address = reinterpret_cast<std::uint64_t>(*frame) - (is_first ? 0 : 1);
    const HostLine found = line_in(object.path, address - object.loaded_at);
    if (!found.file.empty() && !is_of_system(found.file)) return found;
  }
  return {};
}

std::vector<const void*> return_addresses() {
  std::array<void*, max_frames> frames{};
  const int count = backtrace(frames.data(), max_frames);
  return std::vector<const void*>(frames.begin(), frames.begin() + count);
}

std::string object_file_of(const void* address) { return object_of(address).path; }

HostCalls host_calls(std::span<const void* const> return_addresses, const std::string& headers) {
  const std::string own = object_of(reinterpret_cast<const void*>(&host_calls)).path;
  HostCalls calls;
  for (const void* const frame : return_addresses) {
    // A return address may be the first of the next function.
    const void* const inside = static_cast<const char*>(frame) - 1;
    const Object object = object_of(inside);
    if (object.path.empty()) continue;
    if (object.path == own) {
      Dl_info info{};
      const bool is_known = dladdr(inside, &info) != 0 && info.dli_sname != nullptr;
      calls.entry = is_known ? info.dli_sname : "";
      continue;
    }
    if (is_of_system(object.path)) continue;
    const auto offset = reinterpret_cast<std::uint64_t>(inside) - object.loaded_at;
    for (HostLine& line : lines_in(object.path, offset)) {
      if (!line.file.empty()) calls.lines.push_back(std::move(line));
    }
    calls.caller = frame;
    const auto is_of_program = [&](const HostLine& line) {
      return !line.file.starts_with(headers) && !is_of_system(line.file);
    };
    if (std::none_of(calls.lines.begin(), calls.lines.end(), is_of_program)) continue;
    std::erase_if(calls.lines, [&](const HostLine& line) {
      return is_of_system(line.file) && !line.file.starts_with(headers);
    });
    break;
  }
  return calls;
}

std::vector<HostLine> host_call_chain(std::span<const void* const> return_addresses,
                                      const std::string& headers) {
  const std::string own = object_of(reinterpret_cast<const void*>(&host_call_chain)).path;
  std::vector<HostLine> chain;
  for (const void* const frame : return_addresses) {
    const void* const inside = static_cast<const char*>(frame) - 1;
    const Object object = object_of(inside);
    if (object.path.empty() || object.path == own || is_of_system(object.path)) continue;
    const auto offset = reinterpret_cast<std::uint64_t>(inside) - object.loaded_at;
    for (HostLine& line : lines_in(object.path, offset)) {
      const bool is_of_program =
          !line.file.empty() && !line.file.starts_with(headers) && !is_of_system(line.file);
      if (is_of_program) chain.push_back(std::move(line));
    }
  }
  return chain;
}

}  // namespace rung::vgpu
#else
namespace rung::vgpu {

void prepare_host_lines() {}
HostLine find_host_line(const void*) { return {}; }
std::vector<const void*> return_addresses() { return {}; }
HostCalls host_calls(std::span<const void* const>, const std::string&) { return {}; }
std::vector<HostLine> host_call_chain(std::span<const void* const>, const std::string&) {
  return {};
}
std::string object_file_of(const void*) { return {}; }
bool is_of_system(const std::string&) { return false; }

}  // namespace rung::vgpu
#endif
