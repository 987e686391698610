#include "vgpu/model/counters.hpp"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string_view>

#include "vgpu/ptx/module.hpp"

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

Counters& Counters::operator+=(const Counters& other) {
  global_load_requests += other.global_load_requests;
  global_load_sectors += other.global_load_sectors;
  global_store_requests += other.global_store_requests;
  global_store_sectors += other.global_store_sectors;
  shared_load_requests += other.shared_load_requests;
  shared_load_wavefronts += other.shared_load_wavefronts;
  shared_store_requests += other.shared_store_requests;
  shared_store_wavefronts += other.shared_store_wavefronts;
  ffma += other.ffma;
  instructions += other.instructions;
  barriers += other.barriers;
  divergent_branches += other.divergent_branches;
  thread_instructions += other.thread_instructions;
  branches += other.branches;
  global_atomics += other.global_atomics;
  shared_atomics += other.shared_atomics;
  local_load_requests += other.local_load_requests;
  local_store_requests += other.local_store_requests;
  issued_shared_load_requests += other.issued_shared_load_requests;
  issued_shared_load_wavefronts += other.issued_shared_load_wavefronts;
  issued_shared_store_requests += other.issued_shared_store_requests;
  issued_shared_store_wavefronts += other.issued_shared_store_wavefronts;
  bulk_loads += other.bulk_loads;
  bulk_load_bytes += other.bulk_load_bytes;
  bulk_load_sectors += other.bulk_load_sectors;
  bulk_load_lines += other.bulk_load_lines;
  bulk_stores += other.bulk_stores;
  bulk_store_bytes += other.bulk_store_bytes;
  bulk_store_sectors += other.bulk_store_sectors;
  bulk_store_lines += other.bulk_store_lines;
  bulk_shared_store_bytes += other.bulk_shared_store_bytes;
  bulk_shared_load_bytes += other.bulk_shared_load_bytes;
  tensor_multiply_adds += other.tensor_multiply_adds;
  wgmma_shared_load_bytes += other.wgmma_shared_load_bytes;
  wgmma_shared_load_wavefronts += other.wgmma_shared_load_wavefronts;
  return *this;
}

const char* name(InstrClass instr_class) {
  switch (instr_class) {
    case InstrClass::fp32: return "fp32";
    case InstrClass::fp64: return "fp64";
    case InstrClass::fp16: return "fp16";
    case InstrClass::integer: return "integer";
    case InstrClass::conversion: return "conversion";
    case InstrClass::logic: return "logic";
    case InstrClass::move: return "move";
    case InstrClass::special_function: return "special function";
    case InstrClass::matrix: return "matrix";
    case InstrClass::global_memory: return "global memory";
    case InstrClass::shared_memory: return "shared memory";
    case InstrClass::local_memory: return "local memory";
    case InstrClass::constant_memory: return "constant memory";
    case InstrClass::atomic: return "atomic";
    case InstrClass::async_copy: return "asynchronous copy";
    case InstrClass::control: return "control";
    case InstrClass::barrier: return "barrier";
    case InstrClass::warp: return "warp";
    case InstrClass::other: break;
  }
  return "other";
}

InstrClass classify(const ptx::Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  if (opcode == "wmma" && !instruction.has("mma")) return of_memory(instruction);
  if (is_memory(opcode)) return of_memory(instruction);
  if (is_arithmetic(opcode)) return of_arithmetic(instruction);
  const auto found = by_opcode.find(opcode);
  return found == by_opcode.end() ? InstrClass::other : found->second;
}

}  // namespace rung::vgpu
