#include "emu/runtime/repeated_launches.hpp"

#include <utility>

namespace rung::emu {
namespace {

constexpr std::uint64_t with_own_records = 16;
constexpr std::chrono::milliseconds longest_wait(100);

}  // namespace

bool RepeatedLaunches::add(const vgpu::LaunchReport& launch) {
  const vgpu::Dim3 &grid = launch.grid, &block = launch.block;
  Repeated& repeated =
      repeated_[{launch.kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, launch.shared}];
  if (repeated.launches++ < with_own_records) return false;
  if (!launch.hazards.empty() || launch.fault) return false;
  auto& [sum, times] = repeated.record;
  if (times++ == 0) {
    summed_.push_back(&repeated.record);
    sum.kernel = launch.kernel;
    sum.grid = grid;
    sum.block = block;
    sum.shared = launch.shared;
    sum.observed = launch.observed;
  }
  sum.counters += launch.counters;
  sum.seconds += launch.seconds;
  return true;
}

std::vector<SharedRecord> RepeatedLaunches::take() {
  std::vector<SharedRecord> records;
  for (SharedRecord* const record : summed_) records.push_back(std::exchange(*record, {}));
  summed_.clear();
  taken_ = std::chrono::steady_clock::now();
  return records;
}

bool RepeatedLaunches::is_due() const {
  return std::chrono::steady_clock::now() - taken_ > longest_wait;
}

}  // namespace rung::emu
