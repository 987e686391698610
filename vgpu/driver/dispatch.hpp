#pragma once
// Launches that no call of CUDA makes, such as Metal's dispatches.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/cuda_driver/api.hpp"
#include "vgpu/launch.hpp"

namespace rung::vgpu {

struct Dispatch {
  cuda::Function function = nullptr;
  cuda::Stream stream = nullptr;
  Dim3 grid, block;
  std::optional<Dim3> grid_threads;  // LaunchOptions::grid_threads
  std::uint64_t indirect = 0;        // address of the grid, three uint32, or 0
  std::int64_t dynamic_shared = 0;   // bytes
  struct Argument {
    enum class Kind : std::uint8_t {
      value,     // `bytes` are the parameter
      constant,  // the parameter is the address of `bytes`, in memory that exists during the launch
      loaded,    // the launch reads the parameter from `address`
    };
    std::size_t parameter = 0;  // of the kernel
    Kind kind = Kind::value;
    std::vector<std::byte> bytes;
    std::uint64_t address = 0;
    std::string name;  // of the memory, for reports
  };
  std::vector<Argument> arguments;
  /// A variable of the module, set before the launch. Ignored if the module has none of this name.
  struct Variable {
    std::string name;
    std::vector<std::byte> bytes;
  };
  std::vector<Variable> variables;
};
/// A fault is this call's result, and the context stays usable.
cuda::Result dispatch(const Dispatch& asked);

}  // namespace rung::vgpu
