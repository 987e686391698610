#pragma once

#include "vgpu/model/kernel.hpp"
#include "vgpu/native/emitter.hpp"

namespace rung::vgpu::native {

/// Rows that hold the same number in every lane.
class Constants {
 public:
  explicit Constants(const Kernel& kernel);
  /// The number in a row, or null if the row is not constant.
  const std::uint64_t* find(std::uint32_t row) const;

 private:
  std::unordered_map<std::uint32_t, std::uint64_t> bits_;
};

/// Adds the lines of the instruction to the plan.
void plan(Plan& plan, const Instr& instr);
/// Emits an instruction with a supported operation.
void emit(Emitter& to, const Constants& constants, const Instr& instr);

/// Consecutive supported instructions, up to and including those of site `end_site`.
struct Run {
  std::vector<Instr> instructions;
  std::uint32_t end_site = 0;
};

/// Emits all instructions of the run, with the warp in rdi. `masked`: see Emitter::begin().
void emit(Emitter& to, const Constants& constants, const Run& run, bool masked);

}  // namespace rung::vgpu::native
