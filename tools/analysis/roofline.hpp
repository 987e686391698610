#pragma once
// The minimum time of a kernel: the longest time of all parts of the device, each the part's work
// divided by its rate (Williams, Waterman, Patterson, "Roofline", 2009, with one roof per level of
// memory).

#include <string>
#include <vector>

#include "tools/analysis/machine.hpp"
#include "tools/analysis/quantities.hpp"

namespace rung::analysis {

/// If caches are not published: all loads of lanes, as if there were no cache.
inline constexpr const char* uncached_level = "DRAM, if uncached";

/// A part of the device.
struct Level {
  std::string name;  // "multiply-adds", "issue of PTX", "shared memory", "L1", "L2", "DRAM"
  double bytes = 0;  // 0 if not counted in bytes
  double seconds = 0;
  bool is_bound = true;   // false if machine code may need less than PTX
  bool is_public = true;  // false if the rate is not published and the time unknown

  double flops_per_byte(double flops) const { return bytes > 0 ? flops / bytes : 0; }
};

struct Roofline {
  double flops = 0;
  std::vector<Level> levels;
  /// The mean share of SMs with blocks to execute: the last wave may not be full.
  double busy = 1;

  const Level& bound() const;
  double seconds() const { return bound().seconds / busy; }
};

/// Properties that the quantities do not contain.
struct Footprint {
  double register_bytes = 0;  // per FMA of a thread: three operands read, one written
  double l2_bytes = 0;        // sum over blocks of the data that each must load; 0: all sectors
  double dram_bytes = 0;      // operands and result once each; 0 if unknown
};

Roofline roofline(const Machine& machine, const Quantities& q, const Footprint& footprint,
                  double blocks);

}  // namespace rung::analysis
