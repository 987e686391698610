#include "vgpu/ptx/module.hpp"

#include <algorithm>
#include <charconv>

namespace rung::vgpu::ptx {

std::string Instruction::mnemonic() const {
  std::string whole = opcode;
  for (const std::string& modifier : modifiers) whole.append(".").append(modifier);
  return whole;
}

bool Instruction::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

std::int64_t Variable::bytes() const { return count * vector * size_of(type); }

const Function* Module::find(std::string_view function) const {
  const auto alias = std::find_if(aliases.begin(), aliases.end(),
                                  [&](const Alias& known) { return known.name == function; });
  const std::string_view wanted = alias == aliases.end() ? function : alias->target;
  const auto found = std::find_if(functions.begin(), functions.end(),
                                  [&](const Function& known) { return known.name == wanted; });
  return found == functions.end() ? nullptr : &*found;
}

Target target_of(const Module& module) {
  Target target;
  const char* end = module.target.data() + module.target.size();
  const char* begin = module.target.starts_with("sm_") ? module.target.data() + 3 : end;
  const auto [rest, error] = std::from_chars(begin, end, target.capability);
  target.exact = rest != end;
  return error == std::errc{} ? target : Target{};
}

}  // namespace rung::vgpu::ptx
