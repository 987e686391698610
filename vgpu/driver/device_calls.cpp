// cuInit, errors, and device queries.

#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "vgpu/driver/call.hpp"
#include "vgpu/driver/calls.hpp"

namespace rung::vgpu::driver {
namespace {

constexpr int cuda_version = 13000;  // CUDA 13.0: 1000 * major + 10 * minor
constexpr int warp_threads = 32;
constexpr const char* pci_bus_id = "0000:01:00.0";

/// Name and description of a driver error.
struct ResultText {
  const char* name;
  const char* text;
};
std::optional<ResultText> text_of(Result error) {
  switch (error) {
#define RUNG_CUDA_CASE(enumerator, value, name, text) \
  case Result::enumerator: return ResultText{name, text};
    RUNG_CUDA_RESULTS(RUNG_CUDA_CASE)
#undef RUNG_CUDA_CASE
  }
  return std::nullopt;
}

Result show_text(Result error, const char** text, const char* ResultText::* part) {
  return call_always([&] {
    require_pointer(text);
    const auto found = text_of(error);
    *text = found ? (*found).*part : nullptr;
    require(found.has_value(), Result::invalid_value, "not an error of the driver");
  });
}

void copy_text(char* to, int length, const std::string& text) {
  require_pointer(to);
  require(length > 0, Result::invalid_value, "no room for the text");
  const std::size_t count = std::min(text.size(), static_cast<std::size_t>(length) - 1);
  std::memcpy(to, text.data(), count);
  to[count] = '\0';
}

/// Limits common to all devices since compute capability 7 (CUDA C++ Programming Guide, "Compute
/// Capabilities").
std::optional<int> common_attribute(DeviceAttribute attribute) {
  using enum DeviceAttribute;
  switch (attribute) {
    case max_block_dim_x:
    case max_block_dim_y: return 1024;
    case max_block_dim_z: return 64;
    case max_grid_dim_x: return 0x7FFFFFFF;
    case max_grid_dim_y:
    case max_grid_dim_z: return 65535;
    case total_constant_memory: return 65536;
    case warp_size: return warp_threads;
    case max_pitch: return 0x7FFFFFFF;
    case texture_alignment:
    case surface_alignment: return 512;
    case texture_pitch_alignment: return 32;
    case async_engine_count: return 3;
    case pci_bus_id: return 1;
    case gpu_overlap:
    case can_map_host_memory:
    case concurrent_kernels:
    case ecc_enabled:
    case unified_addressing:
    case stream_priorities_supported:
    case global_l1_cache_supported:
    case local_l1_cache_supported:
    case managed_memory:
    case concurrent_managed_access:
    case compute_preemption_supported:
    case can_use_host_pointer_for_registered_mem:
    case cooperative_launch:
    case host_register_supported:
    case memory_pools_supported: return 1;
    case kernel_exec_timeout:
    case integrated:
    case compute_mode:
    case pci_device_id:
    case tcc_driver:
    case pci_domain_id:
    case multi_gpu_board:
    case multi_gpu_board_group_id:
    case host_native_atomic_supported:
    case pageable_memory_access:
    case pageable_memory_access_uses_host_page_tables:
    case direct_managed_mem_access_from_host:
    case max_persisting_l2_cache_size:
    case max_access_policy_window_size: return 0;
    case cluster_launch: return process().device.compute_major >= 9 ? 1 : 0;
    default: return std::nullopt;
  }
}

std::optional<std::int64_t> own_attribute(const DeviceDescription& device,
                                          DeviceAttribute attribute) {
  using enum DeviceAttribute;
  switch (attribute) {
    case max_threads_per_block: return device.max_threads_per_block;
    case max_shared_memory_per_block: return device.shared_per_block;
    case max_shared_memory_per_block_optin: return device.shared_per_block_optin;
    case max_shared_memory_per_multiprocessor: return device.shared_per_multiprocessor;
    case reserved_shared_memory_per_block: return device.shared_reserved_per_block;
    case max_registers_per_block: return device.registers_per_block;
    case max_registers_per_multiprocessor: return device.registers_per_multiprocessor;
    case max_threads_per_multiprocessor: return warp_threads * device.max_warps_per_multiprocessor;
    case max_blocks_per_multiprocessor: return device.max_blocks_per_multiprocessor;
    case multiprocessor_count: return device.multiprocessors;
    case clock_rate: return device.clock_khz;
    case memory_clock_rate: return device.memory_clock_khz;
    case global_memory_bus_width: return device.memory_bus_bits;
    case l2_cache_size: return device.l2_bytes;
    case compute_capability_major: return device.compute_major;
    case compute_capability_minor: return device.compute_minor;
    case single_to_double_precision_perf_ratio:
      // Chips with compute capability x.0 run f64 at half the f32 rate, the others at 1/32.
      return device.compute_minor == 0 ? 2 : 32;
    default: return std::nullopt;
  }
}

}  // namespace

Result cuInit(unsigned flags) {
  if (is_forked_child()) return refuse_in_child();
  return call_always([&] {
    require(flags == 0, Result::invalid_value, "cuInit: flags must be 0");
    process().initialised = true;
  });
}

Result cuDriverGetVersion(int* version) {
  return call_always([&] {
    require_pointer(version);
    *version = cuda_version;
  });
}

Result cuGetErrorName(Result error, const char** name) {
  return show_text(error, name, &ResultText::name);
}

Result cuGetErrorString(Result error, const char** text) {
  return show_text(error, text, &ResultText::text);
}

Result cuDeviceGet(Device* device, int ordinal) {
  return call_driver([&] {
    require_pointer(device);
    require_device(ordinal);
    *device = ordinal;
  });
}

Result cuDeviceGetCount(int* count) {
  return call_driver([&] {
    require_pointer(count);
    *count = 1;
  });
}

Result cuDeviceGetName(char* name, int length, Device device) {
  return call_driver([&] {
    require_device(device);
    copy_text(name, length, process().device.name + " (virtual)");
  });
}

Result cuDeviceGetUuid(Uuid* uuid, Device device) {
  return call_driver([&] {
    require_pointer(uuid);
    require_device(device);
    static_assert(sizeof uuid->bytes == 16);
    std::memcpy(uuid->bytes, "rung virtual GPU", sizeof uuid->bytes);
  });
}

Result cuDeviceTotalMem(std::size_t* bytes, Device device) {
  return call_driver([&] {
    require_pointer(bytes);
    require_device(device);
    *bytes = static_cast<std::size_t>(process().device.memory_bytes);
  });
}

Result cuDeviceGetAttribute(int* value, DeviceAttribute attribute, Device device) {
  return call_driver([&] {
    require_pointer(value);
    require_device(device);
    if (const auto own = own_attribute(process().device, attribute)) {
      *value = static_cast<int>(*own);
    } else if (const auto common = common_attribute(attribute)) {
      *value = *common;
    } else {
      fail(Result::invalid_value,
           fmt::format("the virtual GPU has no device attribute {}", static_cast<int>(attribute)));
    }
  });
}

Result cuDeviceGetPCIBusId(char* id, int length, Device device) {
  return call_driver([&] {
    require_device(device);
    require(length > static_cast<int>(std::strlen(pci_bus_id)), Result::invalid_value,
            "no room for the PCI id");
    copy_text(id, length, pci_bus_id);
  });
}

Result cuDeviceGetByPCIBusId(Device* device, const char* id) {
  return call_driver([&] {
    require_pointer(device);
    require_pointer(id);
    const std::string_view text(id);
    const bool known = text == pci_bus_id || text == std::string_view(pci_bus_id).substr(5);
    require(known, Result::invalid_value, "no device has that PCI id");
    *device = 0;
  });
}

}  // namespace rung::vgpu::driver
