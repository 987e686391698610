// Calls that remain after inlining: calls of device runtime functions.

#include <fmt/format.h>

#include <algorithm>

#include "vgpu/engine/control/external.hpp"
#include "vgpu/lowering/lowering.hpp"

namespace rung::vgpu {

/// The offset in local memory of a call's argument or result, which must have at least `bytes`
/// bytes.
std::uint32_t Lowering::passed_at(const Instruction& instruction, const Operand& element,
                                  std::uint32_t bytes) const {
  const auto variable = std::find_if(
      function_.variables.begin(), function_.variables.end(), [&](const ptx::Variable& it) {
        return it.name == element.name && it.space == ptx::Space::param;
      });
  if (element.kind != Operand::Kind::symbol || variable == function_.variables.end() ||
      variable->bytes() < bytes) {
    fail(instruction, fmt::format("expected a .param variable of {} bytes", bytes));
  }
  return local_offsets_.at(element.name);
}

void Lowering::lower_call(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  const bool has_results = operands[0].kind == Operand::Kind::tuple;
  const std::size_t target = has_results ? 1 : 0;
  const std::string& name = operands[target].name;
  const std::optional<ExternalFunction> function = external_function(name);
  if (!function) {
    fail(instruction,
         fmt::format("calls '{}', which neither the module nor the virtual GPU has", name));
  }
  const bool has_arguments =
      target + 1 < operands.size() && operands[target + 1].kind == Operand::Kind::tuple;
  const std::vector<Operand> arguments =
      has_arguments ? operands[target + 1].elements : std::vector<Operand>();
  if (arguments.size() != function->arguments.size()) {
    fail(instruction, fmt::format("passes {} arguments to {}, which takes {}", arguments.size(),
                                  name, function->arguments.size()));
  }
  if (has_results && operands[0].elements.size() > (function->result == 0 ? 0u : 1u)) {
    fail(instruction, fmt::format("takes {} results of {}", operands[0].elements.size(), name));
  }

  if (name == "vprintf") kernel_->prints = true;
  ExternalCall call;
  call.site = site_;
  call.has_result = has_results && !operands[0].elements.empty();
  if (call.has_result) {
    call.result = passed_at(instruction, operands[0].elements[0], function->result);
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    call.arguments.push_back(passed_at(instruction, arguments[i], function->arguments[i]));
  }
  kernel_->calls.push_back(std::move(call));
  emit(function->handler, imm_to(kernel_->calls.back()), {});
}

}  // namespace rung::vgpu
