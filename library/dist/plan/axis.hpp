#pragma once
// Index arithmetic of axes: the indices that a process holds, and those that it shares with a
// process of another axis.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rung/dist_plan.hpp"

namespace rung::dist {

/// Indices that are consecutive on one process of each of two axes.
struct Run {
  std::int64_t length;
  std::int64_t from;  // position of the first index on its process of the first axis
  std::int64_t to;    // position on its process of the second axis
};

/// part(): indices [begin, end) as an axis. local_before(): the number of earlier indices that a
/// process holds.
Axis part(const Axis& axis, std::int64_t begin, std::int64_t end);
std::int64_t local_before(const Axis& axis, int proc, std::int64_t index);

/// True if every index is on the same process of both axes.
bool dealt_alike(const Axis& left, const Axis& right);

/// Calls visit(first index, length, process, process) for each range of indices that is on a single
/// process of both axes, in ascending order. Both axes have the same extent.
template <class Visit>
void for_each_run(const Axis& from, const Axis& to, const Visit& visit) {
  const auto left_in_block = [](const Axis& axis, std::int64_t index) {
    return axis.block - (index + axis.skipped) % axis.block;
  };
  for (std::int64_t index = 0; index < from.extent;) {
    const std::int64_t length =
        std::min({left_in_block(from, index), left_in_block(to, index), from.extent - index});
    visit(index, length, position(from, index), position(to, index));
    index += length;
  }
}

/// The number of indices that process p of one axis shares with process q of the other.
std::int64_t shared_extent(const Axis& from, int p, const Axis& to, int q);

/// For each process of `to`, the runs that it shares with process p of `from`.
std::vector<std::vector<Run>> runs_from(const Axis& from, int p, const Axis& to);
/// For each process of `from`, the runs that it shares with process q of `to`.
std::vector<std::vector<Run>> runs_to(const Axis& from, const Axis& to, int q);

std::int64_t total(const std::vector<Run>& runs);

}  // namespace rung::dist
