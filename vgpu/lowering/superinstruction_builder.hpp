#pragma once
// Builds a superinstruction from consecutive instructions.

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "vgpu/model/kernel.hpp"

namespace rung::vgpu {

class SuperinstructionBuilder {
 public:
  void add_multiply_add(const Instr& instr);
  /// Adds an instruction that can be translated. `results`: the rows that it writes.
  void add_operation(const Instr& instr, const std::vector<std::uint32_t>& results);
  /// Adds a plain load of words from shared memory. Returns false, without changes, if it does not
  /// fit.
  bool add_load(const Instr& instr);

  std::size_t loads() const { return count(Superinstruction::Step::Kind::load); }
  std::size_t operations() const { return count(Superinstruction::Step::Kind::operation); }

  /// Stores the result in the kernel, and returns the instruction that runs it.
  Instr finish(Kernel& kernel);

 private:
  std::size_t count(Superinstruction::Step::Kind kind) const;
  ReadBatch* batch_of(const MemoryOp& op);
  void add(const Instr& instr, const Superinstruction::Step& step);

  Superinstruction super_;
  std::vector<ReadBatch> batches_;
  std::set<std::uint32_t> written_;   // rows written so far
  std::optional<std::uint32_t> sum_;  // row of the last FMA, if it still holds the result
};

}  // namespace rung::vgpu
