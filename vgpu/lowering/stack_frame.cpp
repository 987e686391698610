#include "vgpu/lowering/stack_frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "vgpu/program/cfg.hpp"
#include "vgpu/program/liveness.hpp"
#include "vgpu/program/operands.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Operand;

constexpr std::int64_t saved_bytes = 8;

std::int64_t rounded(std::int64_t bytes) {
  return (bytes + StackFrame::alignment - 1) / StackFrame::alignment * StackFrame::alignment;
}

/// The variables that calls pass.
std::set<std::string> passed_by(const Function& function, const auto& is_wanted) {
  std::set<std::string> names;
  for (const Instruction& instruction : function.body) {
    if (instruction.opcode != ptx::Opcode::call || !is_wanted(instruction)) continue;
    for (const Operand& operand : instruction.operands) {
      for (const Operand& element : operand.elements) {
        if (element.kind == Operand::Kind::symbol) names.insert(element.name);
      }
    }
  }
  return names;
}

/// The registers that are live after instruction `at` and not written by it.
RegisterSet live_out(const Function& function, const Cfg& cfg, const Liveness& liveness,
                     std::size_t at) {
  std::size_t block = 0;
  while (cfg.blocks[block].first + cfg.blocks[block].count <= at) ++block;
  RegisterSet live = liveness.out[block];
  for (std::size_t i = cfg.blocks[block].first + cfg.blocks[block].count - 1; i > at; --i) {
    const Instruction& instruction = function.body[i];
    if (instruction.guard < 0) {
      for_each_definition(instruction, [&](int reg) { live.erase(reg); });
    }
    for_each_use(instruction, [&](int reg) { live.insert(reg); });
  }
  for_each_definition(function.body[at], [&](int reg) { live.erase(reg); });
  return live;
}

}  // namespace

StackFrame::CallLayout StackFrame::layout_at(const Signature& signature, std::int64_t start) {
  CallLayout layout;
  layout.end = start + alignment;  // after the index of the return point
  for (const std::int64_t bytes : signature.results) {
    layout.results.push_back(layout.end);
    layout.end += rounded(bytes);
  }
  for (const std::int64_t bytes : signature.parameters) {
    layout.parameters.push_back(layout.end);
    layout.end += rounded(bytes);
  }
  return layout;
}

std::optional<std::int64_t> StackFrame::find(std::string_view name) const {
  const auto found = offsets_.find(name);
  if (found == offsets_.end()) return std::nullopt;
  return found->second;
}

StackFrame::StackFrame(const Function& function,
                       const std::function<Call(const Instruction&)>& kind) {
  const std::set<std::string> outgoing =
      passed_by(function, [&](const Instruction& call) { return kind(call) != Call::none; });
  const std::set<std::string> external =
      passed_by(function, [&](const Instruction& call) { return kind(call) == Call::none; });
  if (!function.entry) {
    place_own(function);
    for (const ptx::Variable& variable : function.variables) {
      const bool in_frame =
          variable.space == ptx::Space::local || variable.space == ptx::Space::param;
      if (!in_frame || outgoing.contains(variable.name) || external.contains(variable.name)) {
        continue;
      }
      offsets_[variable.name] = bytes_;
      bytes_ += rounded(variable.bytes());
    }
  }
  place_saved(function, kind);
  for (const Instruction& instruction : function.body) {
    if (kind(instruction) != Call::none) place_outgoing(function, instruction);
  }
}

void StackFrame::place_own(const Function& function) {
  const CallLayout own = layout_at(signature_of(function), 0);
  for (std::size_t i = 0; i < function.results.size(); ++i) {
    offsets_[function.results[i].name] = own.results[i];
  }
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    offsets_[function.parameters[i].name] = own.parameters[i];
  }
  bytes_ = own.end;
}

void StackFrame::place_saved(const Function& function,
                             const std::function<Call(const Instruction&)>& kind) {
  std::map<int, std::int64_t> places;
  std::optional<Cfg> cfg;
  std::optional<Liveness> liveness;
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    const Call call = kind(function.body[i]);
    if (call == Call::none) continue;
    std::vector<Saved>& saved = saved_[i];
    if (call == Call::other) continue;
    if (!cfg) {
      cfg = control_flow(function);
      liveness = live_registers(function, *cfg);
    }
    live_out(function, *cfg, *liveness, i).for_each([&](int reg) {
      const auto [place, is_new] = places.try_emplace(reg, bytes_);
      if (is_new) bytes_ += saved_bytes;
      const ptx::Type type = function.registers[static_cast<std::size_t>(reg)].type;
      saved.push_back({reg, type == ptx::Type::pred, place->second});
    });
  }
  bytes_ = rounded(bytes_);
}

void StackFrame::place_outgoing(const Function& function, const Instruction& call) {
  const CallLayout layout = layout_of(signature_of(function, call));
  bool before_name = true;
  for (const Operand& operand : call.operands) {
    if (operand.kind != Operand::Kind::tuple) {
      before_name = false;
      continue;
    }
    const auto& places = before_name ? layout.results : layout.parameters;
    for (std::size_t i = 0; i < operand.elements.size(); ++i) {
      const Operand& passed = operand.elements[i];
      if (passed.kind != Operand::Kind::symbol) continue;
      const auto [place, is_new] = offsets_.try_emplace(passed.name, places[i]);
      if (is_new || place->second == places[i]) continue;
      throw std::invalid_argument(
          fmt::format("{} passes '{}' to two functions", function.name, passed.name));
    }
  }
}

}  // namespace rung::vgpu
