#pragma once
// The sixteen barriers of a block (PTX ISA, bar and barrier).

#include <cstdint>
#include <vector>

#include "vgpu/happens_before/order.hpp"
#include "vgpu/model/instr.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

/// The state of a barrier: arrivals so far.
struct Barrier {
  enum class Reduction : std::uint8_t { none, popc, all, any };
  struct Waiter {
    int warp;
    int split;
    Mask mask;
    const Instr* reduction;            // bar.red: the instruction that receives the result
    const Instr* divergent = nullptr;  // an .aligned barrier at which only part of the warp arrived
  };
  std::uint32_t threads = 0;   // number of threads that have arrived
  std::uint32_t expected = 0;  // number of threads; 0: all that have not exited
  OrderedMemory orders;
  Reduction reduction = Reduction::none;
  std::uint32_t votes = 0;  // number of threads whose predicate is true
  std::vector<Waiter> waiting;
  std::vector<Arrival> arrived;  // including bar.arrive

  /// Removes all arrivals. The vectors keep their memory.
  void clear() {
    threads = expected = votes = 0;
    orders = {};
    reduction = Reduction::none;
    waiting.clear();
    arrived.clear();
  }
};

inline constexpr int barrier_count = 16;

}  // namespace rung::vgpu
