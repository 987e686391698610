// A loaded module: its variables in device memory, and its kernels, which are lowered at their
// first use.

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>

#include "vgpu/device_runtime.hpp"
#include "vgpu/engine/numbers/rounding.hpp"
#include "vgpu/launch.hpp"
#include "vgpu/lowering/call_stack.hpp"
#include "vgpu/lowering/expanded_instructions.hpp"
#include "vgpu/lowering/inline.hpp"
#include "vgpu/lowering/lower.hpp"
#include "vgpu/model/kernel.hpp"
#include "vgpu/native/translate.hpp"
#include "vgpu/ptx/parser.hpp"

namespace rung::vgpu {

struct Module::State {
  State(ptx::Module text_, std::string name_, DeviceMemory& memory_)
      : text(std::move(text_)), name(std::move(name_)), memory(memory_) {}
  ~State() {
    for (const auto& [variable, global] : globals) memory.free(global.address);
  }

  void allocate_globals(const Addresses& placed);
  void write_initial(const ptx::Variable& variable);
  std::optional<std::uint64_t> address_of(std::string_view symbol) const {
    const auto found = globals.find(symbol);
    if (found == globals.end()) return function_address(text, symbol);
    return found->second.address;
  }

  ptx::Module text;
  std::string name;
  DeviceMemory& memory;
  std::map<std::string, Global, std::less<>> globals;
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<Kernel>, std::less<>> kernels;
};

void Module::State::allocate_globals(const Addresses& placed) {
  const auto in_memory = [](const ptx::Variable& variable) {
    return (variable.space == ptx::Space::global || variable.space == ptx::Space::constant) &&
           variable.bytes() > 0;
  };
  std::vector<const ptx::Variable*> fresh;
  for (const ptx::Variable& variable : text.variables) {
    if (!in_memory(variable)) continue;
    const auto bytes = static_cast<std::size_t>(variable.bytes());
    const auto place = placed.find(variable.name);
    if (place == placed.end()) {
      globals[variable.name] = {memory.allocate(bytes, variable.name), bytes};
      fresh.push_back(&variable);
      continue;
    }
    const auto address = reinterpret_cast<std::uint64_t>(place->second);
    globals[variable.name] = {address, bytes};
    if (memory.find(address) != nullptr) continue;
    memory.adopt(place->second, bytes);
    fresh.push_back(&variable);
  }
  for (const ptx::Variable* variable : fresh) write_initial(*variable);
}

/// Writes the initial value. Variables without an initialiser are zero, as in C.
void Module::State::write_initial(const ptx::Variable& variable) {
  const Global& global = globals.at(variable.name);
  if (variable.initial.empty()) {  // fresh memory is zero, and not allocated until it is used
    Allocation* const allocation = memory.find(global.address);
    allocation->all_initialised = true;
    allocation->read_only = variable.space == ptx::Space::constant;
    return;
  }
  std::vector<std::uint8_t> contents = variable.initial;
  contents.resize(global.bytes);
  for (const ptx::Variable::Fixup& fixup : variable.fixups) {
    const auto target = address_of(fixup.symbol);
    if (!target) {
      throw std::invalid_argument(fmt::format("{}:{}: {} refers to '{}', which is not there", name,
                                              variable.line, variable.name, fixup.symbol));
    }
    const std::uint64_t address =
        (*target + static_cast<std::uint64_t>(fixup.offset)) >> fixup.shift;
    std::memcpy(contents.data() + fixup.at, &address, static_cast<std::size_t>(fixup.bytes));
  }
  memory.write(global.address, contents.data(), contents.size());
  memory.find(global.address)->read_only = variable.space == ptx::Space::constant;
}

Module::Module(std::unique_ptr<State> state) : state_(std::move(state)) {}
Module::~Module() = default;

std::unique_ptr<Module> Module::load(std::string_view ptx_text, std::string_view name,
                                     DeviceMemory& memory, const Addresses& placed) {
  const DefaultEnvironment environment;  // for parsing decimal constants
  ptx::Module text = ptx::parse(ptx_text, name);
  if (const std::string missing = missing_device_runtime(text); !missing.empty()) {
    text = ptx::parse(std::string(ptx_text) + missing, name);
  }
  expand_instructions(text, name);
  auto state = std::make_unique<State>(std::move(text), std::string(name), memory);
  state->allocate_globals(placed);
  return std::unique_ptr<Module>(new Module(std::move(state)));
}

std::vector<std::string> Module::kernel_names() const {
  std::vector<std::string> names;
  for (const ptx::Function& function : state_->text.functions) {
    if (function.entry) names.push_back(function.name);
  }
  return names;
}

const Kernel* Module::kernel(std::string_view name) {
  const std::lock_guard lock(state_->mutex);
  if (const auto known = state_->kernels.find(name); known != state_->kernels.end()) {
    return known->second.get();
  }
  const ptx::Function* function = state_->text.find(name);
  if (function == nullptr || !function->entry) return nullptr;
  const ptx::Function whole = inline_calls(state_->text, *function, state_->name);
  const auto lowered = [state = state_.get()](const ptx::Function& entry, bool tracks_loads) {
    const auto address = [&](std::string_view symbol) { return state->address_of(symbol); };
    return lower(state->text, entry, state->name, address, tracks_loads);
  };
  auto kernel = lowered(whole, false);
  if (!kernel->tracked_loads.empty()) {
    kernel->tracking.make = [state = state_.get(), function, lowered] {
      return lowered(inline_calls(state->text, *function, state->name), true);
    };
  }
  native::translate(*kernel);
  return (state_->kernels[std::string(name)] = std::move(kernel)).get();
}

const Kernel* Module::kernel_at(std::uint64_t address) {
  const std::vector<ptx::Function>& functions = state_->text.functions;
  const std::uint64_t index = (address - function_window) >> function_address_shift;
  const bool is_kernel =
      address >= function_window && index < functions.size() && functions[index].entry;
  return is_kernel ? kernel(functions[index].name) : nullptr;
}

std::optional<Module::Global> Module::global(std::string_view name) const {
  const auto found = state_->globals.find(name);
  if (found == state_->globals.end()) return std::nullopt;
  return found->second;
}

const ptx::Module& Module::text() const { return state_->text; }

}  // namespace rung::vgpu
