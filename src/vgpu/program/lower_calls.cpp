// Calls that are left after inlining: to functions that the device runtime provides.

#include <fmt/format.h>

#include "vgpu/engine/external.hpp"
#include "vgpu/program/lowering.hpp"

namespace rung::vgpu {

void Lowering::lower_call(const Instruction& instruction) {
  ExternalCall call;
  call.site = site_;
  std::string name;
  bool before_name = true;
  for (const Operand& operand : instruction.operands) {
    if (operand.kind == Operand::Kind::tuple) {
      for (const Operand& element : operand.elements) {
        const auto offset = static_cast<std::uint32_t>(address_of(instruction, element.name));
        if (before_name) {
          call.result = offset;
          call.has_result = true;
        } else {
          call.arguments.push_back(offset);
        }
      }
    } else if (before_name) {
      name = operand.name;
      before_name = false;
    }
  }
  const std::optional<ExternalFunction> function = external_function(name);
  if (!function) {
    fail(instruction,
         fmt::format("calls '{}', which neither the module nor the virtual GPU has", name));
  }
  if (call.arguments.size() != function->arguments) {
    fail(instruction, fmt::format("passes {} arguments to {}, which takes {}",
                                  call.arguments.size(), name, function->arguments));
  }
  kernel_->calls.push_back(std::move(call));
  Instr instr{};
  instr.full = instr.masked = function->handler;
  instr.imm = reinterpret_cast<std::uint64_t>(&kernel_->calls.back());
  set_rows(instr, {});
  emit(instr);
}

}  // namespace rung::vgpu
