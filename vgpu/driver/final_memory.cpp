// The contents of device memory when it is freed, for comparisons of a program's results.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "vgpu/driver/call.hpp"

namespace rung::vgpu::driver {
namespace {

/// A digest of the bytes that were written. `initialised` has one byte for each, not 0 if it was.
std::uint64_t digest(const std::byte* data, const std::uint8_t* initialised, std::size_t bytes) {
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15u;
  std::uint64_t sum = bytes;
  const auto add = [&](std::uint64_t value) {
    sum = (std::rotl(sum, 23) ^ value) * odd;
    sum ^= sum >> 29;
  };
  for (std::size_t at = 0; at < bytes; at += 8) {
    std::uint64_t word = 0;
    for (std::size_t i = at; i < std::min(at + 8, bytes); ++i) {
      const bool counts = initialised == nullptr || initialised[i] != 0;
      word = word << 8 | (counts ? std::to_integer<std::uint64_t>(data[i]) : 0);
    }
    add(word);
  }
  return sum;
}

}  // namespace

void observe_final(const ContextState& context, std::uint64_t address) {
  if (!process().memory_observer) return;
  const Allocation* const allocation = std::as_const(context.memory).find(address);
  const auto range = context.ranges.find(address);
  if (allocation == nullptr || range == context.ranges.end()) return;
  if (range->second.origin != Origin::device && range->second.origin != Origin::managed) return;
  const bool written = allocation->host || allocation->all_initialised;
  process().memory_observer(
      {process().order.reports().memory_name(address, context.memory), allocation->bytes,
       digest(allocation->data(address), written ? nullptr : allocation->initialised,
              allocation->bytes)});
}

}  // namespace rung::vgpu::driver

namespace rung::vgpu {

void set_memory_observer(MemoryObserver observer) {
  driver::Process& process = driver::process();
  const std::lock_guard lock(process.mutex);
  process.memory_observer = std::move(observer);
}

void observe_live_memory() {
  driver::Process& process = driver::process();
  const std::lock_guard lock(process.mutex);
  for (const auto& [handle, context] : process.contexts) {
    for (const auto& [address, range] : context->ranges) driver::observe_final(*context, address);
  }
}

}  // namespace rung::vgpu
