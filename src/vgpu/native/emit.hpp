#pragma once

#include "vgpu/model/kernel.hpp"
#include "vgpu/native/emitter.hpp"

namespace rung::vgpu::native {

/// Rows with the same contents in every lane.
class Constants {
 public:
  explicit Constants(const Kernel& kernel);
  /// The contents of the row, or null.
  const std::uint64_t* find(std::uint32_t row) const;

 private:
  std::unordered_map<std::uint32_t, std::uint64_t> bits_;
};

/// Adds the lines of the instruction to the plan.
void plan(Plan& plan, const Instr& instr);
/// Emits the instruction, whose operation is one that the translator knows.
void emit(Emitter& to, const Constants& constants, const Instr& instr);

/// Consecutive instructions that the translator knows, up to and including those of a site.
struct Run {
  std::vector<Instr> instructions;
  std::uint32_t end_site = 0;
};

/// Emits all of them, with the warp in rdi. `masked`: as in Emitter::begin().
void emit(Emitter& to, const Constants& constants, const Run& run, bool masked);

}  // namespace rung::vgpu::native
