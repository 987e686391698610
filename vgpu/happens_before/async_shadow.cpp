#include "vgpu/happens_before/async_shadow.hpp"

#include <algorithm>
#include <bit>

namespace rung::vgpu {

void AsyncShadow::start(std::uint32_t bytes, int groups, std::uint32_t unit) {
  unit_shift_ = std::countr_zero(unit);
  slots_ = static_cast<std::uint32_t>(groups) + 2;
  const std::size_t units = bytes / unit + 1;
  written_.assign(units, 0);
  readers_.assign(units * slots_, 0);
  writes.assign(1, {});
  reads.assign(1, {});
}

bool AsyncShadow::is_uniform(std::uint32_t offset, std::uint32_t end) const {
  const std::size_t begin = first(offset), others = last(end) - begin - 1;
  if (others == 0) return true;
  const std::uint32_t* const writers = written_.data() + begin;
  const std::uint32_t* const readers = readers_.data() + begin * slots_;
  return std::equal(writers, writers + others, writers + 1) &&
         std::equal(readers, readers + others * slots_, readers + slots_);
}

bool AsyncShadow::has_write(std::uint32_t offset, std::uint32_t end, std::uint32_t write) const {
  std::uint32_t differs = 0;
  for (std::size_t unit = first(offset); unit < last(end); ++unit)
    differs |= written_[unit] ^ write;
  return differs == 0;
}

void AsyncShadow::set_write(std::uint32_t offset, std::uint32_t end, std::uint32_t write) {
  const std::size_t begin = first(offset), count = last(end) - begin;
  std::fill_n(written_.data() + begin, count, write);
  std::fill_n(readers_.data() + begin * slots_, count * slots_, 0u);
}

void AsyncShadow::set_read(std::uint32_t offset, std::uint32_t end, int slot, std::uint32_t read) {
  std::uint32_t* const readers = readers_.data() + slot;
  for (std::size_t unit = first(offset); unit < last(end); ++unit) readers[unit * slots_] = read;
}

}  // namespace rung::vgpu
