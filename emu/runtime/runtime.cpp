#include "emu/runtime/runtime.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cstring>
#include <functional>

#include "emu/runtime/locate.hpp"
#include "emu/runtime/memory_history.hpp"
#include "emu/runtime/report.hpp"

namespace rung::emu {
namespace {

thread_local unsigned entered_generation = 0;

constexpr cuda::Device the_device = 0;

/// clang's name of something static. nvcc names a kernel as if it were not static ("_Z1kPi" for
/// "_ZL1kPi"), and leaves a variable's name unmangled ("x" for "_ZL1x").
bool is_static(const std::string& symbol) { return symbol.starts_with("_ZL"); }

/// Each device link of a program registers the kernels and variables of all objects. Where there are
/// several, that one has them whose text names them.
bool has_name(const Image& image, const char* name) {
  const std::size_t length = std::strlen(name);
  for (const char* at = image.ptx; (at = std::strstr(at, name)) != nullptr; at += length) {
    const char next = at[length];
    if (at[-1] == ' ' && std::isalnum(static_cast<unsigned char>(next)) == 0 && next != '_') {
      return true;
    }
  }
  return false;
}

}  // namespace

Runtime& Runtime::get() {
  static Runtime& runtime = *new Runtime;
  return runtime;
}

Image* Runtime::add_image(const char* ptx) {
  const std::lock_guard lock(mutex_);
  images_.push_back(std::make_unique<Image>(ptx));
  return images_.back().get();
}

void Runtime::remove_image(Image* image) {
  const std::lock_guard lock(mutex_);
  std::erase_if(kernels_, [&](const auto& entry) { return entry.second.image == image; });
  std::erase_if(variables_, [&](const auto& entry) { return entry.second.image == image; });
  std::erase_if(images_, [&](const auto& candidate) { return candidate.get() == image; });
}

void Runtime::add_kernel(const void* stub, Image* image, const char* name) {
  const std::lock_guard lock(mutex_);
  if (kernels_.contains(stub) && !has_name(*image, name)) return;
  kernels_[stub] = {image, name};
}

void Runtime::add_variable(void* shadow, Image* image, const char* name) {
  const std::lock_guard lock(mutex_);
  if (variables_.contains(shadow) && !has_name(*image, name)) return;
  variables_[shadow] = {image, name};
  for (const auto& [begin, end] : managed_ranges_) {
    if (std::less<const void*>()(shadow, begin) || !std::less<const void*>()(shadow, end)) continue;
    image->managed_names.emplace_back(name);
    image->managed_addresses.push_back(shadow);
    return;
  }
}

void Runtime::add_managed_range(const void* begin, const void* end) {
  const std::lock_guard lock(mutex_);
  managed_ranges_.emplace_back(begin, end);
}

void Runtime::start_managed(Image& image) {
  if (image.managed_names.empty() || enter() != cuda::Result::success) return;
  const std::lock_guard lock(mutex_);
  cuda::Module module = nullptr;
  load(image, module);
}

cuda::Result Runtime::enter() {
  const std::lock_guard lock(mutex_);
  if (entered_generation == generation_) return cuda::Result::success;
  const cuda::DriverApi& api = driver();
  if (const auto result = api.cuInit(0); result != cuda::Result::success) return result;
  // Another context that the program has made current is the runtime's too.
  static cuda::Context primary = nullptr;
  cuda::Context context = nullptr;
  const bool has_current = api.cuCtxGetCurrent(&context) == cuda::Result::success;
  if (has_current && context != nullptr && context != primary) return cuda::Result::success;
  if (const auto result = api.cuDevicePrimaryCtxRetain(&context, the_device);
      result != cuda::Result::success) {
    return result;
  }
  primary = context;
  const cuda::Result result = api.cuCtxSetCurrent(context);
  if (result == cuda::Result::success) entered_generation = generation_;
  return result;
}

cuda::Result Runtime::reset() {
  forget_context();
  return driver().cuDevicePrimaryCtxReset(the_device);
}

void Runtime::forget_context() {
  const std::lock_guard lock(mutex_);
  for (const auto& image : images_) image->modules.fill(nullptr);
  for (auto& [stub, kernel] : kernels_) kernel.functions.fill(nullptr);
  allocations_.clear();
  is_lost_ = false;
  ++generation_;
}

extern "C" __attribute__((visibility("default"))) void rung_emu_forget_context() {
  clear_last_error();
  Runtime::get().forget_context();
}

cuda::Result Runtime::load(Image& image, cuda::Module& module) {
  cuda::Module& loaded = image.modules[static_cast<std::size_t>(current_device())];
  module = loaded;
  if (module != nullptr) return cuda::Result::success;
  std::array<char, 4096> log{};
  std::vector<const char*> names;
  for (const std::string& name : image.managed_names) names.push_back(name.c_str());
  std::array options = {
      cuda::JitOption::error_log_buffer, cuda::JitOption::error_log_buffer_size_bytes,
      cuda::JitOption::global_symbol_names, cuda::JitOption::global_symbol_addresses,
      cuda::JitOption::global_symbol_count};
  std::array<void*, 5> values = {log.data(), reinterpret_cast<void*>(log.size() - 1), names.data(),
                                 image.managed_addresses.data(),
                                 reinterpret_cast<void*>(names.size())};
  // NVIDIA's driver cannot place variables, so it gets the list only if the module has managed variables.
  const unsigned count = names.empty() ? 2 : static_cast<unsigned>(options.size());
  const cuda::Result result =
      driver().cuModuleLoadDataEx(&loaded, image.ptx, count, options.data(), values.data());
  if (result != cuda::Result::success && !image.is_broken) {
    image.is_broken = true;
    report_failure(log.data());
  }
  module = loaded;
  return result;
}

std::string Runtime::kernel_name(const void* stub) const {
  const std::lock_guard lock(mutex_);
  const auto found = kernels_.find(stub);
  return found == kernels_.end() ? std::string() : found->second.name;
}

const char* Runtime::stable_kernel_name(const void* stub) const {
  const std::lock_guard lock(mutex_);
  const auto found = kernels_.find(stub);
  return found == kernels_.end() ? nullptr : found->second.name.c_str();
}

cudaError_t Runtime::find_kernel(const void* stub, cuda::Function& function) {
  const std::lock_guard lock(mutex_);
  const auto found = kernels_.find(stub);
  if (found == kernels_.end()) return cudaErrorInvalidDeviceFunction;
  KernelEntry& kernel = found->second;
  cuda::Function& known = kernel.functions[static_cast<std::size_t>(current_device())];
  if (known == nullptr) {
    cuda::Module module = nullptr;
    if (const auto result = load(*kernel.image, module); result != cuda::Result::success) {
      return to_error(result);
    }
    cuda::Result result = driver().cuModuleGetFunction(&known, module, kernel.name.c_str());
    if (result == cuda::Result::not_found && is_static(kernel.name)) {
      const std::string name = "_Z" + kernel.name.substr(3);
      result = driver().cuModuleGetFunction(&known, module, name.c_str());
    }
    if (result != cuda::Result::success && !kernel.is_broken) {
      kernel.is_broken = true;
      report_failure(fmt::format("{}: {}", kernel.name, driver_message()));
    }
    if (result == cuda::Result::not_found) return cudaErrorInvalidDeviceFunction;
    if (result != cuda::Result::success) return to_error(result);
  }
  function = known;
  return cudaSuccess;
}

cudaError_t Runtime::find_variable(const void* shadow, cuda::DevicePointer& address,
                                   std::size_t& bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = variables_.find(shadow);
  if (found == variables_.end()) return cudaErrorInvalidSymbol;
  const VariableEntry& variable = found->second;
  cuda::Module module = nullptr;
  if (const auto result = load(*variable.image, module); result != cuda::Result::success) {
    return to_error(result);
  }
  cuda::Result result = driver().cuModuleGetGlobal(&address, &bytes, module, variable.name.c_str());
  if (result == cuda::Result::not_found && is_static(variable.name)) {
    const std::string name = variable.name.substr(variable.name.find_first_not_of("0123456789", 3));
    result = driver().cuModuleGetGlobal(&address, &bytes, module, name.c_str());
  }
  // The compiler removed a variable that no kernel uses.
  return result == cuda::Result::not_found ? cudaErrorInvalidSymbol : to_error(result);
}

std::string Runtime::variable_name(const void* shadow) const {
  const std::lock_guard lock(mutex_);
  const auto found = variables_.find(shadow);
  return found == variables_.end() ? "" : found->second.name;
}

void Runtime::add_allocation(const void* pointer, std::size_t bytes, const char* call) {
  auto [file, line] = take_file_and_line();
  if (!uses_given_driver()) {
    note_allocated(pointer, bytes, call, CallSite::here(file, line));
  }
  const std::lock_guard lock(mutex_);
  allocations_[pointer] = {bytes, call, std::move(file), line, current_device()};
}

void Runtime::remove_allocation(const void* pointer) {
  const std::lock_guard lock(mutex_);
  allocations_.erase(pointer);
}

int Runtime::device_of(const void* pointer) const {
  const std::lock_guard lock(mutex_);
  auto behind = allocations_.upper_bound(pointer);
  if (behind == allocations_.begin()) return 0;
  const auto& [start, allocation] = *std::prev(behind);
  const auto offset = static_cast<const char*>(pointer) - static_cast<const char*>(start);
  return static_cast<std::size_t>(offset) < allocation.bytes ? allocation.device : 0;
}

std::vector<LiveAllocation> Runtime::live_allocations() const {
  const std::lock_guard lock(mutex_);
  std::vector<LiveAllocation> live;
  for (const auto& [pointer, allocation] : allocations_) live.push_back(allocation);
  return live;
}

}  // namespace rung::emu
