// Modules of PTX, their functions and variables.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "vgpu/driver/call.hpp"
#include "vgpu/driver/calls.hpp"
#include "vgpu/driver/resources.hpp"
#include "vgpu/ptx/parser.hpp"

namespace rung::vgpu::driver {
namespace {

constexpr std::string_view elf_magic =
    "\x7f"
    "ELF";
constexpr std::string_view fat_binary_magic = "\x50\xed\x55\xba";

/// The text of an image, which must be NUL-terminated PTX.
std::string_view text_of(const void* image) {
  const auto* bytes = static_cast<const char*>(image);
  if (std::strncmp(bytes, elf_magic.data(), elf_magic.size()) == 0 ||
      std::strncmp(bytes, fat_binary_magic.data(), fat_binary_magic.size()) == 0) {
    fail(Result::no_binary_for_gpu, "the virtual GPU runs PTX text: the image is machine code");
  }
  const std::string_view text = bytes;
  require(text.find(".version") != std::string_view::npos, Result::invalid_image,
          "the image is neither PTX text nor machine code");
  return text;
}

void require_target(const ptx::Module& text) {
  const DeviceDescription& device = process().device;
  const int capability = device.arch();
  const ptx::Target target = ptx::target_of(text);
  if (target.exact ? target.capability == capability : target.capability <= capability) return;
  fail(Result::invalid_ptx,
       fmt::format("the text is for {}, and the device is an sm_{}", text.target, capability));
}

template <class Load>
auto as_invalid_ptx(const Load& load) {
  try {
    return load();
  } catch (const ptx::ParseError& error) {
    fail(Result::invalid_ptx, error.what());
  } catch (const std::invalid_argument& error) {
    fail(Result::invalid_ptx, error.what());
  }
}

/// A module name for messages: "PTX of 02_shared_tile.cu", from the first source file in the text
/// that is not a header.
std::string name_of(std::string_view text) {
  std::string first;
  for (std::size_t at = text.find(".file"); at != text.npos; at = text.find(".file", at + 1)) {
    const std::size_t open = text.find('"', at);
    const std::size_t close = open == text.npos ? open : text.find('"', open + 1);
    if (close == text.npos) break;
    const std::filesystem::path path = text.substr(open + 1, close - open - 1);
    const std::string name = "PTX of " + path.filename().string();
    if (path.extension() == ".cu") return name;
    if (first.empty()) first = name;
  }
  return first.empty() ? "PTX text" : first;
}

void load(cuda::Module* module, const void* image, const vgpu::Module::Addresses& placed = {}) {
  ContextState& context = current_context();
  require_pointer(module);
  require(image != nullptr, Result::invalid_value, "the image is null");
  flush_printed(context);
  const std::string_view text = text_of(image);
  // Kernels for programmatic dependent launch, and variables that the host can access, too.
  ProgramOrder& order = process().order;
  if (text.find("griddepcontrol") != text.npos) order.raise(ProgramOrder::Level::all);
  if (!placed.empty()) order.raise(ProgramOrder::Level::host_memory);
  auto state = std::make_shared<ModuleState>();
  state->module = as_invalid_ptx(
      [&] { return vgpu::Module::load(text, name_of(text), context.memory, placed); });
  require_target(state->module->text());
  state->depends_on_memory_only = depends_on_memory_only(state->module->text());
  for (const auto& [name, address] : placed) {
    context.ranges[reinterpret_cast<std::uint64_t>(address)] = {Origin::managed,
                                                                cuda::attach_global};
  }
  *module = context.modules.add(std::move(state));
}

/// A log buffer of cuModuleLoadDataEx. The caller passes its size by value; the call replaces it
/// with the number of bytes written.
class Log {
 public:
  Log(JitOption buffer, JitOption size, unsigned count, const JitOption* options, void** values) {
    for (unsigned i = 0; i < count; ++i) {
      if (options[i] == buffer) text_ = static_cast<char*>(values[i]);
      if (options[i] == size) size_ = &values[i];
    }
  }
  void write(const std::string& message) const {
    if (size_ == nullptr) return;
    const auto room = static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(*size_));
    std::size_t written = 0;
    if (text_ != nullptr && room != 0) {
      written = std::min(message.size(), room - 1);
      std::memcpy(text_, message.data(), written);
      text_[written] = '\0';
    }
    *size_ = reinterpret_cast<void*>(static_cast<std::uintptr_t>(written));
  }

 private:
  char* text_ = nullptr;
  void** size_ = nullptr;
};

/// Module variables that the caller places in host memory. CUDA allows this only for variables
/// declared extern; the virtual driver also allows it for variables that the module defines.
vgpu::Module::Addresses placed_by(unsigned count, const JitOption* options, void** values) {
  void *names = nullptr, *addresses = nullptr;
  std::uintptr_t symbols = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == JitOption::global_symbol_names) names = values[i];
    if (options[i] == JitOption::global_symbol_addresses) addresses = values[i];
    if (options[i] == JitOption::global_symbol_count) {
      symbols = reinterpret_cast<std::uintptr_t>(values[i]);
    }
  }
  vgpu::Module::Addresses placed;
  require(symbols == 0 || (names != nullptr && addresses != nullptr), Result::invalid_value,
          "no names or no addresses of global symbols");
  for (std::uintptr_t i = 0; i < symbols; ++i) {
    placed[static_cast<const char**>(names)[i]] = static_cast<void**>(addresses)[i];
  }
  return placed;
}

int attribute_of(const FunctionState& function, FunctionAttribute attribute) {
  const KernelInfo& kernel = info(*function.kernel);
  const DeviceDescription& device = process().device;
  const auto module = function.module.lock();
  switch (attribute) {
    case FunctionAttribute::max_threads_per_block:
      return std::min(kernel.max_threads, device.max_threads_per_block);
    case FunctionAttribute::shared_size_bytes: return static_cast<int>(kernel.static_shared);
    case FunctionAttribute::const_size_bytes: return static_cast<int>(kernel.constant);
    case FunctionAttribute::local_size_bytes: return static_cast<int>(kernel.local);
    case FunctionAttribute::num_regs: return resources_of(function).registers;
    case FunctionAttribute::ptx_version:
      return module == nullptr ? 0 : target_of(module->module->text()).capability;
    case FunctionAttribute::binary_version: return device.arch();
    case FunctionAttribute::max_dynamic_shared_size_bytes:
      return static_cast<int>(function.max_dynamic_shared);
    case FunctionAttribute::preferred_shared_memory_carveout: return function.carveout;
    case FunctionAttribute::non_portable_cluster_size_allowed:
      return function.non_portable_cluster ? 1 : 0;
    case FunctionAttribute::required_cluster_width:
      return static_cast<int>(kernel.required_cluster[0]);
    case FunctionAttribute::required_cluster_height:
      return static_cast<int>(kernel.required_cluster[1]);
    case FunctionAttribute::required_cluster_depth:
      return static_cast<int>(kernel.required_cluster[2]);
    case FunctionAttribute::cache_mode_ca:
    case FunctionAttribute::cluster_size_must_be_set:
    case FunctionAttribute::cluster_scheduling_policy_preference: return 0;
  }
  fail(Result::invalid_value,
       fmt::format("the virtual GPU has no function attribute {}", static_cast<int>(attribute)));
}

void set_max_dynamic_shared(FunctionState& function, int value) {
  const KernelInfo& kernel = info(*function.kernel);
  const std::int64_t most = process().device.shared_per_block_optin - kernel.static_shared;
  if (value < 0 || value > most) {
    fail(Result::invalid_value, fmt::format("{}: {} bytes of dynamic shared memory: at most {}",
                                            kernel.name, value, most));
  }
  function.max_dynamic_shared = value;
}

FunctionState new_function(const Kernel& kernel, const std::shared_ptr<ModuleState>& module) {
  FunctionState function;
  function.kernel = &kernel;
  function.module = module;
  function.max_dynamic_shared =
      std::max<std::int64_t>(0, process().device.shared_per_block - info(kernel).static_shared);
  return function;
}

Function add_function(ContextState& context, cuda::Module handle,
                      const std::shared_ptr<ModuleState>& module, const char* name) {
  const Kernel* kernel = as_invalid_ptx([&] { return module->module->kernel(name); });
  if (kernel == nullptr) {
    fail(Result::not_found, fmt::format("the module has no kernel '{}'", name));
  }
  auto function = std::make_shared<FunctionState>(new_function(*kernel, module));
  function->module_handle = handle;
  return context.functions.add(std::move(function));
}

}  // namespace

std::shared_ptr<FunctionState> function_at(const std::shared_ptr<ModuleState>& module,
                                           std::uint64_t address) {
  const Kernel* kernel = as_invalid_ptx([&] { return module->module->kernel_at(address); });
  if (kernel == nullptr) {
    fail(Result::invalid_value, fmt::format("address {:#x} is no kernel of the module", address));
  }
  return std::make_shared<FunctionState>(new_function(*kernel, module));
}

Result cuModuleLoadData(Module* module, const void* image) {
  return call_driver([&] { load(module, image); });
}

/// Only the options for logs and symbols have an effect, because nothing is compiled.
Result cuModuleLoadDataEx(Module* module, const void* image, unsigned count, JitOption* options,
                          void** values) {
  return call_driver([&] {
    require(count == 0 || (options != nullptr && values != nullptr), Result::invalid_value,
            "the options are null");
    const Log errors(JitOption::error_log_buffer, JitOption::error_log_buffer_size_bytes, count,
                     options, values);
    const Log notes(JitOption::info_log_buffer, JitOption::info_log_buffer_size_bytes, count,
                    options, values);
    notes.write("");
    try {
      load(module, image, placed_by(count, options, values));
      errors.write("");
    } catch (const Failure& failure) {
      errors.write(failure.message);
      throw;
    }
  });
}

Result cuModuleUnload(Module module) {
  return call_context([&](ContextState& context) {
    process().pending.run_all();
    flush_printed(context);
    for (const auto& [name, function] : find_module(context, module)->functions) {
      context.functions.remove(function);
    }
    context.modules.remove(module);
  });
}

Result cuModuleGetFunction(Function* function, Module module, const char* name) {
  return call_context([&](ContextState& context) {
    require_pointer(function);
    require_pointer(name);
    const auto state = find_module(context, module);
    const auto known = state->functions.find(std::string_view(name));
    if (known != state->functions.end()) {
      *function = known->second;
      return;
    }
    *function = add_function(context, module, state, name);
    state->functions.emplace(name, *function);
  });
}

Result cuModuleGetGlobal(DevicePointer* pointer, std::size_t* bytes, Module module,
                         const char* name) {
  return call_context([&](ContextState& context) {
    require_pointer(name);
    require(pointer != nullptr || bytes != nullptr, Result::invalid_value,
            "both pointers for results are null");
    const auto global = find_module(context, module)->module->global(name);
    if (!global) fail(Result::not_found, fmt::format("the module has no variable '{}'", name));
    if (pointer != nullptr) *pointer = global->address;
    if (bytes != nullptr) *bytes = global->bytes;
  });
}

/// Register counts are estimates: the maximum number of PTX values alive at once.
Result cuFuncGetAttribute(int* value, FunctionAttribute attribute, Function function) {
  return call_context([&](ContextState& context) {
    require_pointer(value);
    *value = attribute_of(*find_function(context, function), attribute);
  });
}

Result cuFuncSetAttribute(Function function, FunctionAttribute attribute, int value) {
  return call_context([&](ContextState& context) {
    FunctionState& state = *find_function(context, function);
    switch (attribute) {
      case FunctionAttribute::max_dynamic_shared_size_bytes:
        return set_max_dynamic_shared(state, value);
      case FunctionAttribute::preferred_shared_memory_carveout:
        require(value >= -1 && value <= 100, Result::invalid_value,
                "carveout: -1, or 0 to 100 per cent");
        state.carveout = value;
        return;
      case FunctionAttribute::non_portable_cluster_size_allowed:
        require(value == 0 || value == 1, Result::invalid_value, "0 or 1");
        state.non_portable_cluster = value == 1;
        return;
      default: fail(Result::invalid_value, "the attribute cannot be set");
    }
  });
}

Result cuFuncSetCacheConfig(Function function, CacheConfig config) {
  return call_context([&](ContextState& context) {
    require(config >= CacheConfig::prefer_none && config <= CacheConfig::prefer_equal,
            Result::invalid_value, "not a cache configuration");
    find_function(context, function)->cache_config = config;
  });
}

Result cuFuncGetModule(Module* module, Function function) {
  return call_context([&](ContextState& context) {
    require_pointer(module);
    *module = find_function(context, function)->module_handle;
  });
}

}  // namespace rung::vgpu::driver
