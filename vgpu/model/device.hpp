#pragma once
// The description of a device for the virtual GPU and the analysis.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rung::vgpu {

/// Limits from the CUDA C++ Programming Guide, "Compute Capabilities"; clocks and bandwidth from
/// the vendor's data sheets.
struct DeviceDescription {
  std::string name;                  // "NVIDIA H200"
  std::string key;                   // "h200": argument of --gpu
  int compute_major, compute_minor;  // 9, 0
  int multiprocessors;
  int clock_khz;
  std::int64_t memory_bytes;
  int memory_clock_khz;
  int memory_bus_bits;
  double memory_bandwidth;  // bytes/s
  std::int64_t l2_bytes;
  int registers_per_multiprocessor;  // 32-bit
  int registers_per_block;
  int max_registers_per_thread;
  int register_allocation_unit;  // registers per warp
  int warp_allocation_granularity;
  int max_warps_per_multiprocessor;
  int max_blocks_per_multiprocessor;
  int max_threads_per_block;
  std::int64_t shared_per_multiprocessor;
  std::int64_t shared_per_block;  // without opting in
  std::int64_t shared_per_block_optin;
  std::int64_t shared_reserved_per_block;  // used by the system
  int shared_allocation_unit;
  int fp32_lanes_per_multiprocessor;  // FMAs per clock

  /// 90 for compute capability 9.0, as in sm_90.
  int arch() const { return 10 * compute_major + compute_minor; }
};

/// h200, h100, a100, t4, rtx3090, rtx4090, b200, rtx5090, m1, m1pro, m2max, m3, m4max.
const std::vector<DeviceDescription>& known_devices();

/// Parses a key of known_devices(), optionally with overrides:
/// "h200,multiprocessors=4,l2_bytes=1048576". "custom" is an alias of h200. A description with
/// overrides has the key "custom" and lists them in its name. Throws std::invalid_argument with the
/// error and the allowed values.
DeviceDescription parse_device(std::string_view text);

}  // namespace rung::vgpu
