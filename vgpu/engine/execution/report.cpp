#include "vgpu/engine/execution/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace rung::vgpu {
namespace {

using Position = std::array<std::uint32_t, 3>;

Position position_of_block(const LaunchOptions& options, std::uint64_t linear) {
  const std::uint64_t above = linear / options.grid.x;
  return {static_cast<std::uint32_t>(linear % options.grid.x),
          static_cast<std::uint32_t>(above % options.grid.y),
          static_cast<std::uint32_t>(above / options.grid.y)};
}

Position position_of_thread(const LaunchOptions& options, const Position& block, int thread) {
  const Dim3 size = options.threads_of({block[0], block[1], block[2]});
  const auto index = static_cast<std::uint32_t>(thread);
  return {index % size.x, index / size.x % size.y, index / size.x / size.y};
}

/// True for a load whose value the thread does not use: it may read what another thread writes.
bool is_unused_load(const Block& block, std::uint64_t linear_block, int thread, std::uint32_t site,
                    const std::string& access) {
  const UnusedLoads& loads = block.worker.kernel.unused_loads;
  if (access != "read" || loads.stores.empty()) return false;
  const LaunchOptions& options = block.worker.launch.options;
  return loads.is_unused(
      site, position_of_thread(options, position_of_block(options, linear_block), thread));
}

std::string describe(const Party& party) {
  return fmt::format("{} by thread ({},{},{}) of block ({},{},{}){}{}", party.access,
                     party.thread[0], party.thread[1], party.thread[2], party.block[0],
                     party.block[1], party.block[2], party.source.empty() ? "" : " at ",
                     party.source);
}

}  // namespace

/// Limits the kinds that are no errors to half of the log, so that errors always fit.
bool HazardLog::has_room(HazardKind kind) const {
  return entries_.size() < (kind == HazardKind::same_value ? limit_ / 2 : limit_);
}

bool HazardLog::is_race(std::uint32_t site, std::uint32_t other_site) const {
  for (const HazardKind kind : {HazardKind::shared_race, HazardKind::global_race}) {
    if (entries_.contains({kind, site, other_site})) return true;
    if (entries_.contains({kind, other_site, site})) return true;
  }
  return false;
}

bool HazardLog::has_race(std::uint32_t site, std::uint32_t other_site) const {
  const std::lock_guard lock(mutex_);
  return is_race(site, other_site);
}

bool HazardLog::wants(HazardKind kind, std::uint32_t site, std::uint32_t other_site,
                      std::uint64_t block, int thread) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find({kind, site, other_site});
  if (found == entries_.end()) return has_room(kind);
  ++found->second.hazard.count;
  return std::tie(block, thread) < std::tie(found->second.block, found->second.thread);
}

void HazardLog::add(Entry entry) {
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = entries_.try_emplace({entry.kind, entry.site, entry.other_site}, entry);
  if (is_new ||
      std::tie(entry.block, entry.thread) >= std::tie(at->second.block, at->second.thread)) {
    return;
  }
  entry.hazard.count = at->second.hazard.count;
  at->second = std::move(entry);
}

std::vector<Hazard> HazardLog::sorted() const {
  const std::lock_guard lock(mutex_);
  std::vector<Hazard> hazards;
  for (const auto& [key, entry] : entries_) {
    // If some values differ, it is a race, and "same value" does not apply.
    const bool is_moot =
        entry.kind == HazardKind::same_value && is_race(entry.site, entry.other_site);
    if (!is_moot) hazards.push_back(entry.hazard);
  }
  // Races that follow from a skipped barrier come after it.
  std::stable_partition(hazards.begin(), hazards.end(), [](const Hazard& hazard) {
    return hazard.kind == HazardKind::divergent_barrier;
  });
  return hazards;
}

HeldReports::HeldReports(Block& block) : worker_(block.worker), before_(block.worker.held_reports) {
  worker_.held_reports = &entries;
}
HeldReports::~HeldReports() { worker_.held_reports = before_; }

void add_held_report(Block& block, const HazardEntry& entry) {
  HazardLog& log = *block.worker.launch.hazards;
  if (log.wants(entry.kind, entry.site, entry.other_site, entry.block, entry.thread))
    log.add(entry);
}

bool wants_report(Block& block, HazardKind kind, std::uint32_t site, std::uint32_t other_site,
                  int thread) {
  return block.worker.held_reports != nullptr ||
         block.worker.launch.hazards->wants(kind, site, other_site, block.linear, thread);
}

Party party(const Block& block, std::uint64_t linear_block, int thread, std::uint32_t site,
            std::string access) {
  const Kernel& kernel = block.worker.kernel;
  const LaunchOptions& options = block.worker.launch.options;
  const Position at_block = position_of_block(options, linear_block);
  const Position at_thread = position_of_thread(options, at_block, thread);
  Party result;
  std::ranges::copy(at_block, result.block);
  std::ranges::copy(at_thread, result.thread);
  result.access = std::move(access);
  if (site < kernel.sites.size()) {
    const Site& at = kernel.sites[site];
    result.source = at.where;
    if (!at.where.empty()) {
      result.file = kernel.files[static_cast<std::size_t>(at.source.file)];
      result.line = at.source.line;
    }
    result.instruction = fmt::format("{} (PTX line {})", at.mnemonic, at.ptx_line);
  }
  return result;
}

std::string shared_address(const Block& block, std::uint64_t offset) {
  for (const SharedArray& array : block.worker.kernel.shared_arrays) {
    const bool inside = array.dynamic
                            ? offset >= array.offset
                            : offset >= array.offset && offset < array.offset + array.bytes;
    if (inside) return fmt::format("{} + {}", array.name, offset - array.offset);
  }
  return fmt::format("shared memory + {}", offset);
}

namespace {

void add(Block& block, int thread, std::uint32_t site, std::uint32_t other_site, Hazard hazard) {
  hazard.kernel = block.worker.kernel.info.name;
  HazardEntry entry{hazard.kind, site, other_site, block.linear, thread, std::move(hazard)};
  if (block.worker.held_reports != nullptr) {
    block.worker.held_reports->push_back(std::move(entry));
  } else {
    block.worker.launch.hazards->add(std::move(entry));
  }
}

void add_race(Block& block, HazardKind kind, int thread, std::uint32_t site, std::string access,
              std::uint64_t other_block, int other_thread, std::uint32_t other_site,
              std::string other_access, std::string address, const char* how,
              const char* and_then = "") {
  Hazard hazard;
  hazard.kind = kind;
  hazard.first = party(block, block.linear, thread, site, std::move(access));
  hazard.has_other = true;
  hazard.other = party(block, other_block, other_thread, other_site, std::move(other_access));
  hazard.address = std::move(address);
  hazard.message =
      fmt::format("{}: {}, {}: not ordered with the {}{}{}", name(kind), describe(hazard.first),
                  hazard.address, how, describe(hazard.other), and_then);
  add(block, thread, site, other_site, std::move(hazard));
}

}  // namespace

void add_report(Block& block, HazardKind kind, int thread, std::uint32_t site, std::string access,
                Description description) {
  Hazard hazard;
  hazard.kind = kind;
  hazard.first = party(block, block.linear, thread, site, std::move(access));
  hazard.address = std::move(description.address);
  hazard.message =
      fmt::format("{}: {}{}{}: {}", name(kind), describe(hazard.first),
                  hazard.address.empty() ? "" : ", ", hazard.address, description.message);
  add(block, thread, site, site, std::move(hazard));
}

void report(Block& block, HazardKind kind, int thread, std::uint32_t site, std::string access,
            std::string address, std::string message) {
  if (!wants_report(block, kind, site, site, thread)) return;
  add_report(block, kind, thread, site, std::move(access),
             {std::move(address), std::move(message)});
}

void report_race(Block& block, int thread, std::uint32_t site, std::string access, int other_thread,
                 std::uint32_t other_site, std::string other_access, std::uint64_t shared_offset,
                 bool in_flight) {
  if (is_unused_load(block, block.linear, thread, site, access) ||
      is_unused_load(block, block.linear, other_thread, other_site, other_access)) {
    return;
  }
  if (!wants_report(block, HazardKind::shared_race, site, other_site, thread)) return;
  add_race(block, HazardKind::shared_race, thread, site, std::move(access), block.linear,
           other_thread, other_site, std::move(other_access), shared_address(block, shared_offset),
           in_flight ? "asynchronous " : "");
}

void report_cluster_race(Block& block, int thread, std::uint32_t site, std::string access,
                         const Block& other_block, int other_thread, std::uint32_t other_site,
                         std::string other_access, std::string address) {
  if (!wants_report(block, HazardKind::shared_race, site, other_site, thread)) return;
  add_race(block, HazardKind::shared_race, thread, site, std::move(access), other_block.linear,
           other_thread, other_site, std::move(other_access), std::move(address), "");
}

void report_global_race(Block& block, int thread, std::uint32_t site, std::string access,
                        std::uint64_t other_block, int other_thread, std::uint32_t other_site,
                        std::string other_access, std::uint64_t address) {
  if (is_unused_load(block, block.linear, thread, site, access) ||
      is_unused_load(block, other_block, other_thread, other_site, other_access)) {
    return;
  }
  if (!wants_report(block, HazardKind::global_race, site, other_site, thread)) return;
  add_race(block, HazardKind::global_race, thread, site, std::move(access), other_block,
           other_thread, other_site, std::move(other_access),
           block.worker.launch.memory.describe(address), "");
}

std::int64_t exited_threads(const Block& block) {
  return block.worker.launch.options.block.count() - block.live_threads();
}

void report_unwritten(Block& block, int thread, std::uint32_t site, std::uint64_t offset,
                      std::int64_t exited) {
  report(block, HazardKind::uninitialised_read, thread, site, "read", [&] {
    const std::string text = "no thread of the block has written it";
    return Description{
        shared_address(block, offset),
        exited == 0 ? text : fmt::format("{}, and {} of them have exited", text, exited)};
  });
}

void report_same_value(Block& block, int thread, std::uint32_t site, std::uint64_t other_block,
                       int other_thread, std::uint32_t other_site, std::uint64_t at, bool shared) {
  const LaunchState& launch = block.worker.launch;
  if (!wants_report(block, HazardKind::same_value, site, other_site, thread)) return;
  add_race(block, HazardKind::same_value, thread, site, "write", other_block, other_thread,
           other_site, "write", shared ? shared_address(block, at) : launch.memory.describe(at), "",
           ", which wrote the same value");
}

void report_lanes_collide(Block& block, const Warp& warp, const MemoryOp& op, Shape& shape,
                          const Place& place, int lane) {
  int other = lane;
  for (Mask left = shape.mask; left != 0; left &= left - 1) {
    const int candidate = first_lane(left);
    if (shape.address(candidate) == shape.address(lane)) other = candidate;
  }
  const bool shared = place.space == ptx::Space::shared;
  const std::uint64_t address = place.address(shape.address(lane), lane);
  const int thread = block.thread(warp, lane);
  if (shared) {
    report_race(block, thread, op.site, "write", block.thread(warp, other), op.site, "write",
                address - reinterpret_cast<std::uint64_t>(block.shared.data()), false);
  } else {
    report_global_race(block, thread, op.site, "write", block.linear, block.thread(warp, other),
                       op.site, "write", address);
  }
}

}  // namespace rung::vgpu
