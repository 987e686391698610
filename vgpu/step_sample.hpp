#pragma once
// Selects the instructions of a block to show: those of a few warps, with different paths if
// possible, and for each basic block the first three executions and the last.

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "vgpu/model/kernel.hpp"
#include "vgpu/step_events.hpp"

namespace rung::vgpu {

class StepSample {
 public:
  /// A selected execution of a basic block.
  struct Execution {
    std::size_t event;
    std::size_t skipped;  // number of instructions omitted before it
    std::map<std::uint32_t, std::vector<std::size_t>> met;  // events of accesses, by site
  };

  StepSample(const StepEvents& events, const Kernel& kernel);

  /// The selected warps: warp 0, the first warp of every other path, then others.
  std::vector<int> warps() const;
  std::vector<Execution> executions_of(int warp) const;
  /// The number of instructions that the warp executed.
  std::size_t instructions_of(int warp) const;
  /// The sites of a basic block, in textual order.
  const std::vector<std::uint32_t>& sites_in(std::uint32_t basic_block) const;

 private:
  const StepEvents& events_;
  const std::vector<std::uint32_t>& basic_block_of_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> in_block_;
};

}  // namespace rung::vgpu
