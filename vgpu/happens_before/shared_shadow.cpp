#include "vgpu/happens_before/shared_shadow.hpp"

#include <algorithm>
#include <bit>

namespace rung::vgpu {

void SharedShadow::start(std::uint32_t bytes, int granule_bytes) {
  granule = granule_bytes;
  granule_shift = std::countr_zero(static_cast<unsigned>(granule_bytes));
  region_shift = std::max(6, static_cast<int>(std::bit_width((bytes + 63) / 64 - (bytes != 0))));
  // Padding: a vector of granules may be read past the end of the last access.
  const std::size_t granules = bytes / static_cast<std::uint32_t>(granule) + warp_size;
  for (std::vector<Stamp>* stamps : {&written, &first_reader, &other_reader}) {
    stamps->assign(granules, 0);
  }
  has_readers = false;
  for (std::vector<std::uint32_t>* sites : {&write_site, &first_read_site, &other_read_site}) {
    sites->resize(granules);
  }
  plain_write.clear();
  log.clear();
  found_written.forget();
  written_since_barrier = 0;
  unwritten = 0;
  left_.fill(0);
  const std::uint32_t of_region = 1u << (region_shift - granule_shift);
  std::uint32_t rest = bytes >> granule_shift;
  for (std::size_t region = 0; rest != 0; ++region) {
    left_[region] = std::min(rest, of_region);
    rest -= left_[region];
    unwritten |= Regions{1} << region;
  }
}

void SharedShadow::forget() {
  for (Stamp& stamp : written) stamp = stamp == 0 ? 0 : stamp_atomic;
  std::fill(first_reader.begin(), first_reader.end(), 0);
  std::fill(other_reader.begin(), other_reader.end(), 0);
  plain_write.clear();
}

void SharedShadow::write_atomically(std::size_t at, Stamp stamp, std::uint32_t site) {
  const Stamp before = written[at];
  // A copy in flight would stay in flight here, and was reported.
  if (before != 0 && (before & stamp_atomic) == 0 && stamp_time(before) != pending_time) {
    if (plain_write.empty()) plain_write.assign(written.size(), 0);
    plain_write_site.resize(written.size());
    plain_write[at] = before;
    plain_write_site[at] = write_site[at];
  }
  written[at] = stamp;
  write_site[at] = site;
}

void SharedShadow::count_first_writes(std::size_t first, std::size_t count) {
  const int shift = region_shift - granule_shift;
  const std::size_t end = first + count;
  for (std::size_t at = first; at < end;) {
    const std::size_t region = at >> shift;
    const std::size_t next = std::min(end, (region + 1) << shift);
    const auto from = written.begin() + static_cast<std::ptrdiff_t>(at);
    const auto to = written.begin() + static_cast<std::ptrdiff_t>(next);
    const auto fresh = static_cast<std::uint32_t>(std::count(from, to, Stamp{0}));
    left_[region] -= fresh;
    if (fresh != 0 && left_[region] == 0) unwritten &= ~(Regions{1} << region);
    at = next;
  }
}

}  // namespace rung::vgpu
