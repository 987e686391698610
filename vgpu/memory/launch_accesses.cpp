#include "vgpu/memory/launch_accesses.hpp"

#include <algorithm>
#include <new>

namespace rung::vgpu {

TouchedBytes::TouchedBytes(const Allocation& allocation)
    : allocation_(&allocation),
      count_((allocation.bytes + TouchedRow::bytes - 1) / TouchedRow::bytes),
      rows_(static_cast<TouchedRow*>(std::calloc(count_, sizeof(TouchedRow)))),
      chunks_((count_ + rows_of_chunk - 1) / rows_of_chunk) {
  if (rows_ == nullptr) throw std::bad_alloc();
}

void TouchedBytes::add_rows(std::uint64_t offset, std::uint64_t bytes, Touch touch) {
  constexpr std::uint64_t all = ~std::uint64_t{0};
  const std::uint64_t end = offset + bytes;
  while (offset < end) {
    const std::size_t index = offset / TouchedRow::bytes;
    const std::uint64_t begin = offset % TouchedRow::bytes;
    const std::uint64_t count = std::min(end - offset, TouchedRow::bytes - begin);
    const std::uint64_t mask = (all >> (TouchedRow::bytes - count)) << begin;
    offset += count;
    const std::atomic_ref<std::uint64_t> known = masks(index, touch);
    if ((known.load(std::memory_order_relaxed) & mask) == mask) continue;
    known.fetch_or(mask, std::memory_order_relaxed);
    std::atomic_ref(chunks_[index / rows_of_chunk]).store(1, std::memory_order_relaxed);
  }
}

LaunchAccesses::~LaunchAccesses() {
  for (const auto& touched : touched_) {
    for (const auto& bytes : touched) bytes->allocation().touched = {};
  }
}

void LaunchAccesses::note_wait(std::uint64_t block) {
  has_waited_.store(true, std::memory_order_relaxed);
  if (triggers_after_wait()) return;
  const std::lock_guard lock(mutex_);
  if (!triggered_.contains(block)) triggers_late_.store(true, std::memory_order_relaxed);
}

void LaunchAccesses::note_trigger(std::uint64_t block) {
  if (triggers_after_wait()) return;
  const std::lock_guard lock(mutex_);
  triggered_.insert(block);
}

TouchedBytes& LaunchAccesses::of(const Allocation& allocation, bool early) {
  const std::size_t which = early ? 1 : 0;
  const std::atomic_ref known(allocation.touched[which]);
  if (TouchedBytes* const found = known.load(std::memory_order_acquire)) return *found;
  const std::lock_guard lock(mutex_);
  if (TouchedBytes* const found = known.load(std::memory_order_acquire)) return *found;
  touched_[which].push_back(std::make_unique<TouchedBytes>(allocation));
  known.store(touched_[which].back().get(), std::memory_order_release);
  return *touched_[which].back();
}

}  // namespace rung::vgpu
