// Encoders record commands. A dispatch has the arguments that were set before it.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "emu/metal_cpp/state.hpp"

namespace rung::emu::metal_cpp {
namespace {

/// The state of an encoder of either class.
EncoderState& state_of(NS::Object& encoder) {
  if (auto* const compute = dynamic_cast<ComputeEncoderObject*>(&encoder)) return compute->state;
  return dynamic_cast<BlitEncoderObject&>(encoder).state;
}

void end(EncoderState& state) {
  if (state.is_ended) return;
  state.is_ended = true;
  CommandBufferObject& owner = *state.command_buffer;
  owner.encoder = nullptr;
  owner.commands.emplace_back(std::move(state.pass));
}

void check_destroyed(EncoderState& state) {
  if (state.is_ended) return;
  report_misuse("Command encoder released without endEncoding");
  state.command_buffer->fail(MTL::CommandBufferErrorInternal, "an encoder was not ended");
  end(state);
}

/// Calls function(encoder) unless the encoder has ended.
template <class Own, class Encoder, class Function>
void encode(Encoder* encoder, const Function& function) {
  ask<Own>(encoder, [&](Own& own) {
    if (!own.state.is_ended) return function(own);
    report_misuse("a command is encoded after endEncoding");
  });
}

template <class Encoder, class Function>
void encode_compute(Encoder* encoder, const Function& function) {
  encode<ComputeEncoderObject>(encoder, function);
}

void use(Pass& pass, const NS::Object* resource, bool writes) {
  bool& is_written = pass.used[Ref<NS::Object>(const_cast<NS::Object*>(resource))];
  is_written = is_written || writes;
}

BufferObject* own(const MTL::Buffer* buffer) {
  if (buffer != nullptr && !is_usable(buffer)) return nullptr;
  return static_cast<BufferObject*>(const_cast<MTL::Buffer*>(buffer));
}

/// Arguments have 31 indices each of buffers and threadgroup memory, and 16 of samplers (Metal Feature
/// Set Tables).
constexpr std::size_t most_buffers = 31, most_textures = 128, most_samplers = 16;

bool is_index(std::size_t index, std::size_t most, const char* call) {
  if (index < most) return true;
  report_misuse(fmt::format("{}: index {} must be below {}", call, index, most));
  return false;
}

void set_buffer(ComputeEncoderObject& own_encoder, const MTL::Buffer* buffer, std::size_t offset,
                std::size_t index) {
  if (!is_index(index, most_buffers, "setBuffer")) return;
  BufferObject* const set = own(buffer);
  if (set == nullptr) {
    own_encoder.next.buffers.erase(index);
    return;
  }
  if (offset >= set->state.bytes) {
    report_misuse(
        fmt::format("setBuffer:offset:atIndex:{}: offset({}) must be < [buffer length]({})", index,
                    offset, set->state.bytes));
  }
  own_encoder.next.buffers[index] = {set, offset, {}};
}

std::string described(const MTL::Size& size) {
  return fmt::format("{}x{}x{}", size.width, size.height, size.depth);
}

/// The message of Metal's validation against a dispatch; empty if the dispatch is fine.
std::string wrong_with(const DispatchCommand& dispatch) {
  if (!dispatch.pipeline) return "dispatch without setComputePipelineState";
  const MTL::Size& threads = dispatch.threads_per_group;
  const std::size_t count = threads.width * threads.height * threads.depth;
  if (count == 0) {
    return fmt::format("threadsPerThreadgroup is {}: each extent must be at least 1",
                       described(threads));
  }
  const PipelineObject& pipeline = *dispatch.pipeline;
  if (count > pipeline.most_threads) {
    return fmt::format(
        "(threadsPerThreadgroup.width({}) * threadsPerThreadgroup.height({}) * "
        "threadsPerThreadgroup.depth({}))({}) must be <= {}. ({} threadgroup size limit)",
        threads.width, threads.height, threads.depth, count, pipeline.most_threads,
        pipeline.most_threads < 1024 ? "kernel" : "device");
  }
  std::size_t memory = pipeline.static_shared;
  for (const std::int64_t bytes : dispatch.threadgroup_memory) {
    memory += static_cast<std::size_t>((bytes + 15) / 16 * 16);
  }
  const auto most = static_cast<std::size_t>(description().shared_per_block);
  if (memory > most) {
    return fmt::format(
        "Threadgroup memory size ({}) exceeds the maximum threadgroup memory allowed ({})", memory,
        most);
  }
  return {};
}

/// The kernel's argument that is not set, in the words of Metal's validation; empty if all are.
std::string missing_argument(const DispatchCommand& dispatch) {
  const FunctionObject& function = *dispatch.pipeline->function;
  for (const KernelParameter& each : function.compiled->parameters) {
    const auto missing = [&](const char* what) {
      return fmt::format("Compute Function({}): missing {} binding at index {} for {}[0].",
                         function.name, what, each.index, each.name);
    };
    switch (each.kind) {
      case KernelParameter::Kind::buffer:
      case KernelParameter::Kind::value: {
        const auto found = dispatch.buffers.find(each.index);
        if (found == dispatch.buffers.end()) return missing("Buffer");
        const BufferBinding& binding = found->second;
        const std::size_t bytes = binding.buffer
                                      ? binding.buffer->state.bytes -
                                            std::min(binding.offset, binding.buffer->state.bytes)
                                      : binding.bytes.size();
        const bool is_value = each.kind == KernelParameter::Kind::value;
        if (is_value && bytes < each.bytes) {
          return fmt::format(
              "Compute Function({}): argument {}[0] from buffer({}) with offset({}) and length({}) "
              "has "
              "space for {} bytes, but argument has a length({}).",
              function.name, each.name, each.index, binding.offset, bytes, bytes, each.bytes);
        }
        break;
      }
      case KernelParameter::Kind::texture:
        if (!dispatch.textures.contains(each.index)) return missing("Texture");
        break;
      case KernelParameter::Kind::sampler:
        if (!dispatch.samplers.contains(each.index)) return missing("Sampler");
        break;
      case KernelParameter::Kind::threadgroup:
        if (!dispatch.threadgroup_lengths.contains(each.index)) {
          return fmt::format(
              "Compute Function({}): missing threadgroup memory length at index {} for {}[0].",
              function.name, each.index, each.name);
        }
        break;
    }
  }
  return {};
}

/// Resources of the arguments, and whether the kernel may write them.
void use_arguments(Pass& pass, const DispatchCommand& dispatch) {
  for (const KernelParameter& each : dispatch.pipeline->function->compiled->parameters) {
    const bool writes = !each.is_read_only && each.kind != KernelParameter::Kind::value;
    if (each.kind == KernelParameter::Kind::texture) {
      use(pass, dispatch.textures.at(each.index).get(), writes);
    } else if (each.kind == KernelParameter::Kind::buffer ||
               each.kind == KernelParameter::Kind::value) {
      const BufferBinding& binding = dispatch.buffers.at(each.index);
      if (binding.buffer) use(pass, binding.buffer.get(), writes);
    }
  }
}

void add_dispatch(ComputeEncoderObject& encoder, DispatchCommand dispatch) {
  std::string wrong = wrong_with(dispatch);
  if (wrong.empty()) wrong = missing_argument(dispatch);
  if (!wrong.empty()) {
    report_misuse(wrong);
    encoder.state.command_buffer->fail(MTL::CommandBufferErrorInternal, wrong);
    return;
  }
  use_arguments(encoder.state.pass, dispatch);
  dispatch.site = CallSite::here();
  encoder.state.pass.commands.emplace_back(std::move(dispatch));
}

void add_fence(Pass& pass, const MTL::Fence* fence, bool updates) {
  if (!is_usable(fence)) return;
  pass.commands.emplace_back(
      FenceCommand{static_cast<FenceObject*>(const_cast<MTL::Fence*>(fence)), updates});
}

/// True if the range is within the buffer.
bool fits(const BufferObject& buffer, std::size_t offset, std::size_t bytes, const char* call) {
  if (offset <= buffer.state.bytes && bytes <= buffer.state.bytes - offset) return true;
  report_misuse(fmt::format("{}: bytes {} to {} of a buffer of {}", call, offset, offset + bytes,
                            buffer.state.bytes));
  return false;
}

}  // namespace

ComputeEncoderObject::~ComputeEncoderObject() { check_destroyed(state); }
BlitEncoderObject::~BlitEncoderObject() { check_destroyed(state); }

}  // namespace rung::emu::metal_cpp

namespace MTL {

using namespace rung::emu::metal_cpp;

Device* CommandEncoder::device() const { return &rung::emu::metal_cpp::device(); }
NS::String* CommandEncoder::label() const {
  return ask<CommandEncoder>(this, [](const CommandEncoder& own) -> NS::String* {
    return autoreleased(new_string(state_of(const_cast<CommandEncoder&>(own)).pass.label));
  });
}
void CommandEncoder::setLabel(const NS::String* label) {
  ask<CommandEncoder>(this,
                      [&](CommandEncoder& own) { state_of(own).pass.label = text_of(label); });
}
void CommandEncoder::endEncoding() {
  ask<CommandEncoder>(this, [](CommandEncoder& own) {
    EncoderState& state = state_of(own);
    if (state.is_ended) return report_misuse("endEncoding has already been called");
    end(state);
  });
}

DispatchType ComputeCommandEncoder::dispatchType() const {
  return ask<ComputeEncoderObject>(this, [](const ComputeEncoderObject& own) {
    return own.state.pass.is_concurrent ? DispatchTypeConcurrent : DispatchTypeSerial;
  });
}
void ComputeCommandEncoder::setComputePipelineState(const ComputePipelineState* state) {
  encode_compute(this, [&](ComputeEncoderObject& own) {
    if (!is_usable(state)) return report_misuse("setComputePipelineState: the pipeline is nil");
    own.next.pipeline = static_cast<PipelineObject*>(const_cast<ComputePipelineState*>(state));
  });
}
void ComputeCommandEncoder::setBytes(const void* bytes, UInteger length, UInteger index) {
  encode_compute(this, [&](ComputeEncoderObject& own) {
    constexpr UInteger most = 4096;
    if (!is_index(index, most_buffers, "setBytes")) return;
    if (length > most || bytes == nullptr) {
      report_misuse(
          fmt::format("setBytes:length:atIndex:{}: length({}) must be <= {}; larger data need "
                      "a buffer",
                      index, length, most));
    }
    const auto* const from = static_cast<const std::byte*>(bytes);
    if (from != nullptr) own.next.buffers[index] = {{}, 0, {from, from + length}};
  });
}
void ComputeCommandEncoder::setBuffer(const Buffer* buffer, UInteger offset, UInteger index) {
  encode_compute(this, [&](ComputeEncoderObject& own) { set_buffer(own, buffer, offset, index); });
}
void ComputeCommandEncoder::setBufferOffset(UInteger offset, UInteger index) {
  encode_compute(this, [&](ComputeEncoderObject& own) {
    const auto found = own.next.buffers.find(index);
    if (found == own.next.buffers.end()) {
      return report_misuse(fmt::format("setBufferOffset: no buffer is set at index {}", index));
    }
    found->second.offset = offset;
  });
}
void ComputeCommandEncoder::setBuffers(const Buffer* const buffers[], const UInteger offsets[],
                                       NS::Range range) {
  for (UInteger i = 0; i < range.length; ++i) {
    setBuffer(buffers[i], offsets == nullptr ? 0 : offsets[i], range.location + i);
  }
}
void ComputeCommandEncoder::setTexture(const Texture* texture, UInteger index) {
  encode_compute(this, [&](ComputeEncoderObject& own) {
    if (!is_index(index, most_textures, "setTexture")) return;
    own.next.textures.erase(index);
    if (!is_usable(texture)) return;
    own.next.textures.emplace(index, static_cast<TextureObject*>(const_cast<Texture*>(texture)));
  });
}
void ComputeCommandEncoder::setTextures(const Texture* const textures[], NS::Range range) {
  for (UInteger i = 0; i < range.length; ++i) setTexture(textures[i], range.location + i);
}
void ComputeCommandEncoder::setSamplerState(const SamplerState* sampler, UInteger index) {
  encode_compute(this, [&](ComputeEncoderObject& own) {
    if (!is_index(index, most_samplers, "setSamplerState")) return;
    own.next.samplers.erase(index);
    if (!is_usable(sampler)) return;
    own.next.samplers.emplace(index,
                              static_cast<SamplerObject*>(const_cast<SamplerState*>(sampler)));
  });
}
void ComputeCommandEncoder::setSamplerStates(const SamplerState* const samplers[],
                                             NS::Range range) {
  for (UInteger i = 0; i < range.length; ++i) setSamplerState(samplers[i], range.location + i);
}
void ComputeCommandEncoder::setThreadgroupMemoryLength(UInteger length, UInteger index) {
  encode_compute(this, [&](ComputeEncoderObject& own) {
    if (!is_index(index, most_buffers, "setThreadgroupMemoryLength")) return;
    own.next.threadgroup_memory.at(index) = static_cast<std::int64_t>(length);
    own.next.threadgroup_lengths.insert(index);
  });
}
void ComputeCommandEncoder::dispatchThreadgroups(Size threadgroups, Size threads_per_threadgroup) {
  encode_compute(this, [&](ComputeEncoderObject& own) {
    DispatchCommand dispatch = own.next;
    dispatch.groups = threadgroups;
    dispatch.threads_per_group = threads_per_threadgroup;
    add_dispatch(own, std::move(dispatch));
  });
}
void ComputeCommandEncoder::dispatchThreadgroups(const Buffer* arguments, UInteger offset,
                                                 Size threads_per_threadgroup) {
  encode_compute(this, [&](ComputeEncoderObject& own_encoder) {
    BufferObject* const buffer = own(arguments);
    if (buffer == nullptr) return report_misuse("dispatchThreadgroups: the indirect buffer is nil");
    if (!fits(*buffer, offset, sizeof(DispatchThreadgroupsIndirectArguments),
              "dispatchThreadgroupsWithIndirectBuffer")) {
      return;
    }
    DispatchCommand dispatch = own_encoder.next;
    dispatch.indirect = {buffer, offset, {}};
    dispatch.threads_per_group = threads_per_threadgroup;
    use(own_encoder.state.pass, buffer, false);
    add_dispatch(own_encoder, std::move(dispatch));
  });
}
void ComputeCommandEncoder::dispatchThreads(Size threads, Size threads_per_threadgroup) {
  encode_compute(this, [&](ComputeEncoderObject& own) {
    const auto groups = [](UInteger all, UInteger each) {
      return each == 0 ? 0 : (all + each - 1) / each;
    };
    DispatchCommand dispatch = own.next;
    dispatch.groups = {groups(threads.width, threads_per_threadgroup.width),
                       groups(threads.height, threads_per_threadgroup.height),
                       groups(threads.depth, threads_per_threadgroup.depth)};
    dispatch.threads_per_group = threads_per_threadgroup;
    dispatch.threads = threads;
    add_dispatch(own, std::move(dispatch));
  });
}
void ComputeCommandEncoder::memoryBarrier(BarrierScope) {
  encode_compute(this, [](ComputeEncoderObject& own) {
    own.state.pass.commands.emplace_back(BarrierCommand{});
  });
}
void ComputeCommandEncoder::memoryBarrier(const Resource* const resources[], UInteger count) {
  encode_compute(this, [&](ComputeEncoderObject& own) {
    own.state.pass.commands.emplace_back(BarrierCommand{{resources, resources + count}});
  });
}
void ComputeCommandEncoder::updateFence(const Fence* fence) {
  encode_compute(this, [&](ComputeEncoderObject& own) { add_fence(own.state.pass, fence, true); });
}
void ComputeCommandEncoder::waitForFence(const Fence* fence) {
  encode_compute(this, [&](ComputeEncoderObject& own) { add_fence(own.state.pass, fence, false); });
}
void ComputeCommandEncoder::useResource(const Resource* resource, ResourceUsage usage) {
  encode_compute(this, [&](ComputeEncoderObject& own) {
    if (is_usable(resource)) use(own.state.pass, resource, (usage & ResourceUsageWrite) != 0);
  });
}
void ComputeCommandEncoder::useResources(const Resource* const resources[], UInteger count,
                                         ResourceUsage usage) {
  for (UInteger i = 0; i < count; ++i) useResource(resources[i], usage);
}
void ComputeCommandEncoder::useHeap(const Heap* heap) { is_usable(heap); }
void ComputeCommandEncoder::useHeaps(const Heap* const heaps[], UInteger count) {
  for (UInteger i = 0; i < count; ++i) useHeap(heaps[i]);
}

void BlitCommandEncoder::fillBuffer(const Buffer* buffer, NS::Range range, std::uint8_t value) {
  encode<BlitEncoderObject>(this, [&](BlitEncoderObject& encoder) {
    BufferObject* const filled = own(buffer);
    if (filled == nullptr) return report_misuse("fillBuffer: the buffer is nil");
    if (!fits(*filled, range.location, range.length, "fillBuffer") || range.length == 0) return;
    use(encoder.state.pass, filled, true);
    encoder.state.pass.commands.emplace_back(
        FillCommand{rung::emu::CallSite::here(), filled, range, value});
  });
}
void BlitCommandEncoder::copyFromBuffer(const Buffer* source, UInteger source_offset,
                                        const Buffer* destination, UInteger destination_offset,
                                        UInteger size) {
  encode<BlitEncoderObject>(this, [&](BlitEncoderObject& encoder) {
    BufferObject *const from = own(source), *const to = own(destination);
    if (from == nullptr || to == nullptr) return report_misuse("copyFromBuffer: a buffer is nil");
    const bool is_right = fits(*from, source_offset, size, "copyFromBuffer: source") &&
                          fits(*to, destination_offset, size, "copyFromBuffer: destination");
    if (!is_right || size == 0) return;
    use(encoder.state.pass, from, false);
    use(encoder.state.pass, to, true);
    encoder.state.pass.commands.emplace_back(
        CopyCommand{rung::emu::CallSite::here(), from, to, from->state.address + source_offset,
                    to->state.address + destination_offset, size});
  });
}
void BlitCommandEncoder::copyFromTexture(const Texture* source, const Texture* destination) {
  encode<BlitEncoderObject>(this, [&](BlitEncoderObject& encoder) {
    if (!is_usable(source) || !is_usable(destination)) {
      return report_misuse("copyFromTexture: a texture is nil");
    }
    auto& from = static_cast<TextureObject&>(const_cast<Texture&>(*source));
    auto& to = static_cast<TextureObject&>(const_cast<Texture&>(*destination));
    if (from.state.bytes != to.state.bytes || from.info.format != to.info.format) {
      return report_misuse("copyFromTexture: the textures have different sizes or formats");
    }
    use(encoder.state.pass, &from, false);
    use(encoder.state.pass, &to, true);
    encoder.state.pass.commands.emplace_back(CopyCommand{rung::emu::CallSite::here(), &from, &to,
                                                         from.state.address, to.state.address,
                                                         from.state.bytes});
  });
}
// Memory is unified: the CPU sees what the GPU has written.
void BlitCommandEncoder::synchronizeResource(const Resource* resource) { is_usable(resource); }
void BlitCommandEncoder::synchronizeTexture(const Texture* texture, UInteger, UInteger) {
  is_usable(texture);
}
void BlitCommandEncoder::updateFence(const Fence* fence) {
  encode<BlitEncoderObject>(this, [&](auto& own) { add_fence(own.state.pass, fence, true); });
}
void BlitCommandEncoder::waitForFence(const Fence* fence) {
  encode<BlitEncoderObject>(this, [&](auto& own) { add_fence(own.state.pass, fence, false); });
}

}  // namespace MTL
