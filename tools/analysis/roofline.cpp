#include "tools/analysis/roofline.hpp"

#include <algorithm>
#include <cmath>

namespace rung::analysis {
namespace {

constexpr double sector_bytes = 32;

Level transfer(std::string name, double bytes, double bytes_a_second) {
  return {std::move(name), bytes, bytes / bytes_a_second, true};
}

/// The levels of a GPU without published figures for caches and shared memory: all loads of lanes
/// as if there were no cache, next to the compulsory traffic.
std::vector<Level> unpublished_levels(const Machine& machine, const Quantities& q) {
  return {{"shared memory", q.shared_load_bytes + q.shared_store_bytes, 0, false, false},
          {uncached_level, q.global_load_bytes, q.global_load_bytes / machine.memory_bytes, false}};
}

std::vector<Level> levels_of_caches(const Machine& machine, const Quantities& q, double l2_bytes) {
  return {{"issue of PTX", 0, q.instructions / machine.rate(Machine::instructions_a_cycle), false},
          transfer("shared memory", q.shared_wavefronts * Machine::shared_bytes_a_cycle,
                   machine.rate(Machine::shared_bytes_a_cycle)),
          transfer("L1", q.l1_cycles * Machine::l1_bytes_a_cycle,
                   machine.rate(Machine::l1_bytes_a_cycle)),
          transfer("L2", l2_bytes, machine.rate(Machine::l2_bytes_a_cycle))};
}

}  // namespace

const Level& Roofline::bound() const {
  return *std::max_element(levels.begin(), levels.end(), [](const Level& a, const Level& b) {
    return a.is_bound * a.seconds < b.is_bound * b.seconds;
  });
}

Roofline roofline(const Machine& machine, const Quantities& q, const Footprint& footprint,
                  double blocks) {
  Roofline roofs;
  roofs.flops = 2 * q.multiply_adds;
  const double l2 = footprint.l2_bytes > 0 ? footprint.l2_bytes
                                           : (q.global_sectors + q.bulk_sectors) * sector_bytes;
  const double register_bytes = q.uses_matrix_units() ? 0 : footprint.register_bytes;
  roofs.levels = {
      {"multiply-adds", q.multiply_adds * register_bytes, roofs.flops / machine.flops, true}};
  for (Level& level :
       machine.is_public ? levels_of_caches(machine, q, l2) : unpublished_levels(machine, q)) {
    roofs.levels.push_back(std::move(level));
  }
  if (footprint.dram_bytes > 0) {
    roofs.levels.push_back(transfer("DRAM", footprint.dram_bytes, machine.memory_bytes));
  }
  const double rounds = std::ceil(blocks / machine.multiprocessors);
  if (rounds > 0) roofs.busy = blocks / (rounds * machine.multiprocessors);
  return roofs;
}

}  // namespace rung::analysis
