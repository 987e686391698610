#include "vgpu/driver/host_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace rung::vgpu::driver {
namespace {

std::uint64_t page_bytes() {
  static const auto bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// How often a page is opened for accesses to other bytes than those that are pending. Each takes some
// microseconds.
constexpr std::uint16_t most_opens = 4096;

int allowed(ProgramShadow::Pending pending) {
  return pending == ProgramShadow::Pending::reads ? PROT_READ : PROT_NONE;
}

}  // namespace

void HostPages::note(const Allocation& allocation) {
  const std::uint64_t page = page_bytes();
  const auto [found, is_new] = memories_.try_emplace(allocation.address);
  Pages& pages = found->second;
  pages.is_noted = true;
  if (!is_new && pages.memory.bytes == allocation.bytes) return;
  pages = {};
  pages.is_noted = true;
  pages.memory = {allocation.address, allocation.bytes};
  const std::uint64_t end = allocation.address + allocation.bytes;
  // Memory that the caller has registered may share its first and last page with other data.
  const bool is_own = allocation.initialised != nullptr;
  pages.begin = (is_own ? allocation.address : allocation.address + page - 1) / page * page;
  const std::uint64_t last = (is_own ? end + page - 1 : end) / page * page;
  if (last > pages.begin) pages.pending.resize((last - pages.begin) / page);
  pages.opens.resize(pages.pending.size());
}

void HostPages::forget(std::uint64_t address) {
  const auto found = memories_.find(address);
  if (found == memories_.end()) return;
  if (is_protected_) apply(found->second, false);
  memories_.erase(found);
}

void HostPages::examine(Pages& pages, const ProgramShadow& shadow,
                        const ProgramClock& clock) const {
  const std::uint64_t page = page_bytes();
  const std::uint64_t end = pages.memory.address + pages.memory.bytes;
  pages.is_noted = pages.any = false;
  std::fill(pages.pending.begin(), pages.pending.end(), Pending::nothing);
  if (shadow.pending(pages.memory, 0, pages.memory.bytes, false, clock) == Pending::nothing) return;
  for (std::size_t i = 0; i < pages.pending.size(); ++i) {
    const std::uint64_t begin = pages.begin + i * page, bytes = std::min(begin + page, end) - begin;
    const auto pending = [&](bool all) {
      return shadow.pending(pages.memory, begin - pages.memory.address, bytes, all, clock);
    };
    pages.pending[i] = pending(false);
    const bool has_others = bytes < page || pending(true) != pages.pending[i];
    pages.opens[i] = has_others ? most_opens : 0;
    pages.any = pages.any || pages.pending[i] != Pending::nothing;
  }
}

void HostPages::apply(const Pages& pages, bool protect) const {
  if (!pages.any) return;
  const std::uint64_t page = page_bytes();
  for (std::size_t i = 0; i < pages.pending.size();) {
    std::size_t end = i + 1;
    while (end < pages.pending.size() && pages.pending[end] == pages.pending[i]) ++end;
    if (pages.pending[i] != Pending::nothing) {
      mprotect(reinterpret_cast<void*>(pages.begin + i * page), (end - i) * page,
               protect ? allowed(pages.pending[i]) : PROT_READ | PROT_WRITE);
    }
    i = end;
  }
}

void HostPages::lift() {
  if (!is_protected_) return;
  for (const auto& [address, pages] : memories_) apply(pages, false);
  is_protected_ = false;
}

void HostPages::protect(const ProgramShadow& shadow, const ProgramClock& clock, bool all) {
  if (memories_.empty() || !handles_host_accesses()) return;
  lift();
  for (auto& [address, pages] : memories_) {
    if (pages.is_noted || all) examine(pages, shadow, clock);
    apply(pages, true);
    is_protected_ = is_protected_ || pages.any;
  }
  if (is_protected_) has_protected_ = true;
}

void HostPages::protect_all() {
  if (memories_.empty() || !handles_host_accesses()) return;
  lift();
  for (auto& [address, pages] : memories_) {
    std::ranges::fill(pages.pending, Pending::writes);
    std::ranges::fill(pages.opens, most_opens);
    pages.any = !pages.pending.empty();
    pages.is_noted = true;  // examined again by protect()
    apply(pages, true);
    is_protected_ = is_protected_ || pages.any;
  }
  if (is_protected_) has_protected_ = true;
}

HostPages::Pages* HostPages::find(std::uint64_t address) {
  for (auto& [start, pages] : memories_) {
    if (address >= pages.begin && address - pages.begin < pages.pending.size() * page_bytes()) {
      return &pages;
    }
  }
  return nullptr;
}

std::optional<HostPages::Opened> HostPages::open(std::uint64_t address) {
  const std::uint64_t page = page_bytes();
  Pages* const pages = is_protected_ ? find(address) : nullptr;
  if (pages == nullptr) return std::nullopt;
  const std::size_t index = (address - pages->begin) / page;
  if (pages->pending[index] == Pending::nothing) return std::nullopt;
  mprotect(reinterpret_cast<void*>(address / page * page), page, PROT_READ | PROT_WRITE);
  const bool may_close = pages->opens[index] != 0 && opens_ != 0;
  if (may_close) {
    --pages->opens[index];
    --opens_;
  }
  return Opened{pages->memory, may_close};
}

void HostPages::close(std::uint64_t address) {
  const std::uint64_t page = page_bytes();
  const Pages* const pages = is_protected_ ? find(address) : nullptr;
  if (pages == nullptr) return;
  const Pending pending = pages->pending[(address - pages->begin) / page];
  if (pending == Pending::nothing) return;
  mprotect(reinterpret_cast<void*>(address / page * page), page, allowed(pending));
}

void HostPages::leave_open(std::uint64_t address) {
  Pages* const pages = find(address);
  if (pages != nullptr) {
    pages->pending[(address - pages->begin) / page_bytes()] = Pending::nothing;
  }
}

}  // namespace rung::vgpu::driver
