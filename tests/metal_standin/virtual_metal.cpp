#include "virtual_metal.hpp"

#include <fstream>
#include <iterator>
#include <new>
#include <string>
#include <string_view>

#include "backends/cuda/cuda.hpp"
#include "backends/metal/images.hpp"
#include "backends/metal/threadgroup_memory.hpp"
#include "core/kernel_error.hpp"
#include "standin.hpp"

namespace vgpu = rung::vgpu;

namespace metal_standin {
namespace {

/// The id of the rung with exactly this text; empty if no rung has it.
std::string_view rung_of(std::string_view source) {
  for (const rung::metal::Text& text : rung::metal::texts()) {
    if (text.text == source) return text.id;
  }
  return "";
}

std::string_view ptx_of(std::string_view rung) {
  for (const rung::metal::Image& image : rung::metal::images()) {
    if (image.id == rung) return image.ptx;
  }
  return "";
}

/// The compiler's error message; empty if the source compiles.
std::string compile(std::string_view source, const MTL::CompileOptions& options) {
  if (!faults().compiler_says.empty()) return faults().compiler_says;
  if (options.languageVersion() < MTL::LanguageVersion3_1) return "unknown type name 'bfloat'";
  if (options.fastMathEnabled()) return "the virtual GPU has no fast math";
  if (ptx_of(rung_of(source)).empty()) return "not a source that the virtual GPU has kernels of";
  return "";
}

}  // namespace

VirtualDevice::VirtualDevice()
    : description_(vgpu::parse_device("m1pro")),
      memory_(static_cast<std::size_t>(description_.memory_bytes)) {}

NS::String* VirtualDevice::name() const {
  return NS::String::string("stand-in for Metal", NS::UTF8StringEncoding);
}

bool VirtualDevice::supportsFamily(MTL::GPUFamily family) {
  return family <= MTL::GPUFamilyApple7 && !faults().old_device;
}

NS::UInteger VirtualDevice::maxThreadgroupMemoryLength() const { return 32768; }

MTL::CommandQueue* VirtualDevice::newCommandQueue() { return new_queue(NS::RetainPtr(this)); }

MTL::Buffer* VirtualDevice::newBuffer(NS::UInteger length, MTL::ResourceOptions /*options*/) {
  if (length == 0) misuse("a buffer of no bytes");
  try {
    return new VirtualBuffer(NS::RetainPtr(this), length);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

MTL::Library* VirtualDevice::newLibrary(const NS::String* source,
                                        const MTL::CompileOptions* options, NS::Error** error) {
  const std::string says = compile(source->utf8String(), *options);
  if (!says.empty()) {
    *error = NS::Error::saying("program_source:1:1: error: " + says);
    return nullptr;
  }
  return library_of(rung_of(source->utf8String()));
}

MTL::Library* VirtualDevice::newLibrary(const NS::URL* url, NS::Error** error) {
  std::ifstream file(url->fileSystemRepresentation());
  const std::string text(std::istreambuf_iterator<char>(file), {});
  if (!ptx_of(rung_of(text)).empty()) return library_of(rung_of(text));
  *error = NS::Error::saying("no library in the file");
  return nullptr;
}

MTL::Library* VirtualDevice::library_of(std::string_view rung) {
  return new VirtualLibrary(NS::RetainPtr(this), vgpu::Module::load(ptx_of(rung), rung, memory_));
}

MTL::ComputePipelineState* VirtualDevice::newComputePipelineState(const MTL::Function* function,
                                                                  NS::Error** /*error*/) {
  auto* const known = const_cast<MTL::Function*>(function);
  return new VirtualPipeline(NS::RetainPtr(static_cast<VirtualFunction*>(known)));
}

void VirtualDevice::launch(const VirtualFunction& function, vgpu::LaunchOptions options,
                           const rung::metal::ThreadgroupMemory& memory,
                           std::span<const std::byte> parameters) {
  rung::metal::lay_out(memory, function.library->module(), memory_, options);
  const vgpu::LaunchReport report =
      vgpu::launch(function.kernel, options, parameters, memory_, description_);
  rung::refuse_hazards(report, function.kernel);
  if (report.fault) throw rung::KernelError("the launch failed");
}

VirtualBuffer::VirtualBuffer(DevicePtr device, std::size_t bytes)
    : device_(std::move(device)), address_(device_->memory().allocate(bytes, "", true)) {}

VirtualLibrary::VirtualLibrary(DevicePtr device, std::unique_ptr<vgpu::Module> module)
    : device_(std::move(device)), module_(std::move(module)) {}

MTL::Function* VirtualLibrary::newFunction(const NS::String* name) {
  const vgpu::Kernel* const kernel = module_->kernel(name->utf8String());
  if (kernel == nullptr) return nullptr;
  return new VirtualFunction(NS::RetainPtr(this), *kernel);
}

NS::UInteger VirtualPipeline::maxTotalThreadsPerThreadgroup() const {
  return static_cast<NS::UInteger>(info().max_threads);
}

NS::UInteger VirtualPipeline::staticThreadgroupMemoryLength() const {
  return static_cast<NS::UInteger>(info().static_shared);
}

}  // namespace metal_standin

MTL::Device* MTL::CreateSystemDefaultDevice() {
  if (metal_standin::faults().no_device) return nullptr;
  return new metal_standin::VirtualDevice;
}
