#pragma once
// The happens-before order between blocks, through releases and acquires at an address. Follows the
// PTX memory model: a release is a fence followed by a write, or a release write; a later read of
// the address acquires it.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "vgpu/happens_before/order.hpp"

namespace rung::vgpu {

/// For each address, the number of its releases that have been acquired.
using Acquired = std::map<std::uint64_t, std::size_t>;

/// The knowledge that a release passes to its acquirers.
struct Release {
  std::vector<std::uint32_t> times;  // by warp of the block: its last segment before the release
  Acquired acquired;                 // from releases of other blocks
  // The parts of both that a proxy fence of the block has made visible to bulk copies.
  std::vector<std::uint32_t> fenced_times;
  Acquired fenced;

  bool operator==(const Release&) const = default;
};

/// The proxy of an access: generic for threads; async for bulk copies, which see a thread's writes
/// only after a proxy fence (PTX ISA, 8.10.2, "Proxies").
enum class Proxy : std::uint8_t { generic, async };

void join(Acquired& acquired, const Acquired& other);
void join_times(std::vector<std::uint32_t>& times, const std::vector<std::uint32_t>& other);
void join(Release& release, const Release& other);

class GridOrder {
 public:
  /// Records a write to this address by a block, which may release `shown`.
  void release(std::uint64_t address, std::uint64_t block, const Release& shown);
  /// The number of releases there so far, up to the last one of another block.
  std::size_t releases(std::uint64_t address, std::uint64_t block) const;
  /// Everything that a block has released at the address so far, and the number of these releases.
  /// For acquires by the block's own threads. nullopt if there are at most `known` releases.
  struct Released {
    std::size_t count = 0;
    Release all;
  };
  std::optional<Released> released(std::uint64_t address, std::uint64_t block,
                                   std::size_t known) const;
  /// True if another block's access is ordered before the acquirer of these releases. For a bulk
  /// copy, a proxy fence must be between the access and a release, too.
  bool knows(const Acquired& acquired, std::uint64_t block, int warp, std::uint32_t time,
             Proxy proxy = Proxy::generic) const;

 private:
  struct Log {
    std::vector<Release> releases;
    std::uint64_t last_block = 0;  // block of the latest releases
    std::size_t last_begin = 0;    // index of the first of these
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> by_block;
    std::unordered_map<std::uint64_t, Released> all_by_block;
    std::vector<std::size_t> with_acquired;
  };
  bool knows(const Acquired& acquired, std::uint64_t block, int warp, std::uint32_t time,
             Proxy proxy, int depth) const;

  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, Log> logs_;
};

}  // namespace rung::vgpu
