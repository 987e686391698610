// Runs the commands of a pass, and gives them the order that Metal guarantees:
//   - a pass starts after the passes whose use of a tracked resource conflicts with its own, and after the
//     fences that it waits for;
//   - commands of a serial encoder run one after the other;
//   - dispatches of a concurrent encoder are ordered by its barriers alone.
// Apple's documentation: MTLHazardTrackingMode, MTLDispatchType, memoryBarrier(scope:), MTLFence.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "backends/metal/threadgroup_memory.hpp"
#include "emu/metal_cpp/state.hpp"
#include "emu/reports/metal_words.hpp"
#include "emu/runtime/runtime.hpp"
#include "vgpu/driver/dispatch.hpp"

namespace rung::emu::metal_cpp {
namespace {

using Argument = vgpu::Dispatch::Argument;

template <class T>
std::vector<std::byte> bytes_of(const T& value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

vgpu::Dim3 extent(const MTL::Size& size) {
  return {static_cast<std::uint32_t>(size.width), static_cast<std::uint32_t>(size.height),
          static_cast<std::uint32_t>(size.depth)};
}

Argument argument_of(const DispatchCommand& dispatch, const KernelParameter& parameter) {
  Argument argument;
  argument.parameter = parameter.ptx_index();
  switch (parameter.kind) {
    case KernelParameter::Kind::texture:
      argument.bytes = bytes_of(dispatch.textures.at(parameter.index)->descriptor);
      return argument;
    case KernelParameter::Kind::sampler:
      argument.bytes = bytes_of(dispatch.samplers.at(parameter.index)->state);
      return argument;
    default: break;
  }
  const BufferBinding& binding = dispatch.buffers.at(parameter.index);
  const bool is_value = parameter.kind == KernelParameter::Kind::value;
  if (binding.buffer) {
    argument.address = binding.buffer->state.address + binding.offset;
    argument.kind = is_value ? Argument::Kind::loaded : Argument::Kind::value;
    if (!is_value) argument.bytes = bytes_of(argument.address);
    return argument;
  }
  argument.kind = is_value ? Argument::Kind::value : Argument::Kind::constant;
  argument.bytes = binding.bytes;
  argument.name = fmt::format("setBytes({})", parameter.index);
  return argument;
}

vgpu::Dispatch driver_dispatch(const DispatchCommand& dispatch) {
  vgpu::Dispatch asked;
  asked.function = dispatch.pipeline->code;
  asked.grid = extent(dispatch.groups);
  asked.block = extent(dispatch.threads_per_group);
  if (dispatch.threads) asked.grid_threads = extent(*dispatch.threads);
  if (const BufferObject* const buffer = dispatch.indirect.buffer.get()) {
    asked.indirect = buffer->state.address + dispatch.indirect.offset;
  }
  const auto layout = rung::metal::layout_of(dispatch.threadgroup_memory);
  asked.dynamic_shared = layout.bytes;
  asked.variables.push_back({rung::metal::threadgroup_layout, bytes_of(layout.begin)});
  for (const KernelParameter& each : dispatch.pipeline->function->compiled->parameters) {
    if (each.ptx_parameter >= 0) asked.arguments.push_back(argument_of(dispatch, each));
  }
  return asked;
}

/// A failed command buffer, in the words of Metal's driver.
void fail(CommandBufferObject& owner, cuda::Result result) {
  switch (result) {
    case cuda::Result::illegal_address:
      return owner.fail(MTL::CommandBufferErrorPageFault,
                        "Caused GPU Address Fault Error "
                        "(0000000b:kIOGPUCommandBufferCallbackErrorPageFault)");
    case cuda::Result::launch_timeout:
      return owner.fail(MTL::CommandBufferErrorTimeout,
                        "Caused GPU Timeout Error "
                        "(00000002:kIOGPUCommandBufferCallbackErrorTimeout)");
    default:
      return owner.fail(MTL::CommandBufferErrorInternal,
                        fmt::format("Internal Error (0000000e:Internal Error): {}",
                                    in_metal_words(driver_message())));
  }
}

std::string name_of(const Pass& pass) {
  const std::string what = pass.is_concurrent ? fmt::format("concurrent {}", pass.what) : pass.what;
  if (!pass.label.empty()) return fmt::format("{} {}", what, pass.label);
  const std::string call = std::string_view(pass.what).starts_with("blit")
                               ? "blitCommandEncoder"
                               : "computeCommandEncoder";
  const std::string name = name_of_result(pass.site, call, "");
  return name.empty() ? what : fmt::format("{} {}", what, name);
}

class PassRun {
 public:
  PassRun(const Pass& pass, CommandBufferObject& owner)
      : pass_(pass), owner_(owner), name_(name_of(pass)), before_(owner.queue->waits) {
    for (const auto& [resource, is_written] : pass.used) wait_for_resource(*resource, is_written);
  }

  PointPtr run() {
    {
      const SiteScope scope(pass_.site, name_);
      if (!pass_.is_concurrent) serial_ = std::make_unique<Stream>(before_);
    }
    for (const Command& command : pass_.commands) {
      if (owner_.error_code != 0) break;
      std::visit([this](const auto& each) { run(each); }, command);
    }
    const SiteScope scope(pass_.site, name_);
    if (serial_) {
      all_ = {serial_->record()};
    } else {
      append(all_, before_);
    }
    const PointPtr end = all_.empty() ? Stream({}).record() : joined(all_);
    for (const auto& [resource, is_written] : pass_.used) note_use(*resource, is_written, end);
    for (FenceObject* const fence : updated_) fence->updated = {end};
    return end;
  }

 private:
  struct Done {
    PointPtr point;
    std::vector<const NS::Object*> resources;
  };

  static ResourceState* tracked(const NS::Object& object) {
    const auto* const resource = dynamic_cast<const MTL::Resource*>(&object);
    if (resource == nullptr) return nullptr;
    ResourceState& state = state_of(*resource);
    return state.is_tracked() ? &state : nullptr;
  }
  void wait_for_resource(const NS::Object& object, bool is_written) {
    const ResourceState* const state = tracked(object);
    if (state == nullptr) return;
    append(before_, state->written);
    if (is_written) append(before_, state->read);
  }
  static void note_use(const NS::Object& object, bool is_written, const PointPtr& end) {
    ResourceState* const state = tracked(object);
    if (state == nullptr) return;
    constexpr std::size_t most_readers = 8;
    if (is_written) {
      state->written = {end};
      state->read.clear();
    } else if (state->read.size() >= most_readers) {
      state->read.push_back(end);
      state->read = {joined(state->read)};
    } else {
      state->read.push_back(end);
    }
  }

  /// Calls work(stream) in the order of the pass. `resources`: those that the command may access.
  template <class Work>
  void in_order(const CallSite& site, std::vector<const NS::Object*> resources, const Work& work) {
    const SiteScope scope(site, name_);
    if (serial_) return work(*serial_);
    Points after = before_;
    for (const Done& each : behind_barriers_) {
      if (shares(each.resources, resources)) after.push_back(each.point);
    }
    Stream stream(after);
    work(stream);
    const PointPtr point = stream.record();
    all_.push_back(point);
    recent_.push_back({point, std::move(resources)});
  }
  /// No resources: all.
  static bool shares(const std::vector<const NS::Object*>& a,
                     const std::vector<const NS::Object*>& b) {
    return a.empty() || std::ranges::any_of(a, [&](const NS::Object* each) {
             return std::ranges::find(b, each) != b.end();
           });
  }

  void run(const DispatchCommand& dispatch) {
    const bool is_empty =
        dispatch.groups.width * dispatch.groups.height * dispatch.groups.depth == 0;
    if (is_empty && !dispatch.indirect.buffer) return;
    std::vector<const NS::Object*> resources;
    for (const auto& [index, each] : dispatch.buffers) resources.push_back(each.buffer.get());
    for (const auto& [index, each] : dispatch.textures) resources.push_back(each.get());
    resources.push_back(dispatch.indirect.buffer.get());
    in_order(dispatch.site, std::move(resources), [&](const Stream& stream) {
      vgpu::Dispatch asked = driver_dispatch(dispatch);
      asked.stream = stream.handle();
      const cuda::Result result = vgpu::dispatch(asked);
      if (result != cuda::Result::success) fail(owner_, result);
    });
  }
  void run(const FillCommand& fill) {
    in_order(fill.site, {fill.buffer.get()}, [&](const Stream& stream) {
      gpu().cuMemsetD8Async(fill.buffer->state.address + fill.range.location, fill.value,
                            fill.range.length, stream.handle());
    });
  }
  void run(const CopyCommand& copy) {
    in_order(copy.site, {copy.keep_from.get(), copy.keep_to.get()}, [&](const Stream& stream) {
      gpu().cuMemcpyDtoDAsync(copy.to, copy.from, copy.bytes, stream.handle());
    });
  }
  void run(const BarrierCommand& barrier) {
    if (!pass_.is_concurrent) return;
    if (barrier.resources.empty()) {
      behind_barriers_.clear();
      if (all_.empty()) return;
      const SiteScope scope(pass_.site, name_);
      behind_barriers_.push_back({joined(all_), {}});
      all_ = {behind_barriers_.back().point};
      recent_.clear();
      return;
    }
    for (const Done& each : recent_) {
      if (shares(barrier.resources, each.resources)) {
        behind_barriers_.push_back({each.point, barrier.resources});
      }
    }
  }
  void run(const FenceCommand& fence) {
    if (fence.updates) {
      updated_.push_back(fence.fence.get());
      return;
    }
    append(before_, fence.fence->updated);
    if (serial_) serial_->wait_for(fence.fence->updated);
  }

  const Pass& pass_;
  CommandBufferObject& owner_;
  std::string name_;
  Points before_;                   // what the pass waits for
  std::unique_ptr<Stream> serial_;  // null in a concurrent encoder, where each command has its own
  Points all_;                      // the ends of commands
  std::vector<Done> recent_, behind_barriers_;
  std::vector<FenceObject*> updated_;
};

}  // namespace

void run_pass(const Pass& pass, CommandBufferObject& owner, Points& points) {
  points.push_back(PassRun(pass, owner).run());
}

}  // namespace rung::emu::metal_cpp
