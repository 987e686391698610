#include "backends/metal/apple/apple_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>
#include <utility>

#include "backends/metal/apple/apple_gpu.hpp"
#include "backends/metal/apple/objects.hpp"
#include "backends/metal/images.hpp"
#include "core/integers.hpp"
#include "core/kernel_error.hpp"

namespace rung::metal {
namespace {

/// Rounds bytes of threadgroup memory up to its granularity.
constexpr std::int64_t whole_units(std::int64_t bytes) { return round_up(bytes, 16); }

MTL::Size size(const Size3& of) {
  return MTL::Size::Make(static_cast<NS::UInteger>(of.x), static_cast<NS::UInteger>(of.y),
                         static_cast<NS::UInteger>(of.z));
}

/// Memory shared by CPU and GPU.
class AppleBuffer final : public Buffer {
 public:
  explicit AppleBuffer(NS::SharedPtr<MTL::Buffer> buffer) : buffer_(std::move(buffer)) {}

  void write(std::int64_t offset, const void* from, std::int64_t bytes) override {
    std::copy_n(static_cast<const std::byte*>(from), bytes, at(offset));
  }
  void read(void* to, std::int64_t offset, std::int64_t bytes) const override {
    std::copy_n(at(offset), bytes, static_cast<std::byte*>(to));
  }

  const MTL::Buffer& buffer() const { return *buffer_.get(); }

 private:
  std::byte* at(std::int64_t offset) const {
    return static_cast<std::byte*>(buffer_->contents()) + offset;
  }

  NS::SharedPtr<MTL::Buffer> buffer_;
};

struct ApplePipeline final : Pipeline {
  std::string kernel;
  NS::SharedPtr<MTL::ComputePipelineState> state;
};

const Text* find_text(std::string_view rung) {
  const auto all = texts();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Text& text) { return text.id == rung; });
  return found == all.end() ? nullptr : &*found;
}

NS::SharedPtr<MTL::CompileOptions> compile_options() {
  auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  options->setLanguageVersion(MTL::LanguageVersion3_1);  // first version with bfloat
  options->setFastMathEnabled(false);                    // propagate NaN and infinity
  return options;
}

/// Checks limits that depend on the kernel: one with many registers supports fewer threads.
void check_launch(const ApplePipeline& pipeline, const Launch& launch, std::int64_t max_bytes) {
  const auto most = static_cast<std::int64_t>(pipeline.state->maxTotalThreadsPerThreadgroup());
  if (launch.threads.count() > most) {
    throw KernelError(
        fmt::format("{}: a threadgroup of {} threads; of this kernel it can have at most {}",
                    pipeline.kernel, launch.threads.count(), most));
  }
  auto bytes = static_cast<std::int64_t>(pipeline.state->staticThreadgroupMemoryLength());
  for (const std::int64_t argument : launch.threadgroup_memory) bytes += whole_units(argument);
  if (bytes > max_bytes) {
    throw KernelError(fmt::format("{}: {} bytes of threadgroup memory; this GPU has {}",
                                  pipeline.kernel, bytes, max_bytes));
  }
}

}  // namespace

AppleDevice::AppleDevice(NS::SharedPtr<MTL::Device> device, std::string compiled)
    : device_(std::move(device)),
      compiled_(std::move(compiled)),
      nothing_(allocate(1)),
      queue_(*device_.get()) {}

std::string AppleDevice::describe() const {
  const auto pool = autorelease_pool();
  return device_->name()->utf8String();
}

// Metal does not report the cache size. No system-level cache so far is larger than this, so larger
// operands are read from memory on every device.
std::int64_t AppleDevice::cache_bytes() const { return std::int64_t{96} << 20; }

std::string AppleDevice::code(std::string_view rung) const {
  if (find_text(rung) == nullptr) return "";
  return compiled_.empty() ? "source, which Metal compiles" : "metallib of " + compiled_;
}

// Kernels count threads with 32 bits.
std::optional<std::string> AppleDevice::why_not(const Launch& launch) const {
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  const auto fits = [](std::int64_t groups, std::int64_t threads) {
    return groups <= most / threads;
  };
  const auto& [groups, threads, bytes] = launch;
  if (fits(groups.x, threads.x) && fits(groups.y, threads.y) && fits(groups.z, threads.z)) {
    return std::nullopt;
  }
  return fmt::format("{}x{}x{} threadgroups of {}x{}x{} threads; Metal has at most {} each way",
                     groups.x, groups.y, groups.z, threads.x, threads.y, threads.z, most);
}

std::unique_ptr<Buffer> AppleDevice::allocate(std::int64_t bytes) {
  // Metal guarantees no alignment, but multiples of the page size are page-aligned.
  constexpr std::int64_t page = 16384;
  auto buffer = NS::TransferPtr(device_->newBuffer(static_cast<NS::UInteger>(round_up(bytes, page)),
                                                   MTL::ResourceStorageModeShared));
  if (!buffer) throw std::bad_alloc();
  return std::make_unique<AppleBuffer>(std::move(buffer));
}

NS::SharedPtr<MTL::Library> AppleDevice::compile(const Text& rung) {
  NS::Error* error = nullptr;
  auto library = NS::TransferPtr(
      device_->newLibrary(to_ns(std::string(rung.text)), compile_options().get(), &error));
  if (!library) {
    throw KernelError(fmt::format("{} does not compile: {}", rung.id, message_of(error)));
  }
  return library;
}

NS::SharedPtr<MTL::Library> AppleDevice::load(const Text& rung) {
  std::string name(rung.id);
  std::replace(name.begin(), name.end(), '/', '_');
  const std::string path = fmt::format("{}/{}.metallib", compiled_, name);
  NS::Error* error = nullptr;
  auto library =
      NS::TransferPtr(device_->newLibrary(NS::URL::fileURLWithPath(to_ns(path)), &error));
  if (!library) throw KernelError(fmt::format("{}: {}", path, message_of(error)));
  return library;
}

MTL::Library& AppleDevice::library(std::string_view rung) {
  const auto found = libraries_.find(rung);
  if (found != libraries_.end()) return *found->second.get();
  const Text* const text = find_text(rung);
  if (text == nullptr) throw KernelError(fmt::format("{}: no such rung", rung));
  auto library = compiled_.empty() ? compile(*text) : load(*text);
  return *libraries_.emplace(rung, std::move(library)).first->second.get();
}

Pipeline& AppleDevice::pipeline(std::string_view rung, const std::string& kernel) {
  const std::lock_guard lock(mutex_);
  const auto pool = autorelease_pool();
  std::unique_ptr<Pipeline>& known = pipelines_[kernel];
  if (known != nullptr) return *known;
  const auto function = NS::TransferPtr(library(rung).newFunction(to_ns(kernel)));
  if (!function) throw KernelError(fmt::format("{}: no such kernel", kernel));
  NS::Error* error = nullptr;
  auto made = std::make_unique<ApplePipeline>();
  made->kernel = kernel;
  made->state = NS::TransferPtr(device_->newComputePipelineState(function.get(), &error));
  if (!made->state) throw KernelError(fmt::format("{}: {}", kernel, message_of(error)));
  known = std::move(made);
  return *known;
}

void AppleDevice::dispatch(Pipeline& pipeline, const Launch& launch,
                           std::span<const Argument> arguments, int /*threads*/) {
  const auto& [kernel, state] = static_cast<const ApplePipeline&>(pipeline);
  check_launch(static_cast<const ApplePipeline&>(pipeline), launch,
               static_cast<std::int64_t>(device_->maxThreadgroupMemoryLength()));
  const std::lock_guard lock(mutex_);
  MTL::ComputeCommandEncoder& encoder = queue_.next_dispatch(kernel);
  encoder.setComputePipelineState(state.get());
  for (NS::UInteger i = 0; i < arguments.size(); ++i) {
    const auto& [bytes, buffer, offset] = arguments[i];
    if (!bytes.empty()) {
      encoder.setBytes(bytes.data(), bytes.size(), i);
    } else {
      const Buffer& bound = buffer == nullptr ? *nothing_ : *buffer;
      encoder.setBuffer(&static_cast<const AppleBuffer&>(bound).buffer(),
                        static_cast<NS::UInteger>(offset), i);
    }
  }
  for (NS::UInteger i = 0; i < launch.threadgroup_memory.size(); ++i) {
    const std::int64_t length = whole_units(launch.threadgroup_memory[i]);
    if (length > 0) encoder.setThreadgroupMemoryLength(static_cast<NS::UInteger>(length), i);
  }
  encoder.dispatchThreadgroups(size(launch.threadgroups), size(launch.threads));
}

void AppleDevice::set_to_zero(Buffer& buffer, std::int64_t offset, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  queue_.fill_with_zeros(
      static_cast<const AppleBuffer&>(buffer).buffer(),
      NS::Range::Make(static_cast<NS::UInteger>(offset), static_cast<NS::UInteger>(bytes)));
}

void AppleDevice::wait() {
  const std::lock_guard lock(mutex_);
  queue_.wait();
}

std::optional<double> AppleDevice::seconds() const { return queue_.seconds(); }

AppleGpu open_apple_gpu() {
  const auto pool = autorelease_pool();
  auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  if (!device) return {nullptr, "no device of Metal"};
  // The first family with simdgroup_matrix. It supports 32 KiB and 1024 threads per threadgroup.
  if (!device->supportsFamily(MTL::GPUFamilyApple7)) {
    return {nullptr, fmt::format("{} is no GPU of Apple's family 7 (M1) or later",
                                 device->name()->utf8String())};
  }
  const char* const compiled = std::getenv("RUNG_METALLIBS");
  return {std::make_unique<AppleDevice>(std::move(device), compiled == nullptr ? "" : compiled),
          ""};
}

}  // namespace rung::metal
