#pragma once
// Launches kernels written as PTX in a test.

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "vgpu/launch.hpp"
#include "vgpu/model/device.hpp"

namespace rung::vgpu {

/// A module with an entry `k` with this parameter list and body.
inline std::string entry(const std::string& parameters, const std::string& body,
                         const std::string& before = {}) {
  return ".version 8.0\n.target sm_80\n.address_size 64\n" + before + "\n.visible .entry k(" +
         parameters + ")\n{\n" + body + "\n}\n";
}

class LaunchTest : public ::testing::Test {
 protected:
  /// Allocates an array of device memory with these contents.
  template <class T>
  std::uint64_t array(const std::vector<T>& values) {
    const std::uint64_t address = memory.allocate(values.size() * sizeof(T));
    memory.write(address, values.data(), values.size() * sizeof(T));
    return address;
  }
  template <class T>
  std::vector<T> values(std::uint64_t address, std::size_t count) {
    std::vector<T> result(count);
    memory.read(result.data(), address, count * sizeof(T));
    return result;
  }
  /// Runs the kernel `k` of the module. Every parameter has 64 bits.
  LaunchReport run(const std::string& text, Dim3 grid, Dim3 block,
                   const std::vector<std::uint64_t>& parameters) {
    options.grid = grid;
    options.block = block;
    module = Module::load(text, "test.ptx", memory);
    return launch(*module->kernel("k"), options, std::as_bytes(std::span(parameters)), memory,
                  device);
  }

  static bool has(const LaunchReport& report, HazardKind kind) {
    for (const Hazard& hazard : report.hazards) {
      if (hazard.kind == kind) return true;
    }
    return false;
  }
  /// The first hazard of that kind.
  static Hazard found(const LaunchReport& report, HazardKind kind) {
    for (const Hazard& hazard : report.hazards) {
      if (hazard.kind == kind) return hazard;
    }
    ADD_FAILURE() << "no " << name(kind) << "; there are " << report.hazards.size();
    for (const Hazard& hazard : report.hazards) ADD_FAILURE() << hazard.message;
    return {};
  }
  static void expect_none(const LaunchReport& report) {
    for (const Hazard& hazard : report.hazards) ADD_FAILURE() << hazard.message;
  }
  static void expect_only(const LaunchReport& report, HazardKind kind) {
    ASSERT_FALSE(report.hazards.empty());
    for (const Hazard& hazard : report.hazards) EXPECT_EQ(hazard.kind, kind) << hazard.message;
  }

  DeviceMemory memory{std::size_t{1} << 30};
  DeviceDescription device = parse_device("h200");
  LaunchOptions options;
  std::unique_ptr<Module> module;
};

}  // namespace rung::vgpu
