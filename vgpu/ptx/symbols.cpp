#include "vgpu/ptx/symbols.hpp"

#include <fmt/format.h>

#include <utility>

namespace rung::vgpu::ptx {

bool Symbols::declare_global(std::string_view name) {
  globals_.insert(name);
  return symbols_.declare(name, {-1, 1, std::string(name)});
}

void Symbols::enter(Function& function) {
  function_ = &function;
  variables_.clear();
  open_scope();
}

void Symbols::leave() {
  close_scope();
  function_ = nullptr;
}

void Symbols::open_scope() {
  symbols_.open();
  ranges_.open();
}

void Symbols::close_scope() {
  symbols_.close();
  ranges_.close();
}

bool Symbols::declare_register(std::string_view name, Type type, int width) {
  const int first = static_cast<int>(function_->registers.size());
  if (!symbols_.declare(name, {first, width, {}})) return false;
  add_register(name, type, width);
  return true;
}

bool Symbols::declare_registers(std::string_view prefix, Type type, int width, std::int64_t count) {
  return ranges_.declare(prefix, {type, width, count, {}});
}

bool Symbols::declare_variable(std::string_view name, Variable& variable) {
  const int taken = variables_[name]++ + (globals_.contains(name) ? 1 : 0);
  if (taken > 0) variable.name = fmt::format("{}@{}", name, taken + 1);
  return symbols_.declare(name, {-1, 1, variable.name});
}

std::optional<Symbols::Symbol> Symbols::find(std::string_view name) {
  const ScopedMap<Symbol>::Entry* exact = symbols_.find(name);
  const Numbered numbered = find_numbered(name);
  if (numbered.range == nullptr || (exact != nullptr && exact->depth >= numbered.range->depth)) {
    return exact == nullptr ? std::nullopt : std::optional(exact->value);
  }
  Range& range = numbered.range->value;
  const auto [used, fresh] = range.used.try_emplace(numbered.number, 0);
  if (fresh) used->second = add_register(name, range.type, range.width);
  return Symbol{used->second, range.width, {}};
}

/// Finds the innermost range that contains `name`. %r12 may be number 12 of %r, or number 2 of %r1.
Symbols::Numbered Symbols::find_numbered(std::string_view name) {
  constexpr std::size_t max_digits = 8;
  Numbered found;
  std::int64_t number = 0, scale = 1;
  for (std::size_t digits = 1; digits <= max_digits && digits < name.size(); ++digits) {
    const char digit = name[name.size() - digits];
    if (digit < '0' || digit > '9') break;
    number += (digit - '0') * scale;
    scale *= 10;
    if (digit == '0' && digits > 1) continue;  // no leading zeros
    auto* range = ranges_.find(name.substr(0, name.size() - digits),
                               [&](const Range& r) { return number < r.count; });
    if (range == nullptr) continue;
    if (found.range == nullptr || range->depth > found.range->depth) found = {range, number};
  }
  return found;
}

/// Adds the registers of a declaration. Returns the index of the first.
int Symbols::add_register(std::string_view name, Type type, int width) {
  std::vector<Register>& registers = function_->registers;
  const int first = static_cast<int>(registers.size());
  if (width == 1) {
    registers.push_back({std::string(name), type});
    return first;
  }
  for (const char component : std::string_view("xyzw").substr(0, static_cast<std::size_t>(width))) {
    registers.push_back({fmt::format("{}.{}", name, component), type});
  }
  return first;
}

}  // namespace rung::vgpu::ptx
