#include "vgpu/program/instruction_class.hpp"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string_view>

namespace rung::vgpu {
namespace {

// Looks only at the first word. Classes that depend on a type or state space are not here.
const std::map<std::string_view, InstrClass> by_opcode = {
    {"and", InstrClass::logic},
    {"or", InstrClass::logic},
    {"xor", InstrClass::logic},
    {"not", InstrClass::logic},
    {"cnot", InstrClass::logic},
    {"lop3", InstrClass::logic},
    {"shl", InstrClass::logic},
    {"shr", InstrClass::logic},
    {"shf", InstrClass::logic},
    {"bfe", InstrClass::logic},
    {"bfi", InstrClass::logic},
    {"bfind", InstrClass::logic},
    {"brev", InstrClass::logic},
    {"clz", InstrClass::logic},
    {"popc", InstrClass::logic},
    {"fns", InstrClass::logic},
    {"bmsk", InstrClass::logic},
    {"szext", InstrClass::logic},
    {"mov", InstrClass::move},
    {"selp", InstrClass::move},
    {"slct", InstrClass::move},
    {"prmt", InstrClass::move},
    {"cvt", InstrClass::conversion},
    {"cvta", InstrClass::move},
    {"isspacep", InstrClass::move},
    {"mapa", InstrClass::move},
    {"getctarank", InstrClass::move},
    {"sin", InstrClass::special_function},
    {"cos", InstrClass::special_function},
    {"lg2", InstrClass::special_function},
    {"ex2", InstrClass::special_function},
    {"tanh", InstrClass::special_function},
    {"rcp", InstrClass::special_function},
    {"sqrt", InstrClass::special_function},
    {"rsqrt", InstrClass::special_function},
    {"mma", InstrClass::matrix},
    {"wmma", InstrClass::matrix},
    {"wgmma", InstrClass::matrix},
    {"movmatrix", InstrClass::matrix},
    {"ldmatrix", InstrClass::shared_memory},
    {"stmatrix", InstrClass::shared_memory},
    {"atom", InstrClass::atomic},
    {"red", InstrClass::atomic},
    {"cp", InstrClass::async_copy},
    {"bra", InstrClass::control},
    {"brx", InstrClass::control},
    {"call", InstrClass::control},
    {"ret", InstrClass::control},
    {"exit", InstrClass::control},
    {"trap", InstrClass::control},
    {"brkpt", InstrClass::control},
    {"nanosleep", InstrClass::control},
    {"bar", InstrClass::barrier},
    {"barrier", InstrClass::barrier},
    {"mbarrier", InstrClass::barrier},
    {"membar", InstrClass::barrier},
    {"fence", InstrClass::barrier},
    {"griddepcontrol", InstrClass::barrier},
    {"shfl", InstrClass::warp},
    {"vote", InstrClass::warp},
    {"match", InstrClass::warp},
    {"redux", InstrClass::warp},
    {"activemask", InstrClass::warp},
    {"elect", InstrClass::warp},
};

bool is_arithmetic(std::string_view opcode) {
  for (const std::string_view known :
       {"add", "sub", "mul",  "mad",   "mul24", "mad24", "sad",     "div",
        "rem", "abs", "neg",  "min",   "max",   "addc",  "subc",    "madc",
        "fma", "set", "setp", "testp", "dp4a",  "dp2a",  "copysign"}) {
    if (opcode == known) return true;
  }
  return false;
}

/// The type of an arithmetic instruction: the last one written, except for `set`, where that is the
/// source type.
InstrClass of_arithmetic(const ptx::Instruction& instruction) {
  const std::string_view type =
      instruction.modifiers.empty() ? std::string_view() : instruction.modifiers.back();
  if (type.starts_with("f16") || type.starts_with("bf16")) return InstrClass::fp16;
  if (type.starts_with("f32")) return InstrClass::fp32;
  return type == "f64" ? InstrClass::fp64 : InstrClass::integer;
}

bool has_space(const ptx::Instruction& instruction, std::string_view space) {
  return std::any_of(
      instruction.modifiers.begin(), instruction.modifiers.end(), [&](std::string_view modifier) {
        return modifier == space ||
               (modifier.starts_with(space) && modifier.substr(space.size(), 2) == "::");
      });
}

/// A generic access counts as a global one.
InstrClass of_memory(const ptx::Instruction& instruction) {
  if (has_space(instruction, "shared")) return InstrClass::shared_memory;
  if (has_space(instruction, "local")) return InstrClass::local_memory;
  if (has_space(instruction, "const") || has_space(instruction, "param")) {
    return InstrClass::constant_memory;
  }
  return InstrClass::global_memory;
}

bool is_memory(std::string_view opcode) {
  return opcode == "ld" || opcode == "ldu" || opcode == "st" || opcode == "prefetch" ||
         opcode == "prefetchu" || opcode == "discard" || opcode == "applypriority" ||
         opcode == "multimem" || opcode == "tex" || opcode == "suld" || opcode == "sust";
}

}  // namespace

InstrClass classify(const ptx::Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  if (opcode == "wmma" && !instruction.has("mma")) return of_memory(instruction);
  if (is_memory(opcode)) return of_memory(instruction);
  if (is_arithmetic(opcode)) return of_arithmetic(instruction);
  const auto found = by_opcode.find(opcode);
  return found == by_opcode.end() ? InstrClass::other : found->second;
}

}  // namespace rung::vgpu
