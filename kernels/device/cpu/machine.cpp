#include "device/cpu/machine.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <thread>
#include <type_traits>

namespace rung::cpu {
namespace {

/// The start of a file, as much as fits in the buffer; empty if it cannot be read. Does not
/// allocate memory, so that the block sizes do not depend on the available memory.
template <std::size_t size>
std::string_view read_start(const char* path, char (&buffer)[size]) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t length = read(file, buffer, size);
  close(file);
  return {buffer, static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
}

/// A sysfs file that describes cache `index` of the first processor.
class CacheFile {
 public:
  CacheFile(int index, const char* name) {
    char path[96];
    std::snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, name);
    text_ = read_start(path, buffer_);
  }

  CacheFile(const CacheFile&) = delete;
  CacheFile& operator=(const CacheFile&) = delete;

  std::string_view text() const { return text_; }
  /// Parses a size such as "48K" or "2M" in bytes; 0 if the text is not a number.
  std::int64_t number() const {
    std::int64_t value = 0;
    const char* const end = text_.data() + text_.size();
    const char* const unit = std::from_chars(text_.data(), end, value).ptr;
    if (unit != end && *unit == 'K') return value << 10;
    if (unit != end && *unit == 'M') return value << 20;
    return value;
  }

 private:
  char buffer_[32];
  std::string_view text_;
};

// Uses sysfs, because getconf does not report the caches of most Arm cores.
Caches find_caches() {
  Caches caches;
  for (int index = 0; index < 8; ++index) {
    if (CacheFile(index, "type").text().starts_with("Instruction")) continue;
    const std::int64_t level = CacheFile(index, "level").number();
    const std::int64_t size = CacheFile(index, "size").number();
    if (size <= 0) continue;
    if (level == 1) caches.l1 = size;
    if (level == 2) caches.l2 = size;
    if (level == 3) caches.l3 = size;
  }
  return caches;
}

}  // namespace

const Machine& machine() {
  static const Machine found{find_isa(), find_caches()};
  static_assert(std::is_trivially_destructible_v<Machine>);  // usable until the end of the process
  return found;
}

int available_threads() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::string model() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.starts_with("model name")) {
      return line.substr(std::min(line.size(), line.find(':') + 2));
    }
  }
  return "unknown CPU";
}

}  // namespace rung::cpu
