#pragma once
// The happens-before order of a program's operations (kernels, copies, fills, …), as vector clocks
// over timelines. The operations of a timeline are ordered one after the other: those of a stream, or
// of a branch of a graph.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rung::vgpu {

/// The number of an operation in its timeline, from 1.
struct ProgramPoint {
  std::uint32_t timeline = 0, time = 0;
  bool operator==(const ProgramPoint&) const = default;
};

/// For each timeline, the number of its operations that are ordered before something.
class ProgramClock {
 public:
  bool knows(ProgramPoint point) const { return at(point.timeline) >= point.time; }
  std::uint32_t at(std::uint32_t timeline) const {
    return timeline < times_.size() ? times_[timeline] : 0;
  }
  /// Also orders that operation, and those before it in its timeline.
  void add(ProgramPoint point);
  void join(const ProgramClock& other);
  /// True if everything that `other` orders is ordered by this clock, too.
  bool covers(const ProgramClock& other) const;

 private:
  std::vector<std::uint32_t> times_;
};

/// The timelines of a program.
class Timelines {
 public:
  /// A timeline for operations that start with this clock. One that was released is used again if
  /// all of its operations are ordered before them.
  std::uint32_t acquire(const ProgramClock& start);
  void release(std::uint32_t timeline) { free_[timeline] = true; }

  /// The next operation of a timeline.
  ProgramPoint advance(std::uint32_t timeline);
  /// All operations so far.
  const ProgramClock& all() const { return all_; }

 private:
  ProgramClock all_;
  std::vector<bool> free_;  // by timeline
};

}  // namespace rung::vgpu
