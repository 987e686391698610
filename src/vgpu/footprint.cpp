#include "vgpu/footprint.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace rung::vgpu {
namespace {

constexpr std::uint64_t sector_bytes = 32;
constexpr std::uint64_t warps_of_block = 64;  // at least those that a block can have

/// Calls f for each active lane's address.
template <class F>
void for_each_lane(const WarpAccess& access, const F& f) {
  for (std::uint32_t left = access.lanes; left != 0; left &= left - 1) {
    f(access.address[static_cast<std::size_t>(std::countr_zero(left))]);
  }
}

/// The active lanes' addresses in ascending order.
struct Addresses {
  explicit Addresses(const WarpAccess& access) {
    for_each_lane(access, [&](std::uint64_t address) { all[count++] = address; });
    std::sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
  }
  std::array<std::uint64_t, 32> all{};
  std::size_t count = 0;
};

std::uint64_t aligned_sectors(const WarpAccess& access) {
  const Addresses addresses(access);
  std::uint64_t sectors = 0, begin = addresses.all[0], end = begin;
  for (std::size_t i = 0; i <= addresses.count; ++i) {
    const bool last = i == addresses.count;
    if (last || addresses.all[i] > end) {
      sectors += (end - begin + sector_bytes - 1) / sector_bytes;
      if (!last) begin = addresses.all[i];
    }
    if (!last) end = addresses.all[i] + access.bytes;
  }
  return sectors;
}

std::uint64_t most(const std::unordered_map<std::uint64_t, std::uint64_t>& counts) {
  std::uint64_t found = 0;
  for (const auto& [key, count] : counts) found = std::max(found, count);
  return found;
}

}  // namespace

void FootprintRecorder::see(const WarpAccess& access) {
  ++footprint_.accesses;
  ++of_block_[access.block];
  ++of_warp_[access.block * warps_of_block + static_cast<std::uint64_t>(access.warp)];
  if (!access.shared) see_global(access);
  if (!access.load) see_meetings(access);
}

void FootprintRecorder::see_global(const WarpAccess& access) {
  footprint_.requested_sectors += static_cast<std::uint64_t>(access.units);
  footprint_.aligned_sectors += aligned_sectors(access);
  if (!access.load) footprint_.store_sectors += static_cast<std::uint64_t>(access.units);
  std::uint64_t before = ~std::uint64_t{0};
  for_each_lane(access, [&](std::uint64_t address) {
    const std::uint64_t last = (address + access.bytes - 1) / sector_bytes;
    for (std::uint64_t at = address / sector_bytes; at <= last; ++at) {
      if (at == before) continue;
      before = at;
      Sector& sector = sectors_[at];
      footprint_.sectors += sector.loaded || sector.stored ? 0 : 1;
      if (!access.load) {
        footprint_.stored_sectors += std::exchange(sector.stored, true) ? 0 : 1;
        continue;
      }
      footprint_.loaded_sectors += std::exchange(sector.loaded, true) ? 0 : 1;
      footprint_.loaded_sectors_by_block += sector.last_block == access.block ? 0 : 1;
      sector.last_block = access.block;
    }
  });
}

void FootprintRecorder::see_meetings(const WarpAccess& access) {
  const Addresses sorted(access);
  const auto& [addresses, count] = sorted;
  std::uint64_t turns = 0, here = 0;
  for (std::size_t i = 0; i < count; ++i) {
    here = i > 0 && addresses[i] == addresses[i - 1] ? here + 1 : 1;
    turns = std::max(turns, here);
  }
  // Lanes that all have an address of their own meet nobody; a lone one may meet other warps.
  if (turns == 1 && count > 2) return;
  Meetings& meetings = meetings_[access.site];
  meetings.turns += turns;
  if (access.shared) return;
  for (std::size_t i = 0; i < count; ++i) ++meetings.lanes[addresses[i]];
}

Footprint FootprintRecorder::take(const std::vector<Site>& sites) {
  Footprint footprint = std::exchange(footprint_, {});
  for (const auto& [site, meetings] : meetings_) {
    if (sites[site].role == SiteRole::shared_atomic) {
      footprint.shared_atomic_turns += meetings.turns;
    } else if (sites[site].role == SiteRole::global_atomic) {
      footprint.atomics_at_one_address =
          std::max(footprint.atomics_at_one_address, most(meetings.lanes));
    }
  }
  footprint.most_of_block = most(of_block_);
  footprint.most_of_warp = most(of_warp_);
  sectors_.clear();
  meetings_.clear();
  of_block_.clear();
  of_warp_.clear();
  return footprint;
}

}  // namespace rung::vgpu
