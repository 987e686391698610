#include "devices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "choices.hpp"
#include "command.hpp"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace rung {
namespace {

/// Each launch on the virtual GPU reuses the memory freed by the last one. Returning it to the
/// system and fetching it again would cost two threads a tenth of their speed.
void keep_freed_memory() {
#if defined(__GLIBC__)
  constexpr int most = 1 << 25;  // the value with which glibc starts
  mallopt(M_MMAP_THRESHOLD, most);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_ARENA_MAX, 1);
#endif
}

}  // namespace

Devices::Devices(const DeviceArguments& arguments)
    : named_(arguments.device), options_(read_device_options(arguments)) {
  if (named_.empty()) return;
  if (std::find(device_names.begin(), device_names.end(), named_) == device_names.end()) {
    throw UsageError(not_one_of("--device", named_, device_names));
  }
  // A GPU of either kind suffices.
  const auto cuda = open(named_, "cuda").absent();
  const auto metal = open(named_, "metal").absent();
  if (cuda && metal) {
    throw UnavailableError(
        fmt::format("--device: '{}' is not available: {}; {}", named_, *cuda, *metal));
  }
}

const Backend& Devices::of(const RungInfo& rung) const {
  if (!named_.empty()) return open(named_, rung.backend);
  if (is_for(rung, "cpu")) return open("cpu", rung.backend);
  const Backend& gpu = open("gpu", rung.backend);
  return gpu.absent() ? open("virtual", rung.backend) : gpu;
}

const Backend& Devices::open(std::string_view name, std::string_view language) const {
  const auto known = std::find(device_names.begin(), device_names.end(), name);
  const bool metal = language == "metal" && name != "cpu";
  std::unique_ptr<Backend>& backend = opened_[{*known, metal}];
  if (backend == nullptr) {
    if (name == "virtual") keep_freed_memory();
    backend = make_backend(name, options_, language);
  }
  return *backend;
}

}  // namespace rung
