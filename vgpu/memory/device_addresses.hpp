#pragma once
// Addresses of device memory. As with a GPU's memory, the host cannot access them: the data of an
// allocation are at another address, which only the virtual GPU knows.

#include <cstddef>
#include <cstdint>

namespace rung::vgpu {

/// Reserves a range of addresses during its lifetime: no other memory of this process uses it.
class DeviceAddresses {
 public:
  /// `bytes` is rounded up to pages. Throws std::bad_alloc if the address space is exhausted.
  explicit DeviceAddresses(std::size_t bytes);
  ~DeviceAddresses();
  DeviceAddresses(const DeviceAddresses&) = delete;
  DeviceAddresses& operator=(const DeviceAddresses&) = delete;

  std::uint64_t begin() const { return begin_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::uint64_t begin_;
  std::size_t bytes_, region_;
};

/// True for addresses of device memory, live or freed. Signal handlers may call it.
bool is_device_address(std::uint64_t address);

}  // namespace rung::vgpu
