#include "vgpu/program/liveness.hpp"

#include <algorithm>

#include "vgpu/program/operands.hpp"

namespace rung::vgpu {
namespace {

/// The effect of a block on the set of live registers.
struct Effect {
  RegisterSet used;     // read before they are written in the block
  RegisterSet defined;  // written in the block, for all lanes
};

Effect effect_of(const ptx::Function& function, const CfgBlock& block) {
  Effect effect{RegisterSet(function.registers.size()), RegisterSet(function.registers.size())};
  for (std::size_t i = block.first; i < block.first + block.count; ++i) {
    const ptx::Instruction& instruction = function.body[i];
    for_each_use(instruction, [&](int reg) {
      if (!effect.defined.contains(reg)) effect.used.insert(reg);
    });
    if (instruction.guard >= 0) continue;
    for_each_definition(instruction, [&](int reg) { effect.defined.insert(reg); });
  }
  return effect;
}

/// A set of live registers, and its size in 32-bit registers.
class Pressure {
 public:
  Pressure(const ptx::Function& function, RegisterSet live)
      : function_(function), live_(std::move(live)) {
    live_.for_each([&](int reg) { now_ += units(reg); });
  }

  int now() const { return now_; }
  void begin(int reg) {
    if (!live_.contains(reg)) now_ += units(reg);
    live_.insert(reg);
  }
  void end(int reg) {
    if (live_.contains(reg)) now_ -= units(reg);
    live_.erase(reg);
  }

 private:
  int units(int reg) const {
    const ptx::Type type = function_.registers[static_cast<std::size_t>(reg)].type;
    return type == ptx::Type::pred ? 0 : std::max(1, ptx::size_of(type) / 4);
  }

  const ptx::Function& function_;
  RegisterSet live_;
  int now_ = 0;
};

int pressure_in(const ptx::Function& function, const CfgBlock& block, const RegisterSet& out) {
  Pressure pressure(function, out);
  int most = pressure.now();
  for (std::size_t i = block.first + block.count; i-- > block.first;) {
    const ptx::Instruction& instruction = function.body[i];
    // A result that is never read still needs a register when it is written.
    for_each_definition(instruction, [&](int reg) { pressure.begin(reg); });
    most = std::max(most, pressure.now());
    if (instruction.guard < 0) {
      for_each_definition(instruction, [&](int reg) { pressure.end(reg); });
    }
    for_each_use(instruction, [&](int reg) { pressure.begin(reg); });
    most = std::max(most, pressure.now());
  }
  return most;
}

}  // namespace

Liveness live_registers(const ptx::Function& function, const Cfg& cfg) {
  const RegisterSet none(function.registers.size());
  std::vector<Effect> effects;
  Liveness liveness;
  for (const CfgBlock& block : cfg.blocks) {
    effects.push_back(effect_of(function, block));
    liveness.in.push_back(effects.back().used);
    liveness.out.push_back(none);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = cfg.blocks.size(); i-- > 0;) {
      RegisterSet& out = liveness.out[i];
      for (const int successor : cfg.blocks[i].successors) {
        if (successor != to_exit)
          out.insert(liveness.in[static_cast<std::size_t>(successor)], none);
      }
      changed = liveness.in[i].insert(out, effects[i].defined) || changed;
    }
  }
  for (std::size_t i = 0; i < cfg.blocks.size(); ++i) {
    liveness.max_pressure =
        std::max(liveness.max_pressure, pressure_in(function, cfg.blocks[i], liveness.out[i]));
  }
  return liveness;
}

}  // namespace rung::vgpu
