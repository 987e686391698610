#pragma once
// The measured limits of this machine: FMAs and memory bandwidth.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backends/backend.hpp"
#include "measure/ceiling_kernels.hpp"

namespace rung {

/// A batch whose calls each do `work` flops or read `work` bytes, as fast as the machine can.
struct CeilingBatch {
  Batch batch;
  double work;
};

/// FMAs in registers, in the accumulator type of a dtype, on that many threads.
CeilingBatch fma_ceiling(Dtype dtype, int threads);

/// Reads all regions once. They must outlive the batch.
CeilingBatch read_ceiling(const std::vector<Region>& regions, int threads);

/// One measured limit: "f32" in GFLOP/s (i32: 10^9 multiplications and additions per second), "L1"
/// in GB/s.
struct Ceiling {
  std::string name;
  double one_thread;
  double all_threads;
};

struct Ceilings {
  std::vector<Ceiling> multiply_add;  // f32, f64, i32
  std::vector<Ceiling> read;          // L1, L2, L3, DRAM
};

/// Takes about three seconds.
Ceilings measure_ceilings();

/// The first result of measure_ceilings() on this machine, cached in
/// $XDG_CACHE_HOME/rung/ceilings-<hash of machine and version>.json (default: ~/.cache). Measures
/// again on request. If the folder is not writable, that is no error.
Ceilings cached_ceilings(bool remeasure);

}  // namespace rung
