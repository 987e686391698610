#include "vgpu/model/banks.hpp"

#include <algorithm>

#include "vgpu/model/distinct_numbers.hpp"

namespace rung::vgpu {
namespace {

constexpr int banks = 32;
constexpr std::uint64_t bank_bytes = 4;

using Addresses = std::array<std::uint64_t, warp_size>;

/// The maximum, over banks, of the number of distinct words that lanes of the mask access.
int busiest_bank(const Addresses& address, Mask mask, std::uint32_t bytes, std::int64_t offset) {
  // Words by bank. A warp accesses at most 32 lanes x 4 words.
  std::array<std::uint8_t, banks> count{};
  std::array<std::array<std::uint64_t, 4 * warp_size>, banks> words;
  int most = 0;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const std::uint64_t begin = address[first_lane(left)] + static_cast<std::uint64_t>(offset);
    for (std::uint64_t word = begin / bank_bytes; word <= (begin + bytes - 1) / bank_bytes;
         ++word) {
      const std::size_t bank = word % banks;
      const auto end = words[bank].begin() + count[bank];
      if (std::find(words[bank].begin(), end, word) != end) continue;
      words[bank][count[bank]++] = word;
      most = std::max(most, int{count[bank]});
    }
  }
  return most;
}

/// True if every active lane n of the group has the same address as lane n ^ `apart`.
bool pairs_agree(const Addresses& address, Mask mask, int apart) {
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    const int other = lane ^ apart;
    if ((mask >> other & 1u) != 0 && address[lane] != address[other]) return false;
  }
  return true;
}

/// Serves the group together if lanes n and n ^ 1, or n and n ^ 2, agree; otherwise serves its
/// halves separately (NVIDIA Developer Forums, "Unexpected shared memory bank conflict", thread
/// 77228).
int together_or_halves(const Addresses& address, Mask mask, Mask lower, std::uint32_t bytes,
                       std::int64_t offset, bool load) {
  if (load && (pairs_agree(address, mask, 1) || pairs_agree(address, mask, 2))) {
    return busiest_bank(address, mask, bytes, offset);
  }
  return busiest_bank(address, mask & lower, bytes, offset) +
         busiest_bank(address, mask & ~lower, bytes, offset);
}

}  // namespace

int shared_wavefronts(const Addresses& address, Mask mask, std::uint32_t bytes, std::int64_t offset,
                      bool load) {
  if (bytes <= 4) return busiest_bank(address, mask, bytes, offset);
  constexpr Mask lower_half = 0x0000FFFFu;
  if (bytes <= 8) return together_or_halves(address, mask, lower_half, bytes, offset, load);
  constexpr Mask lower_quarters = 0x00FF00FFu;
  return together_or_halves(address, mask & lower_half, lower_quarters, bytes, offset, load) +
         together_or_halves(address, mask & ~lower_half, lower_quarters, bytes, offset, load);
}

int global_sectors(const Addresses& address, Mask mask, std::uint32_t bytes, std::int64_t offset) {
  DistinctNumbers<2 * warp_size> sectors;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const std::uint64_t begin = address[first_lane(left)] + static_cast<std::uint64_t>(offset);
    for (std::uint64_t sector = begin / sector_bytes; sector <= (begin + bytes - 1) / sector_bytes;
         ++sector) {
      sectors.index_of(sector);
    }
  }
  return sectors.count();
}

}  // namespace rung::vgpu
