#include "vgpu/footprint.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace rung::vgpu {
namespace {

constexpr std::uint64_t sector_bytes = 32, sectors_of_line = 4;
constexpr std::uint64_t sectors_of_unit = 16;  // 512 bytes, which a slice of L2 holds
constexpr std::uint64_t warps_of_block = 64;   // an upper bound
constexpr std::uint64_t far_apart = 16;        // accesses of a warp between two passes

/// Calls f with each active lane's address.
template <class F>
void for_each_lane(const WarpAccess& access, const F& f) {
  for (std::uint32_t left = access.lanes; left != 0; left &= left - 1) {
    f(access.address[static_cast<std::size_t>(std::countr_zero(left))]);
  }
}

/// The active lanes' addresses, in ascending order.
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

/// The number of bytes that an access covers in each sector that it touches, in ascending order of
/// sectors.
struct Coverage {
  explicit Coverage(const WarpAccess& access) {
    const Addresses addresses(access);
    std::uint64_t covered = 0;  // end of the bytes counted so far
    for (std::size_t i = 0; i < addresses.count; ++i) {
      const std::uint64_t end = addresses.all[i] + access.bytes;
      std::uint64_t at = std::max(covered, addresses.all[i]);
      for (; at < end; at = (at / sector_bytes + 1) * sector_bytes) {
        const std::uint64_t sector = at / sector_bytes;
        if (count == 0 || sectors[count - 1] != sector) {
          sectors[count] = sector;
          bytes[count++] = 0;
        }
        bytes[count - 1] += std::min(end, (sector + 1) * sector_bytes) - at;
      }
      covered = std::max(covered, end);
    }
  }
  // Enough for 32 lanes with at most 32 bytes each, at any address.
  std::array<std::uint64_t, 64> sectors{}, bytes{};
  std::size_t count = 0;
};

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
  if (!access.shared) {
    see_global(access);
    see_sectors(access);
  }
  if (!access.load) see_meetings(access);
}

void FootprintRecorder::see_global(const WarpAccess& access) {
  footprint_.requested_sectors += static_cast<std::uint64_t>(access.units);
  footprint_.aligned_sectors += aligned_sectors(access);
  std::uint64_t before = ~std::uint64_t{0};
  const std::uint64_t of_grid =
      access.block * warps_of_block + static_cast<std::uint64_t>(access.warp);
  const std::uint64_t now = of_warp_[of_grid];
  if (access.site >= loads_.size()) loads_.resize(access.site + 1);
  SiteLoads& loads = loads_[access.site];
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
      ++loads.requested;
      if (!std::exchange(sector.loaded, true)) {
        ++loads.first;
        ++footprint_.loaded_sectors;
        const auto other = sectors_.find(at ^ 1);  // in the same piece
        footprint_.loaded_pieces += other != sectors_.end() && other->second.loaded ? 0 : 1;
      }
      if (sector.last_block != access.block) {
        ++footprint_.loaded_sectors_by_block;
        ++loads.by_block;
        sector.last_block = access.block;
        sector.warps = 0;
      }
      const std::uint32_t warp = std::uint32_t{1} << (access.warp % 32);
      const bool is_new = (sector.warps & warp) == 0;
      footprint_.loaded_sectors_by_warp += is_new ? 1 : 0;
      loads.by_warp += is_new ? 1 : 0;
      sector.warps |= warp;
      const bool again = sector.last_warp == of_grid && now - sector.last_access >= far_apart;
      footprint_.reloaded_sectors += again ? 1 : 0;
      sector.last_warp = of_grid;
      sector.last_access = now;
    }
  });
}

void FootprintRecorder::end_row_of_stores() {
  footprint_.store_sectors += row_.of_sector.size();
  for (const auto& [sector, bytes] : row_.of_sector) {
    footprint_.partly_stored_sectors += bytes < sector_bytes ? 1 : 0;
  }
  row_ = {};
}

void FootprintRecorder::see_sectors(const WarpAccess& access) {
  const Coverage coverage(access);
  const std::uint64_t warp =
      access.block * warps_of_block + static_cast<std::uint64_t>(access.warp);
  constexpr std::uint32_t widest = 16;
  if (!access.load) {
    bool again = false;
    for (std::size_t i = 0; i < coverage.count; ++i) {
      const auto known = row_.of_sector.find(coverage.sectors[i]);
      const std::uint64_t before = known == row_.of_sector.end() ? 0 : known->second;
      again = again || before + coverage.bytes[i] > sector_bytes;
    }
    if (again || row_.warp != warp || row_.bytes + access.bytes > widest) end_row_of_stores();
    row_.warp = warp;
    row_.bytes += access.bytes;
  }
  std::array<std::uint64_t, sectors_of_line> columns{};
  std::uint64_t line_before = ~std::uint64_t{0};
  for (std::size_t i = 0; i < coverage.count; ++i) {
    ++columns[coverage.sectors[i] % sectors_of_line];
    if (!access.load) row_.of_sector[coverage.sectors[i]] += coverage.bytes[i];
    const std::uint64_t line = coverage.sectors[i] / sectors_of_line;
    if (!access.load || line == line_before) continue;
    line_before = line;
    const auto [known, is_new] = line_block_.try_emplace(line, access.block);
    footprint_.loaded_lines_by_block += is_new || known->second != access.block ? 1 : 0;
    known->second = access.block;
  }
  (access.load ? footprint_.load_turns : footprint_.store_turns) +=
      *std::max_element(columns.begin(), columns.end());
}

void FootprintRecorder::see_meetings(const WarpAccess& access) {
  const Addresses sorted(access);
  const auto& [addresses, count] = sorted;
  Meetings& meetings = meetings_[access.site];
  std::uint64_t turns = 0, passes = 0, here = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t sector = addresses[i] / sector_bytes;
    const bool first = i == 0 || addresses[i - 1] / sector_bytes != sector;
    here = !first && addresses[i] == addresses[i - 1] ? here + 1 : 1;
    passes = first ? 1 : std::max(passes, here);
    turns = std::max(turns, here);
    if (access.shared) continue;
    if (i + 1 == count || addresses[i + 1] / sector_bytes != sector) {
      meetings.passes_of_unit[sector / sectors_of_unit] += passes;
      meetings.passes += passes;
    }
  }
  // If all lanes have different addresses, nothing takes turns. A lone lane may contend with other
  // warps.
  if (turns <= 1 && count > 2) return;
  meetings.turns += turns;
  for (std::size_t i = 0; !access.shared && i < count; ++i) ++meetings.lanes[addresses[i]];
}

Footprint FootprintRecorder::take(const std::vector<Site>& sites) {
  end_row_of_stores();
  Footprint footprint = std::exchange(footprint_, {});
  for (const auto& [site, meetings] : meetings_) {
    if (sites[site].role == SiteRole::shared_atomic) {
      footprint.shared_atomic_turns += meetings.turns;
    } else if (sites[site].role == SiteRole::global_atomic) {
      footprint.atomics_at_one_address =
          std::max(footprint.atomics_at_one_address, most(meetings.lanes));
      footprint.atomic_passes_of_unit =
          std::max(footprint.atomic_passes_of_unit, most(meetings.passes_of_unit));
      footprint.atomic_passes += meetings.passes;
    }
  }
  for (std::size_t site = 0; site < loads_.size(); ++site) {
    const SiteLoads& of = loads_[site];
    if (of.requested == 0) continue;
    SiteLoads& all = footprint.loads[sites[site].ptx_line];  // one site per inlined call
    all.requested += of.requested;
    all.first += of.first;
    all.by_block += of.by_block;
    all.by_warp += of.by_warp;
  }
  footprint.max_of_block = most(of_block_);
  footprint.max_of_warp = most(of_warp_);
  std::unordered_map<std::uint64_t, std::uint64_t> longest;  // by block
  for (const auto& [warp, count] : of_warp_) {
    std::uint64_t& found = longest[warp / warps_of_block];
    found = std::max(found, count);
  }
  for (const auto& [block, count] : longest) footprint.accesses_of_longest_warps += count;
  sectors_.clear();
  line_block_.clear();
  meetings_.clear();
  loads_.clear();
  of_block_.clear();
  of_warp_.clear();
  return footprint;
}

}  // namespace rung::vgpu
