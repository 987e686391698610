#pragma once
// Programs that measure launch a kernel up to millions of times: a record of each would take longer
// than a small kernel, and gigabytes. The first launches have one each; later ones without hazards
// are summed up, to share one.

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "vgpu/launch.hpp"

namespace rung::emu {

/// Launches of one kernel and one grid, block and shared memory.
struct SharedRecord {
  vgpu::LaunchReport sum;  // of counters and seconds; the rest is that of each
  std::uint64_t times = 0;
};

class RepeatedLaunches {
 public:
  /// True if the launch was added to the sums. Otherwise it needs a record of its own, after the records
  /// that take() returns, because reports number the launches.
  bool add(const vgpu::LaunchReport& launch);
  /// The sums since the last call, which are a good tenth of a second old at most if it is called
  /// whenever is_due().
  std::vector<SharedRecord> take();
  bool is_due() const;

 private:
  using Shape = std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                           std::uint32_t, std::uint32_t, std::int64_t>;
  struct Repeated {
    std::uint64_t launches = 0;  // all of them
    SharedRecord record;
  };
  std::map<Shape, Repeated> repeated_;
  std::vector<SharedRecord*> summed_;  // since the last take(), in repeated_
  std::chrono::steady_clock::time_point taken_ = std::chrono::steady_clock::now();
};

}  // namespace rung::emu
