#pragma once
// Operands of a traced launch.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "vgpu/launch.hpp"

namespace rung::analysis {

/// Zeros in the virtual GPU's memory, for the lifetime of this object.
class DeviceZeros {
 public:
  explicit DeviceZeros(vgpu::DeviceMemory& memory) : memory_(memory) {}
  DeviceZeros(const DeviceZeros&) = delete;
  DeviceZeros& operator=(const DeviceZeros&) = delete;
  ~DeviceZeros() {
    for (const std::uint64_t address : addresses_) memory_.free(address);
  }

  std::uint64_t allocate(std::int64_t bytes) {
    const std::vector<std::byte> zeros(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 16)));
    addresses_.push_back(memory_.allocate(zeros.size()));
    memory_.write(addresses_.back(), zeros.data(), zeros.size());
    return addresses_.back();
  }

 private:
  vgpu::DeviceMemory& memory_;
  std::vector<std::uint64_t> addresses_;
};

}  // namespace rung::analysis
