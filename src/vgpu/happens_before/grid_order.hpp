#pragma once
// The happens-before order between blocks, by releases and acquires at an address (after the PTX
// memory model: a release is a fence followed by a write, or a release write; a later read of the
// address acquires it).

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "vgpu/happens_before/order.hpp"

namespace rung::vgpu {

/// For each address, how many of its releases have been acquired.
using Acquired = std::map<std::uint64_t, std::size_t>;

/// What an acquire learns from a release.
struct Release {
  std::vector<std::uint32_t> times;  // per warp of the block: its segments up to this
  Acquired acquired;                 // from releases of other blocks
  // Of both, what a proxy fence of the block has shown to bulk copies.
  std::vector<std::uint32_t> fenced_times;
  Acquired fenced;

  bool operator==(const Release&) const = default;
};

/// Who accesses memory: threads, or bulk copies, which see a thread's writes behind a proxy fence only
/// (PTX ISA, 8.10.2, "Proxies").
enum class Proxy : std::uint8_t { generic, async };

void join(Acquired& acquired, const Acquired& other);
void join_times(std::vector<std::uint32_t>& times, const std::vector<std::uint32_t>& other);
void join(Release& release, const Release& other);

class GridOrder {
 public:
  /// A write to this address by a block, which may release that much.
  void release(std::uint64_t address, std::uint64_t block, const Release& shown);
  /// The releases there so far, up to the last one of another block.
  std::size_t releases(std::uint64_t address, std::uint64_t block) const;
  /// All that a block has released there so far, and by how many releases, for its own threads that acquire
  /// there. Nothing if there are no more than `known`.
  struct Released {
    std::size_t count = 0;
    Release all;
  };
  std::optional<Released> released(std::uint64_t address, std::uint64_t block,
                                   std::size_t known) const;
  /// Whether the acquirer of these knows of another block's access; for a bulk copy, whether a proxy fence
  /// was between that and a release.
  bool knows(const Acquired& acquired, std::uint64_t block, int warp, std::uint32_t time,
             Proxy proxy = Proxy::generic) const;

 private:
  struct Log {
    std::vector<Release> releases;
    std::uint64_t last_block = 0;  // the block of the last ones,
    std::size_t last_begin = 0;    // from this one on
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
