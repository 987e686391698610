#pragma once
// Runs the kernels of a file of this folder.

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/metal/threadgroup_memory.hpp"
#include "compile.hpp"
#include "vgpu/launch.hpp"

namespace rung::metal_tests {

/// Arrays in the memory of a device.
class ArraysTest : public testing::Test {
 protected:
  template <class T>
  std::uint64_t array(const std::vector<T>& values) {
    const std::uint64_t address = memory_.allocate(values.size() * sizeof(T));
    memory_.write(address, values.data(), values.size() * sizeof(T));
    return address;
  }
  template <class T>
  std::vector<T> values(std::uint64_t address, std::size_t count) {
    std::vector<T> result(count);
    memory_.read(result.data(), address, count * sizeof(T));
    return result;
  }

  vgpu::DeviceMemory memory_{1 << 24};
};

/// `Suite` has the name of the file, which is compiled once.
template <class Suite>
class KernelTest : public ArraysTest {
 protected:
  static const Compiled& compiled() {
    static const Compiled once =
        compile(read_file(std::string(RUNG_SOURCES "/tests/metal/") + Suite::file));
    return once;
  }
  void SetUp() override { ASSERT_TRUE(compiled().succeeded) << compiled().messages; }

  /// Runs an entry with 64-bit parameters, and expects no hazard.
  void run(const std::string& entry, vgpu::Dim3 grid, vgpu::Dim3 block,
           const std::vector<std::uint64_t>& parameters,
           const metal::ThreadgroupMemory& memory = {}) {
    for (const auto& hazard : hazards(entry, grid, block, parameters, memory)) {
      ADD_FAILURE() << hazard.message;
    }
  }
  std::vector<vgpu::Hazard> hazards(const std::string& entry, vgpu::Dim3 grid, vgpu::Dim3 block,
                                    const std::vector<std::uint64_t>& parameters,
                                    const metal::ThreadgroupMemory& memory = {}) {
    vgpu::LaunchOptions options;
    options.grid = grid;
    options.block = block;
    const auto module = vgpu::Module::load(compiled().ptx, Suite::file, memory_);
    metal::lay_out(memory, *module, memory_, options);
    const auto report =
        vgpu::launch(*module->kernel(entry), options, std::as_bytes(std::span(parameters)), memory_,
                     vgpu::parse_device("m1pro"));
    return report.hazards;
  }
};

}  // namespace rung::metal_tests
