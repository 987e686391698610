#pragma once
// Which of the instructions of a block are shown: of a few warps, with different paths if they have,
// of each basic block the first three executions and the last.

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "vgpu/model/kernel.hpp"
#include "vgpu/step_events.hpp"

namespace rung::vgpu {

class StepSample {
 public:
  /// An execution of a basic block that is shown.
  struct Execution {
    std::size_t event;
    std::size_t skipped;                                    // instructions before it
    std::map<std::uint32_t, std::vector<std::size_t>> met;  // events of accesses, by site
  };

  StepSample(const StepEvents& events, const Kernel& kernel);

  /// Warp 0, the first of each other path, then others.
  std::vector<int> warps() const;
  std::vector<Execution> executions_of(int warp) const;
  /// All that the warp executed.
  std::size_t instructions_of(int warp) const;
  /// Of a basic block, in the order of the text.
  const std::vector<std::uint32_t>& sites_in(std::uint32_t basic_block) const;

 private:
  const StepEvents& events_;
  const std::vector<std::uint32_t>& basic_block_of_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> in_block_;
};

}  // namespace rung::vgpu
