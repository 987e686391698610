#pragma once
// Metal's objects.

#include <array>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include "Metal/Metal.hpp"
#include "core/temporary_folder.hpp"
#include "device/metal/descriptor.hpp"
#include "emu/compile/metal/library_json.hpp"
#include "emu/metal_cpp/objects.hpp"
#include "emu/metal_cpp/timeline.hpp"
#include "vgpu/model/device.hpp"

namespace rung::emu::metal_cpp {

inline constexpr const char* library_domain = "MTLLibraryErrorDomain";
inline constexpr const char* pipeline_domain = "AGXMetalG13X";
inline constexpr const char* command_buffer_domain = "MTLCommandBufferErrorDomain";

class QueueObject;
struct CommandBufferObject;
struct HeapObject;

struct DeviceObject final : MTL::Device {
  std::size_t allocated = 0;  // bytes of resources
};
/// The one device.
DeviceObject& device();
const vgpu::DeviceDescription& description();

/// The state that all resources have in common.
struct ResourceState {
  std::string label;
  MTL::ResourceOptions options = 0;
  Ref<HeapObject> heap;
  std::size_t heap_offset = 0, bytes = 0;
  std::uint64_t address = 0;
  bool is_aliasable = false;
  // Hazard tracking: the ends of the passes that wrote it last, and that have read it since.
  Points written, read;

  bool is_tracked() const { return (options & MTL::ResourceHazardTrackingModeUntracked) == 0; }
  MTL::StorageMode storage() const { return static_cast<MTL::StorageMode>(options >> 4 & 0xF); }
};

struct BufferObject final : MTL::Buffer {
  ~BufferObject() override;
  ResourceState state;
  std::function<void(void*, NS::UInteger)> deallocator;  // of memory that the program gave
  bool is_given = false;
};

struct TextureInfo {
  MTL::TextureType type = MTL::TextureType2D;
  MTL::PixelFormat format = MTL::PixelFormatRGBA8Unorm;
  std::size_t width = 1, height = 1, depth = 1, array_length = 1;
  MTL::TextureUsage usage = MTL::TextureUsageShaderRead;
};
struct TextureDescriptorObject final : MTL::TextureDescriptor {
  TextureInfo info;
  MTL::ResourceOptions options = 0;
};
struct TextureObject final : MTL::Texture {
  ~TextureObject() override;
  ResourceState state;  // of the texels: four elements of four bytes each
  TextureInfo info;
  std::uint64_t descriptor = 0;  // address of emu::metal::TextureDescriptor
};
struct SamplerObject final : MTL::SamplerState {
  std::uint32_t state = 0;  // emu/metal/texture.h
};
struct SamplerDescriptorObject final : MTL::SamplerDescriptor {
  std::uint32_t state = 0;
};

struct HeapDescriptorObject final : MTL::HeapDescriptor {
  std::size_t size = 0;
  MTL::ResourceOptions options = MTL::ResourceStorageModePrivate;
  MTL::HeapType type = MTL::HeapTypeAutomatic;
};
struct HeapObject final : MTL::Heap {
  ~HeapObject() override;
  std::string label;
  std::size_t size = 0, used = 0;
  MTL::ResourceOptions options = 0;
  MTL::HeapType type = MTL::HeapTypeAutomatic;
};

ResourceState& state_of(const MTL::Resource& resource);

struct FenceObject final : MTL::Fence {
  std::string label;
  Points updated;
};

/// The state that both kinds of events have in common.
struct EventState {
  std::string label;
  std::uint64_t value = 0;
  Points signalled;  // the GPU's work before the last signal
};
struct EventObject final : MTL::Event {
  EventState state;
};
struct SharedEventObject final : MTL::SharedEvent {
  EventState state;
  struct Listener {
    std::uint64_t value;
    MTL::SharedEventNotificationFunction function;
  };
  std::vector<Listener> listeners;
};
EventState& state_of(const MTL::Event& event);

struct CompileOptionsObject final : MTL::CompileOptions {
  Ref<NS::Dictionary> macros;
  bool fast_math = true;
  MTL::MathMode math_mode = MTL::MathModeFast;
  MTL::LanguageVersion version = MTL::LanguageVersion3_2;
};
struct FunctionConstantsObject final : MTL::FunctionConstantValues {
  std::map<std::string, std::string> values;  // C++ expressions by name or index
};

/// A library: the file that rung-metal compiles kernels from (emu/compile/metal/library_json.hpp).
struct LibraryObject final : MTL::Library {
  std::string label;
  std::filesystem::path file;
  std::unique_ptr<TemporaryFolder> folder;  // of the file, if it was made here
  std::vector<std::string> kernels;
  std::vector<metal::FunctionConstant> constants;
};

using KernelParameter = metal::LibraryParameter;

struct FunctionObject final : MTL::Function {
  Ref<LibraryObject> library;
  std::string label, name;
  std::map<std::string, std::string> constants;
  std::optional<metal::LibraryKernel> compiled;

  /// Compiles it at the first call. Throws std::runtime_error with the compiler's messages.
  const metal::LibraryKernel& compile();
};
struct FunctionDescriptorObject final : MTL::FunctionDescriptor {
  std::string name, specialized_name;
  Ref<FunctionConstantsObject> constants;
};
struct ArgumentEncoderObject final : MTL::ArgumentEncoder {
  KernelParameter parameter;
  Ref<BufferObject> buffer;
  std::size_t offset = 0;
};

struct PipelineDescriptorObject final : MTL::ComputePipelineDescriptor {
  std::string label;
  Ref<FunctionObject> function;
  bool is_multiple = false;
  std::size_t most_threads = 0;
};
struct PipelineObject final : MTL::ComputePipelineState {
  ~PipelineObject() override;
  std::string label;
  Ref<FunctionObject> function;
  cuda::Module module = nullptr;
  cuda::Function code = nullptr;
  std::size_t most_threads = 0, static_shared = 0;
};

/// The pipeline. Stores its reflection at `reflection`, unless that or the pipeline is null.
MTL::ComputePipelineState* with_reflection(
    MTL::ComputePipelineState* pipeline,
    const MTL::AutoreleasedComputePipelineReflection* reflection);

/// An entry of the table of buffer arguments.
struct BufferBinding {
  Ref<BufferObject> buffer;  // null for bytes
  std::size_t offset = 0;
  std::vector<std::byte> bytes;
};

// Commands of a pass, in the order of their encoding.
struct DispatchCommand {
  CallSite site;
  Ref<PipelineObject> pipeline;
  std::map<std::size_t, BufferBinding> buffers;
  std::map<std::size_t, Ref<TextureObject>> textures;
  std::map<std::size_t, Ref<SamplerObject>> samplers;
  rung::metal::ThreadgroupMemory threadgroup_memory{};
  std::set<std::size_t> threadgroup_lengths;  // indices with a length, which may be 0
  MTL::Size groups, threads_per_group;
  std::optional<MTL::Size> threads;  // of dispatchThreads
  BufferBinding indirect;            // of the number of threadgroups
};
struct FillCommand {
  CallSite site;
  Ref<BufferObject> buffer;
  NS::Range range;
  std::uint8_t value;
};
struct CopyCommand {
  CallSite site;
  Ref<NS::Object> keep_from, keep_to;
  std::uint64_t from, to;
  std::size_t bytes;
};
struct BarrierCommand {
  std::vector<const NS::Object*> resources;  // empty: all
};
struct FenceCommand {
  Ref<FenceObject> fence;
  bool updates = false;
};
using Command =
    std::variant<DispatchCommand, FillCommand, CopyCommand, BarrierCommand, FenceCommand>;

/// The work of one encoder.
struct Pass {
  CallSite site;
  std::string label;
  const char* what = "compute encoder";
  bool is_concurrent = false;
  std::vector<Command> commands;
  std::map<Ref<NS::Object>, bool> used;  // resources, and whether the pass may write them
};
struct EventCommand {
  CallSite site;
  Ref<NS::Object> event;
  std::uint64_t value = 0;
  bool signals = false;
};
using QueueCommand = std::variant<Pass, EventCommand>;

/// Encoders append to a pass of their command buffer.
struct EncoderState {
  Ref<CommandBufferObject> command_buffer;
  Pass pass;
  bool is_ended = false;
};
struct ComputeEncoderObject final : MTL::ComputeCommandEncoder {
  ~ComputeEncoderObject() override;
  EncoderState state;
  DispatchCommand next;  // the arguments of the next dispatch
};
struct BlitEncoderObject final : MTL::BlitCommandEncoder {
  ~BlitEncoderObject() override;
  EncoderState state;
};

struct CommandBufferObject final : MTL::CommandBuffer {
  ~CommandBufferObject() override;
  Ref<QueueObject> queue;
  std::string label;
  std::vector<QueueCommand> commands;
  std::size_t done = 0;                 // of the commands
  const NS::Object* encoder = nullptr;  // that is encoding
  MTL::CommandBufferStatus status = MTL::CommandBufferStatusNotEnqueued;
  std::vector<MTL::HandlerFunction> scheduled, completed;
  bool are_handlers_done = false;
  Points end;
  double start_time = 0, end_time = 0;
  NS::Integer error_code = 0;
  std::string error;

  void fail(NS::Integer code, std::string text);
};

class QueueObject final : public MTL::CommandQueue {
 public:
  QueueObject();
  ~QueueObject() override;
  std::string label;
  std::deque<Ref<CommandBufferObject>> pending;  // committed, and not completed
  Points end;                                    // of everything so far
  Points waits;                                  // of events, which later passes come after
};
std::vector<QueueObject*>& queues();

/// Runs what can run of all queues. Call it with the lock held.
void run_queues();
/// Runs the commands of a pass, and adds its end to `points`.
void run_pass(const Pass& pass, CommandBufferObject& owner, Points& points);
/// Notified whenever a command buffer or an event changes.
std::condition_variable_any& changes();

/// Names for reports.
class SiteScope {
 public:
  SiteScope(const CallSite& site, std::string name);
  ~SiteScope();
  SiteScope(const SiteScope&) = delete;
  SiteScope& operator=(const SiteScope&) = delete;
};
void set_up_reports();
/// "x", or "buffer at a.cpp:7": what the program calls the result of its call of `function`.
std::string name_of_result(const CallSite& site, const std::string& function, const char* what);

/// A function that runs in the thread of handlers.
void run_later(std::function<void()> function);

}  // namespace rung::emu::metal_cpp
