#include "vgpu/ptx/module.hpp"

#include <algorithm>
#include <charconv>

#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu::ptx {

void Instruction::set_opcode(std::string_view word) {
  opcode = opcode_named(word);
  unknown_word = opcode == Opcode::unknown ? word : std::string_view();
}

std::string_view Instruction::word() const {
  return opcode == Opcode::unknown ? unknown_word : ptx::name(opcode);
}

std::string Instruction::mnemonic() const {
  std::string whole(word());
  for (const std::string& modifier : modifiers) whole.append(".").append(modifier);
  return whole;
}

bool Instruction::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

bool Instruction::is_load() const {
  return has(Fact::loads) || (opcode == Opcode::wmma && has("load"));
}

bool Instruction::is_store() const {
  return has(Fact::stores) || (opcode == Opcode::wmma && has("store"));
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
