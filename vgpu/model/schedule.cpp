#include "vgpu/model/schedule.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>

namespace rung::vgpu {
namespace {

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

std::atomic<std::uint64_t> launch_seed = 0;  // of all launches; 0: the usual order
std::atomic<std::uint64_t> launches = 0;     // since it was set

thread_local Schedule* running = nullptr;

}  // namespace

void set_launch_seed(std::uint64_t seed) {
  launch_seed = seed;
  launches = 0;
}

std::uint64_t next_launch_seed() {
  const std::uint64_t seed = launch_seed.load(std::memory_order_relaxed);
  return seed == 0 ? 0 : seed << 32 | ++launches;
}

Schedule* running_schedule() { return running; }

RunningSchedule::RunningSchedule(Schedule* schedule) : outer_(std::exchange(running, schedule)) {}
RunningSchedule::~RunningSchedule() { running = outer_; }

Schedule::Schedule(std::uint64_t seed) : state_(mix(seed + 0x9E3779B97F4A7C15u)) {
  key_ = next();
  // Few interruptions keep warps in step with each other, many make every pair of accesses likely.
  interrupted_ = std::array<std::uint64_t, 4>{3, 24, 0, 200}[below(4)];
}

std::uint64_t Schedule::next() { return mix(state_ += 0x9E3779B97F4A7C15u); }

/// A Feistel network on the least power of four that holds `count`, repeated until the result is
/// less than `count` (cycle walking: Black, Rogaway, Ciphers with arbitrary finite domains, 2002).
std::uint64_t Schedule::permuted(std::uint64_t index, std::uint64_t count) const {
  const int half = (std::bit_width(count - 1) + 1) / 2;
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  do {
    for (std::uint64_t round = 0; round < 4; ++round) {
      const std::uint64_t right = index & mask;
      index = right << half | (((index >> half) ^ mix(key_ + (right << 2 | round))) & mask);
    }
  } while (index >= count);
  return index;
}

/// Few blocks run together, which takes little memory, but in the end as many as wait for each other.
bool Schedule::starts_another(std::size_t resident) {
  const std::uint64_t eighth = resident / 8;
  return one_in(1 + eighth * eighth);
}

std::uint64_t Schedule::turn(std::uint64_t most) {
  const std::uint64_t size = below(24);
  return size >= 16 ? most : std::min(most, below(std::uint64_t{1} << size) + 1);
}

/// Data derived from shapes that other warps have computed in the meantime are not valid for these.
void Schedule::restore(const Split& split, std::vector<Shape>& shapes) {
  const auto kept = kept_.extract(&split);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Shape& saved = kept.mapped()[i];
    const std::uint64_t generation = std::max(shapes[i].generation, saved.generation) + 1;
    shapes[i] = saved;
    shapes[i].generation = generation;
    shapes[i].log = nullptr;
  }
}

std::vector<std::size_t> random_order(const std::vector<std::vector<std::size_t>>& after,
                                      Schedule& schedule) {
  std::vector<std::vector<std::size_t>> before(after.size());
  std::vector<std::size_t> missing(after.size()), ready, order;
  for (std::size_t i = 0; i < after.size(); ++i) {
    missing[i] = after[i].size();
    if (missing[i] == 0) ready.push_back(i);
    for (const std::size_t other : after[i]) before[other].push_back(i);
  }
  while (!ready.empty()) {
    std::swap(ready[schedule.below(ready.size())], ready.back());
    const std::size_t node = ready.back();
    ready.pop_back();
    order.push_back(node);
    for (const std::size_t later : before[node]) {
      if (--missing[later] == 0) ready.push_back(later);
    }
  }
  return order;
}

}  // namespace rung::vgpu
