#include "vgpu/observers/stored_values.hpp"

#include "vgpu/model/kernel.hpp"

namespace rung::vgpu {
namespace {

/// Loads a byte that blocks on other CPU threads may write concurrently.
std::byte load(const std::byte* at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }

}  // namespace

bool stores_present_value(const Kernel& kernel, const StoredGranule& granule,
                          const std::byte* present) {
  const auto found = kernel.stored.find(granule.site);
  if (found == kernel.stored.end()) return false;
  const StoredRegisters& registers = found->second;
  const std::byte* const lane =
      granule.warp.frame + static_cast<std::size_t>(granule.lane) * registers.row_bytes;
  for (std::uint32_t i = 0; i < granule.bytes; ++i) {
    const std::uint32_t at = granule.offset + i;
    const std::uint32_t row = registers.rows[at / registers.element_bytes];
    if (lane[row + at % registers.element_bytes] != load(present + i)) return false;
  }
  return true;
}

}  // namespace rung::vgpu
