#pragma once
// Launches one kernel on the virtual GPU, with arguments given as text or as bytes.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tools/any_kernel/expectation.hpp"
#include "tools/any_kernel/program.hpp"
#include "tools/any_kernel/values.hpp"
#include "vgpu/launch.hpp"
#include "vgpu/memory/device_memory.hpp"

namespace rung::any_kernel {

/// The value of one parameter, in the caller's memory.
struct GivenValue {
  enum class Kind : std::uint8_t {
    value,        // passed by value
    buffer,       // an array in memory of the device
    alias,        // an address in the buffer of an earlier parameter
    null,         // a null pointer
    threadgroup,  // `offset` bytes of threadgroup memory
    texture,      // an array of any shape and type that make_texture() accepts
    sampler,      // `text`, such as "linear,repeat"
  };

  Kind kind = Kind::null;
  std::span<std::byte> bytes;  // of a value, a buffer or a texture
  Shape shape;                 // of a buffer or a texture
  std::string text;            // of a sampler; of a texture the type of its elements: "<f4"
  bool is_written = true;      // otherwise the buffer has no value before the launch
  bool is_read_only = false;   // a kernel that writes the buffer fails
  bool is_result = false;      // the launch writes the buffer's contents back to `bytes`
  std::size_t buffer = 0;      // of an alias: the parameter, from 0
  std::uint64_t offset = 0;    // of the address: bytes from the start of the buffer
};

/// A pointer or a texture within the struct of a parameter.
struct MemberPlace {
  std::size_t parameter = 0;  // from 0
  std::size_t leaf = 0;       // of leaves()
};

/// A member as a parameter of its own, which has no entry: "args.x".
Parameter member_parameter(const Parameter& owner, const Leaf& leaf);

struct LaunchRequest {
  std::vector<std::pair<std::string, std::string>> arguments;  // by name or index
  std::vector<GivenValue> given;     // one for each parameter; or empty, and `arguments` has them
  std::vector<MemberPlace> members;  // their values follow the parameters' in `given`
  std::vector<std::string>
      outputs;  // parameters that are memory without a value, unless they have one
  std::vector<std::string> expectations;
  Tolerance tolerance;
  std::optional<vgpu::Dim3> threads;  // of the whole grid, as dispatchThreads in Metal
  vgpu::Dim3 groups, group;           // without `threads`: blocks of the grid; threads of a block
  std::int64_t dynamic_shared = 0;    // bytes
  std::uint64_t seed = 1;
  std::uint64_t instruction_limit = vgpu::LaunchOptions{}.instruction_limit;  // of all warps
  unsigned cpu_threads = 0;                                                   // 0: all
  bool observe = true;
  vgpu::DeviceDescription device;
  /// Called after the launch.
  std::function<void(const vgpu::LaunchReport&, const vgpu::Kernel&)> observer;
};

/// A kernel in the memory of a virtual GPU, loaded once for several launches.
struct LoadedKernel {
  /// Throws std::runtime_error for PTX that the virtual GPU refuses.
  /// `beside`: a kernel of the same PTX, whose module and memory it shares.
  LoadedKernel(const Program& program, const Kernel& kernel, const vgpu::DeviceDescription& device,
               const LoadedKernel* beside = nullptr);

  bool is_metal = false;
  std::shared_ptr<vgpu::DeviceMemory> shared_memory;
  vgpu::DeviceMemory& memory;
  std::shared_ptr<vgpu::Module> module;
  const vgpu::Kernel* kernel = nullptr;
  /// The buffers of given values stay for the next launch: addresses and sizes by parameter.
  std::vector<std::pair<std::uint64_t, std::size_t>> buffers;
};

/// A buffer after the launch. The array of a given value has no bytes.
struct Result {
  std::string name;
  Array array;
  std::int64_t unwritten = 0;  // elements without a value
  bool is_changed = true;      // false for an input of a type without const
};

struct Outcome {
  vgpu::LaunchReport report;          // its hazards name parameters and indices
  std::vector<vgpu::Site> sites;      // empty for given values: the loaded kernel has them
  std::vector<Result> results;        // the buffers that the kernel may write
  std::vector<Judgement> judgements;  // none if the launch failed

  /// True without hazards, if all results are as expected.
  bool is_right() const;
};

/// Throws ArgumentError for arguments that do not fit the kernel, before anything runs.
Outcome launch(const Program& program, const Kernel& kernel, const LaunchRequest& request);
/// Launches a loaded kernel. Launches of one kernel must not overlap.
Outcome launch(LoadedKernel& loaded, const Kernel& kernel, const LaunchRequest& request);

/// The result of a parameter, by name or index. Throws ArgumentError.
const Result& find_result(const Kernel& kernel, const Outcome& outcome, const std::string& name);

/// True for a hazard that makes the run fail: writes of the same value do not.
bool fails(const vgpu::Hazard& hazard);

}  // namespace rung::any_kernel
