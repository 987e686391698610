// Dispatches of Metal's command encoders.

#include "vgpu/driver/dispatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "vgpu/driver/call.hpp"
#include "vgpu/driver/kernel_launch.hpp"

namespace rung::vgpu::driver {
namespace {

/// The arguments of a dispatch, until its launch has ended.
class Arguments {
 public:
  using Argument = Dispatch::Argument;

  Arguments(ContextState& context, const Dispatch& asked, Launch& launch)
      : memory_(context.memory), asked_(asked), launch_(launch) {
    for (const Argument& each : asked.arguments) {
      if (each.kind == Argument::Kind::value) store(each, each.bytes.data(), each.bytes.size());
      if (each.kind == Argument::Kind::constant) add_constant(each);
    }
  }
  ~Arguments() {
    for (const std::uint64_t address : constants_) {
      memory_.free(address);
      process().order.forget(address);
    }
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  /// Reads parameters and an indirect grid from memory, as accesses of the running operation.
  void load() {
    process().order.describe("kernel", kernel().name);
    for (const Argument& each : asked_.arguments) {
      if (each.kind != Argument::Kind::loaded) continue;
      read(at(each), each.address, kernel().parameters.at(each.parameter).bytes);
    }
    if (asked_.indirect == 0) return;
    Dim3& grid = launch_.options.grid;
    read(&grid, asked_.indirect, sizeof grid);
  }

 private:
  const KernelInfo& kernel() const { return info(*launch_.function->kernel); }
  void read(void* to, std::uint64_t address, std::size_t bytes) {
    if (!memory_.read(to, address, bytes)) {
      fail(Result::illegal_address, fmt::format("{}: reads {} bytes at {}", kernel().name, bytes,
                                                memory_.describe(address)));
    }
    process().order.access(memory_, address, bytes, Touch::read);
  }
  std::byte* at(const Argument& argument) {
    return launch_.parameters.data() + kernel().parameters.at(argument.parameter).offset;
  }
  void store(const Argument& argument, const void* from, std::size_t bytes) {
    std::memcpy(at(argument), from,
                std::min(bytes, kernel().parameters.at(argument.parameter).bytes));
  }
  void add_constant(const Argument& argument) {
    const std::size_t bytes = argument.bytes.size();
    const std::uint64_t address = memory_.allocate(std::max<std::size_t>(1, bytes), argument.name);
    constants_.push_back(address);
    memory_.write(address, argument.bytes.data(), bytes);
    store(argument, &address, sizeof address);
  }

  DeviceMemory& memory_;
  const Dispatch& asked_;
  Launch& launch_;
  std::vector<std::uint64_t> constants_;
};

void dispatch(ContextState& context, const Dispatch& asked) {
  Launch launch;
  launch.function = find_function(context, asked.function);
  launch.module = launch.function->module.lock();
  launch.options.grid = asked.grid;
  launch.options.block = asked.block;
  launch.options.grid_threads = asked.grid_threads;
  launch.options.dynamic_shared = asked.dynamic_shared;
  launch.parameters.resize(info(*launch.function->kernel).parameter_bytes);
  for (const Dispatch::Variable& each : asked.variables) {
    const auto variable = launch.module->module->global(each.name);
    if (variable) context.memory.write(variable->address, each.bytes.data(), each.bytes.size());
  }
  Arguments arguments(context, asked, launch);
  enqueue(context, asked.stream, [&](ContextState& running) {
    arguments.load();
    if (launch.options.grid.count() == 0) return;
    check(*launch.function, launch.options, launch.parameters);
    run(running, launch);
  });
  if (context.sticky == Result::success) return;
  fail(std::exchange(context.sticky, Result::success), context.sticky_message);
}

}  // namespace
}  // namespace rung::vgpu::driver

namespace rung::vgpu {

cuda::Result dispatch(const Dispatch& asked) {
  return driver::call_context(
      [&](driver::ContextState& context) { driver::dispatch(context, asked); });
}

}  // namespace rung::vgpu
