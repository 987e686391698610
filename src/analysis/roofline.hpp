#pragma once
// How long a kernel takes at least: for each part of the machine the work that it has, over the
// rate that it has, and the longest of these (Williams, Waterman, Patterson, "Roofline", 2009, with
// a roof for each level of memory).

#include <string>
#include <vector>

#include "analysis/machine.hpp"
#include "analysis/quantities.hpp"

namespace rung::analysis {

/// Where caches are not public: what lanes load, each by itself, as if none helped.
inline constexpr const char* uncached_level = "DRAM, if uncached";

/// One part of the machine.
struct Level {
  std::string name;  // "multiply-adds", "issue of PTX", "shared memory", "L1", "L2", "DRAM"
  double bytes = 0;  // 0: none that count
  double seconds = 0;
  bool is_bound = true;   // a kernel cannot take less; machine code may have less to issue than PTX
  bool is_public = true;  // false: nobody has published the rate, and the time is not known

  double flops_per_byte(double flops) const { return bytes > 0 ? flops / bytes : 0; }
};

struct Roofline {
  double flops = 0;
  std::vector<Level> levels;
  /// Share of the multiprocessors that have blocks to the end: the last round of them is not full.
  double busy = 1;

  const Level& bound() const;
  double seconds() const { return bound().seconds / busy; }
};

/// What the quantities do not tell.
struct Footprint {
  double register_bytes = 0;  // of a thread's multiply-add: three operands read, one written
  double l2_bytes = 0;        // what blocks have to bring, each by itself; 0: all sectors
  double dram_bytes = 0;      // operands once, the result once; 0: not known
  double result_bytes = 0;    // of these, the result's
};

Roofline roofline(const Machine& machine, const Quantities& q, const Footprint& footprint,
                  double blocks);

}  // namespace rung::analysis
