#pragma once
// The minimum time of a kernel: for each part of the machine its work over its rate, and the
// longest of these (Williams, Waterman, Patterson, "Roofline", 2009, with a roof for each level of
// memory).

#include <string>
#include <vector>

#include "analysis/machine.hpp"
#include "analysis/quantities.hpp"

namespace rung::analysis {

/// If caches are not public: all loads of lanes, as if no cache helped.
inline constexpr const char* uncached_level = "DRAM, if uncached";

/// One part of the machine.
struct Level {
  std::string name;  // "multiply-adds", "issue of PTX", "shared memory", "L1", "L2", "DRAM"
  double bytes = 0;  // 0: not counted in bytes
  double seconds = 0;
  bool is_bound = true;   // false: machine code may need less than PTX
  bool is_public = true;  // false: the rate is not public, and the time unknown

  double flops_per_byte(double flops) const { return bytes > 0 ? flops / bytes : 0; }
};

struct Roofline {
  double flops = 0;
  std::vector<Level> levels;
  /// Share of the SMs that have blocks until the end: the last wave is not full.
  double busy = 1;

  const Level& bound() const;
  double seconds() const { return bound().seconds / busy; }
};

/// Facts that the quantities do not contain.
struct Footprint {
  double register_bytes = 0;  // for an FMA of a thread: three operands read, one written
  double l2_bytes = 0;        // the sum over blocks of what each must load; 0: all sectors
  double dram_bytes = 0;      // operands once, the result once; 0: unknown
  double result_bytes = 0;    // of these, the result's
};

Roofline roofline(const Machine& machine, const Quantities& q, const Footprint& footprint,
                  double blocks);

}  // namespace rung::analysis
