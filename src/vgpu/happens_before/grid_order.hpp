#pragma once
// What happens before what between blocks, by releases and acquires at an address (after the PTX
// memory model: a release is a fence and then a write, or one that says so; it is acquired by who
// reads the address later).

#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "vgpu/happens_before/order.hpp"

namespace rung::vgpu {

/// For each address, how many of the releases there have been acquired.
using Acquired = std::map<std::uint64_t, std::size_t>;

/// What a release shows to who acquires it.
struct Release {
  std::vector<std::uint32_t> times;  // by warp of the block: its segments up to this
  Acquired acquired;                 // of other blocks' releases

  bool operator==(const Release&) const = default;
};

void join(Acquired& acquired, const Acquired& other);
void join(Release& release, const Release& other);

class GridOrder {
 public:
  /// A write at this address by a block, which may show so much.
  void release(std::uint64_t address, std::uint64_t block, const Release& shown);
  /// The releases there so far, up to the last one of another block.
  std::size_t releases(std::uint64_t address, std::uint64_t block) const;
  /// Whether who acquired these knows of another block's access.
  bool knows(const Acquired& acquired, std::uint64_t block, int warp, std::uint32_t time) const;

 private:
  struct Log {
    std::vector<Release> releases;
    std::uint64_t last_block = 0;  // whose the last ones are,
    std::size_t last_begin = 0;    // from this one on
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> by_block;
    std::vector<std::size_t> with_acquired;
  };
  bool knows(const Acquired& acquired, std::uint64_t block, int warp, std::uint32_t time,
             int depth) const;

  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, Log> logs_;
};

}  // namespace rung::vgpu
