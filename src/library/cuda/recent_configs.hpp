#pragma once
// The configurations that a thread chose lately: programs multiply the same shapes again and again,
// and a model takes longer to ask than a kernel to launch.

#include <array>
#include <cstddef>
#include <cstdint>

#include "backends/cuda/kernel_name.hpp"
#include "backends/cuda/rungs.hpp"
#include "core/dtype.hpp"

namespace rung::cuda {

/// All that a choice depends on.
struct ConfigKey {
  std::uint64_t context = 0;  // a ContextCache's number; none has 0
  const GemmRung* rung = nullptr;
  Dtype dtype = {};
  bool a_by_rows = false, b_by_rows = false;  // their order in memory
  bool fast_copies = false, may_pack = false;
  std::int64_t a_alignment = 0, b_alignment = 0;  // row_alignment()
  int multiprocessors = 0;
  std::int64_t workspace_bytes = 0;
  std::int64_t m = 0, n = 0, k = 0;

  bool operator==(const ConfigKey&) const = default;
};

class RecentConfigs {
 public:
  /// The rung and its configuration stored for the key, or choose(), which is then stored.
  template <class F>
  ConfiguredGemm find_or(const ConfigKey& key, const F& choose) {
    Entry& entry = entries_[place_of(key)];
    if (!(entry.key == key)) {
      entry.chosen = choose();
      entry.key = key;
    }
    return entry.chosen;
  }

 private:
  struct Entry {
    ConfigKey key;
    ConfiguredGemm chosen = {};
  };
  static constexpr std::size_t count = 128;

  /// Shapes of a program differ in few bits, and often in high ones: a multiplication spreads them.
  static std::size_t place_of(const ConfigKey& key) {
    const auto mixed = [](std::uint64_t hash, std::int64_t value) {
      return (hash ^ static_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15u;
    };
    const std::uint64_t hash =
        mixed(mixed(mixed(static_cast<std::uint64_t>(key.dtype), key.m), key.n), key.k);
    return static_cast<std::size_t>(hash >> 57);
  }

  std::array<Entry, count> entries_ = {};
  static_assert(count == 1 << (64 - 57));
};

}  // namespace rung::cuda
