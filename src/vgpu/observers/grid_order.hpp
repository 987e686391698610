#pragma once
// What happens before what between blocks: through fences and atomics on global memory, and through
// nothing else (PTX ISA, chapter 8, "Memory Consistency Model", in the part that kernels use: a
// fence, then an atomic, releases; an atomic that comes later at the same address acquires).

#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "vgpu/observers/order.hpp"

namespace rung::vgpu {

/// What a block knows of other blocks: for each address, how many of its releases it has acquired.
using Acquired = std::map<std::uint64_t, std::size_t>;

class GridOrder {
 public:
  /// An atomic at this address by a block whose accesses up to `time` were fenced (0: none were),
  /// when it knew `acquired` of others. The block acquires what was released there before.
  void synchronise(std::uint64_t address, std::uint64_t block, std::uint32_t time,
                   const Acquired& known_at_fence, bool acquires, Acquired& acquired);
  /// Whether a block that acquired these knows of another block's access.
  bool knows(const Acquired& acquired, std::uint64_t block, std::uint32_t time) const;

 private:
  struct Release {
    std::uint64_t block;
    std::uint32_t time;
    Acquired acquired;  // of other addresses
  };
  struct Log {
    std::vector<Release> releases;
    // By block: index of its latest release and time; releases of a block only grow.
    std::unordered_map<std::uint64_t, std::vector<std::pair<std::size_t, std::uint32_t>>> by_block;
    std::vector<std::size_t> with_acquired;
  };
  bool knows(const Acquired& acquired, std::uint64_t block, std::uint32_t time, int depth) const;

  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, Log> logs_;
};

}  // namespace rung::vgpu
