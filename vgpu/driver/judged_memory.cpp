#include "vgpu/driver/judged_memory.hpp"

#include <cstring>
#include <iterator>
#include <utility>

#include "vgpu/driver/call.hpp"
#include "vgpu/memory/written_bytes.hpp"

namespace rung::vgpu {

using namespace driver;

namespace {

void forget_values(Allocation& allocation) {
  std::memset(allocation.data(allocation.address), 0xFF, allocation.bytes);
  std::memset(allocation.initialised, 0, allocation.bytes);
  allocation.all_initialised = false;
  forget_lines(allocation, allocation.address, allocation.bytes);
}

}  // namespace

bool set_memory_rule(std::uint64_t address, MemoryRule rule) {
  bool is_found = false;
  call_context([&](ContextState& context) {
    process().pending.run_all();
    Allocation* const allocation = context.memory.find(address);
    is_found = allocation != nullptr && !allocation->host;
    if (!is_found) return;
    allocation->read_only = rule == MemoryRule::read_only;
    if (rule == MemoryRule::without_value) forget_values(*allocation);
  });
  return is_found;
}

std::uint64_t take_host_visible_bytes() {
  std::uint64_t bytes = 0;
  call_context([&](ContextState& context) {
    bytes = std::exchange(context.host_visible_bytes, 0);
    for (const auto& [address, range] : context.ranges) {
      const Allocation* const found = std::as_const(context.memory).find(address);
      if (range.origin != Origin::device && found != nullptr) bytes += found->bytes;
    }
  });
  return bytes;
}

std::uint64_t live_objects() {
  std::uint64_t count = 0;
  call_context([&](ContextState& context) {
    const auto add = [&](const auto& handles) {
      count += static_cast<std::uint64_t>(std::distance(handles.begin(), handles.end()));
    };
    add(context.streams), add(context.events), add(context.graphs);
  });
  return count;
}

}  // namespace rung::vgpu
