#include "vgpu/model/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <variant>

namespace rung::vgpu {
namespace {

constexpr std::int64_t KiB = 1024;
constexpr std::int64_t MiB = 1024 * KiB;
constexpr std::int64_t GiB = 1024 * MiB;

DeviceDescription h200() {
  return {
      .name = "NVIDIA H200",
      .key = "h200",
      .compute_major = 9,
      .compute_minor = 0,
      .multiprocessors = 132,
      .clock_khz = 1980000,
      .memory_bytes = 150109880320,
      .memory_clock_khz = 3201000,
      .memory_bus_bits = 6016,
      .memory_bandwidth = 4.8e12,
      .l2_bytes = 60 * MiB,
      .registers_per_multiprocessor = 65536,
      .registers_per_block = 65536,
      .max_registers_per_thread = 255,
      .register_allocation_unit = 256,
      .warp_allocation_granularity = 4,
      .max_warps_per_multiprocessor = 64,
      .max_blocks_per_multiprocessor = 32,
      .max_threads_per_block = 1024,
      .shared_per_multiprocessor = 228 * KiB,
      .shared_per_block = 48 * KiB,
      .shared_per_block_optin = 227 * KiB,
      .shared_reserved_per_block = 1 * KiB,
      .shared_allocation_unit = 128,
      .fp32_lanes_per_multiprocessor = 128,
  };
}

DeviceDescription h100() {
  DeviceDescription device = h200();
  device.name = "NVIDIA H100 80GB HBM3";
  device.key = "h100";
  device.memory_bytes = 85017493504;
  device.memory_clock_khz = 2619000;
  device.memory_bus_bits = 5120;
  device.memory_bandwidth = 3.352e12;
  device.l2_bytes = 50 * MiB;
  return device;
}

DeviceDescription a100() {
  DeviceDescription device = h200();
  device.name = "NVIDIA A100-SXM4-80GB";
  device.key = "a100";
  device.compute_major = 8;
  device.multiprocessors = 108;
  device.clock_khz = 1410000;
  device.memory_bytes = 80 * GiB;
  device.memory_clock_khz = 1593000;
  device.memory_bus_bits = 5120;
  device.memory_bandwidth = 2.039e12;
  device.l2_bytes = 40 * MiB;
  device.shared_per_multiprocessor = 164 * KiB;
  device.shared_per_block_optin = 163 * KiB;
  device.fp32_lanes_per_multiprocessor = 64;
  return device;
}

DeviceDescription t4() {
  DeviceDescription device = h200();
  device.name = "Tesla T4";
  device.key = "t4";
  device.compute_major = 7;
  device.compute_minor = 5;
  device.multiprocessors = 40;
  device.clock_khz = 1590000;
  device.memory_bytes = 15843721216;
  device.memory_clock_khz = 5001000;
  device.memory_bus_bits = 256;
  device.memory_bandwidth = 3.2e11;
  device.l2_bytes = 4 * MiB;
  device.max_warps_per_multiprocessor = 32;
  device.max_blocks_per_multiprocessor = 16;
  device.shared_per_multiprocessor = 64 * KiB;
  device.shared_per_block_optin = 64 * KiB;
  device.shared_reserved_per_block = 0;
  device.shared_allocation_unit = 256;
  device.fp32_lanes_per_multiprocessor = 64;
  return device;
}

DeviceDescription rtx3090() {
  DeviceDescription device = a100();
  device.name = "NVIDIA GeForce RTX 3090";
  device.key = "rtx3090";
  device.compute_minor = 6;
  device.multiprocessors = 82;
  device.clock_khz = 1695000;
  device.memory_bytes = 24 * GiB;
  device.memory_clock_khz = 9751000;
  device.memory_bus_bits = 384;
  device.memory_bandwidth = 9.36e11;
  device.l2_bytes = 6 * MiB;
  device.max_warps_per_multiprocessor = 48;
  device.max_blocks_per_multiprocessor = 16;
  device.shared_per_multiprocessor = 100 * KiB;
  device.shared_per_block_optin = 99 * KiB;
  device.fp32_lanes_per_multiprocessor = 128;
  return device;
}

DeviceDescription rtx4090() {
  DeviceDescription device = rtx3090();
  device.name = "NVIDIA GeForce RTX 4090";
  device.key = "rtx4090";
  device.compute_minor = 9;
  device.multiprocessors = 128;
  device.clock_khz = 2520000;
  device.memory_clock_khz = 10501000;
  device.memory_bandwidth = 1.008e12;
  device.l2_bytes = 72 * MiB;
  device.max_blocks_per_multiprocessor = 24;
  return device;
}

// The figures of Blackwell are NVIDIA's: data sheets, the CUDA C++ Programming Guide ("Compute Capabilities") and
// the RTX Blackwell architecture's paper. None was measured: no such GPU was at hand.

DeviceDescription b200() {
  DeviceDescription device = h200();
  device.name = "NVIDIA B200";
  device.key = "b200";
  device.compute_major = 10;
  device.multiprocessors = 148;
  device.clock_khz = 1965000;
  device.memory_bytes = 180 * GiB;
  device.memory_clock_khz = 3996000;
  device.memory_bus_bits = 8192;
  device.memory_bandwidth = 8e12;
  device.l2_bytes = 126 * MiB;
  return device;
}

DeviceDescription rtx5090() {
  DeviceDescription device = rtx4090();
  device.name = "NVIDIA GeForce RTX 5090";
  device.key = "rtx5090";
  device.compute_major = 12;
  device.compute_minor = 0;
  device.multiprocessors = 170;
  device.clock_khz = 2407000;
  device.memory_bytes = 32 * GiB;
  device.memory_clock_khz = 14001000;
  device.memory_bus_bits = 512;
  device.memory_bandwidth = 1.792e12;
  device.l2_bytes = 96 * MiB;
  return device;
}

/// The properties in which Apple's GPUs differ. `clock_khz` is an estimate that fits the TFLOP/s which Apple
/// states, where it does.
struct AppleGpu {
  const char *name, *key;
  int cores, clock_khz;
  std::int64_t memory_bytes;
  int memory_clock_khz, memory_bus_bits;
  double memory_bandwidth;
  std::int64_t l2_bytes;  // of the system-level cache: an estimate
};

/// Cores, memory and bandwidth are Apple's figures. Limits are from its Metal Feature Set Tables.
/// Clocks, caches, registers and occupancy are not published; these are estimates from P. Turner's
/// metal-benchmarks and D. Johnson's applegpu, for M1 and M2, and taken over for later GPUs. The
/// compute capability is that of the PTX that clang generates for Metal kernels.
DeviceDescription apple(const AppleGpu& gpu) {
  DeviceDescription device = h200();
  device.name = gpu.name;
  device.key = gpu.key;
  device.compute_major = 8;
  device.multiprocessors = gpu.cores;
  device.clock_khz = gpu.clock_khz;
  device.memory_bytes = gpu.memory_bytes;
  device.memory_clock_khz = gpu.memory_clock_khz;
  device.memory_bus_bits = gpu.memory_bus_bits;
  device.memory_bandwidth = gpu.memory_bandwidth;
  device.l2_bytes = gpu.l2_bytes;
  device.registers_per_multiprocessor = 98304;
  device.registers_per_block = 98304;
  device.max_registers_per_thread = 128;
  device.max_warps_per_multiprocessor = 96;
  device.shared_per_multiprocessor = 64 * KiB;
  device.shared_per_block = 32 * KiB;
  device.shared_per_block_optin = 32 * KiB;
  device.shared_reserved_per_block = 0;
  device.fp32_lanes_per_multiprocessor = 128;
  return device;
}

constexpr AppleGpu apple_gpus[] = {
    {"Apple M1", "m1", 8, 1278000, 16 * GiB, 2133000, 128, 6.825e10, 8 * MiB},
    {"Apple M1 Pro", "m1pro", 16, 1296000, 16 * GiB, 3200000, 256, 2e11, 24 * MiB},
    {"Apple M2 Max", "m2max", 38, 1398000, 64 * GiB, 3200000, 512, 4e11, 48 * MiB},
    {"Apple M3", "m3", 10, 1380000, 16 * GiB, 3200000, 128, 1e11, 8 * MiB},
    {"Apple M4 Max", "m4max", 40, 1578000, 64 * GiB, 4266000, 512, 5.46e11, 48 * MiB},
};

/// A property that may be overridden, and its range.
struct Field {
  std::string_view name;
  std::variant<int DeviceDescription::*, std::int64_t DeviceDescription::*,
               double DeviceDescription::*>
      member;
  double least, most;
};

using D = DeviceDescription;
const Field fields[] = {
    {"compute_major", &D::compute_major, 7, 12},
    {"compute_minor", &D::compute_minor, 0, 9},
    {"multiprocessors", &D::multiprocessors, 1, 1024},
    {"clock_khz", &D::clock_khz, 1, 1e8},
    {"memory_bytes", &D::memory_bytes, 1 << 20, 1e15},
    {"memory_clock_khz", &D::memory_clock_khz, 1, 1e8},
    {"memory_bus_bits", &D::memory_bus_bits, 1, 1 << 20},
    {"memory_bandwidth", &D::memory_bandwidth, 1, 1e18},
    {"l2_bytes", &D::l2_bytes, 0, 1 << 30},
    {"registers_per_multiprocessor", &D::registers_per_multiprocessor, 1024, 1 << 24},
    {"registers_per_block", &D::registers_per_block, 1024, 1 << 24},
    {"max_registers_per_thread", &D::max_registers_per_thread, 16, 1024},
    {"register_allocation_unit", &D::register_allocation_unit, 1, 65536},
    {"warp_allocation_granularity", &D::warp_allocation_granularity, 1, 64},
    {"max_warps_per_multiprocessor", &D::max_warps_per_multiprocessor, 1, 1024},
    {"max_blocks_per_multiprocessor", &D::max_blocks_per_multiprocessor, 1, 1024},
    {"max_threads_per_block", &D::max_threads_per_block, 32, 1024},
    {"shared_per_multiprocessor", &D::shared_per_multiprocessor, 1024, 1 << 24},
    {"shared_per_block", &D::shared_per_block, 1024, 1 << 24},
    {"shared_per_block_optin", &D::shared_per_block_optin, 1024, 1 << 24},
    {"shared_reserved_per_block", &D::shared_reserved_per_block, 0, 65536},
    {"shared_allocation_unit", &D::shared_allocation_unit, 1, 65536},
    {"fp32_lanes_per_multiprocessor", &D::fp32_lanes_per_multiprocessor, 1, 65536},
};

template <class Range, class Name>
std::string listed(const Range& range, Name name) {
  std::string text;
  for (const auto& item : range) {
    if (!text.empty()) text += ", ";
    text += name(item);
  }
  return text;
}

void set(DeviceDescription& device, const Field& field, std::string_view value) {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool whole = std::holds_alternative<double DeviceDescription::*>(field.member) ||
                     number == static_cast<double>(static_cast<std::int64_t>(number));
  if (error != std::errc{} || end != value.data() + value.size() || !(number >= field.least) ||
      !(number <= field.most) || !whole) {
    throw std::invalid_argument(fmt::format("device field {}: '{}' is not a number from {} to {}",
                                            field.name, value, field.least, field.most));
  }
  std::visit(
      [&](auto member) {
        auto& target = device.*member;
        target = static_cast<std::remove_reference_t<decltype(target)>>(number);
      },
      field.member);
}

void override_field(DeviceDescription& device, std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const auto* field = std::find_if(std::begin(fields), std::end(fields),
                                   [&](const Field& f) { return f.name == name; });
  if (equals == std::string_view::npos || field == std::end(fields)) {
    throw std::invalid_argument(
        fmt::format("device override '{}': expected FIELD=NUMBER, FIELD one of {}", text,
                    listed(fields, [](const Field& f) { return f.name; })));
  }
  set(device, *field, text.substr(equals + 1));
}

/// Rejects contradictory limits, with which no kernel could run, or kernels that are too large.
void check_consistent(const DeviceDescription& device) {
  const auto require = [&](std::string_view small, std::int64_t value, std::string_view large,
                           std::int64_t limit) {
    if (value <= limit) return;
    throw std::invalid_argument(
        fmt::format("device {}: {} {} is above {} {}", device.key, small, value, large, limit));
  };
  require("shared_per_block", device.shared_per_block, "shared_per_block_optin",
          device.shared_per_block_optin);
  require("shared_per_block_optin + shared_reserved_per_block",
          device.shared_per_block_optin + device.shared_reserved_per_block,
          "shared_per_multiprocessor", device.shared_per_multiprocessor);
  require("registers_per_block", device.registers_per_block, "registers_per_multiprocessor",
          device.registers_per_multiprocessor);
  require("max_threads_per_block", device.max_threads_per_block,
          "32 * max_warps_per_multiprocessor", 32 * device.max_warps_per_multiprocessor);
}

DeviceDescription find_device(std::string_view key) {
  for (const DeviceDescription& device : known_devices()) {
    if (device.key == key) return device;
  }
  if (key == "custom") {
    DeviceDescription device = known_devices().front();
    device.key = "custom";
    return device;
  }
  throw std::invalid_argument(
      fmt::format("'{}' is not one of {}, custom, each with overrides such as "
                  "'h200,multiprocessors=4'",
                  key, listed(known_devices(), [](const DeviceDescription& d) { return d.key; })));
}

}  // namespace

const std::vector<DeviceDescription>& known_devices() {
  static const std::vector<DeviceDescription> devices = [] {
    std::vector<DeviceDescription> all = {h200(),    h100(),    a100(), t4(),
                                          rtx3090(), rtx4090(), b200(), rtx5090()};
    for (const AppleGpu& gpu : apple_gpus) all.push_back(apple(gpu));
    return all;
  }();
  return devices;
}

DeviceDescription parse_device(std::string_view text) {
  std::size_t comma = text.find(',');
  DeviceDescription device = find_device(text.substr(0, comma));
  const bool changed = comma != std::string_view::npos;
  while (comma != std::string_view::npos) {
    text.remove_prefix(comma + 1);
    comma = text.find(',');
    override_field(device, text.substr(0, comma));
  }
  check_consistent(device);
  if (changed || device.key == "custom") {
    device.key = "custom";
    device.name += ", customised";
  }
  return device;
}

}  // namespace rung::vgpu
