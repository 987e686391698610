#pragma once
// Finds launches that cannot end because lanes of a warp wait for each other: a lane that has left a
// loop waits at its end for the lanes that spin in it, and these wait for what it would do next, such
// as releasing a lock. ptxas generates the same wait (BSSY before the loop, BSYNC after it).

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "vgpu/model/kernel.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

class Block;

/// The lanes that wait, the lanes that spin, and the atomic or volatile load that they repeat.
struct LanesInTurn {
  const Warp* warp;
  Mask waiting, spinning;
  std::uint32_t site;
};

/// Nullopt unless lanes of a warp wait for others that repeat an atomic or a volatile load.
std::optional<LanesInTurn> lanes_in_turn(const Block& block);

/// The states that a cluster had after its turns. It spins if one of them recurs again and again.
struct TurnStates {
  std::size_t reference = 0;
  std::uint32_t turns = 0, period = 1;  // since the reference was taken, and until the next one
  std::uint32_t recurrences = 0;
  bool spins = false;
  std::uint64_t confirmed = 0;  // Spinning::epoch_ when it spun last
};

/// The clusters of a launch that are running. All spin if each has repeated its state since any of them
/// has begun or ceased to.
class Spinning {
 public:
  void start();
  void end();
  /// Records the state after a turn. Returns true if all running clusters spin.
  bool all_spin(TurnStates& states, std::size_t state);

 private:
  void change();

  std::mutex mutex_;
  std::uint64_t epoch_ = 1;
  int running_ = 0, confirmed_ = 0;
};

}  // namespace rung::vgpu
