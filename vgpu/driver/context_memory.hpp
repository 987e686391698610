#pragma once
// All memory of a context that kernels or the host may write.

#include <cstddef>
#include <cstdint>

#include "vgpu/driver/state.hpp"

namespace rung::vgpu::driver {

/// Calls f(address, bytes) for memory that live() omits: variables of modules, registered memory.
template <class F>
void for_each_other(const ContextState& context, const F& f) {
  for (const auto& [handle, module] : context.modules) {
    for (const ptx::Variable& variable : module->module->text().variables) {
      if (const auto found = module->module->global(variable.name)) f(found->address, found->bytes);
    }
  }
  for (const auto& [address, range] : context.ranges) {
    if (range.origin != Origin::registered && range.origin != Origin::managed) continue;
    const Allocation* const allocation = context.memory.find(address);
    if (allocation != nullptr) f(address, allocation->bytes);
  }
}

inline std::size_t bytes_of(const ContextState& context) {
  std::size_t all = 0;
  for (const Allocation& allocation : context.memory.live()) all += allocation.bytes;
  for_each_other(context, [&](std::uint64_t, std::size_t bytes) { all += bytes; });
  return all;
}

}  // namespace rung::vgpu::driver
