#pragma once
// Measured limits of this machine: FMA throughput and memory bandwidth.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "backends/backend.hpp"
#include "tools/measure/ceiling_kernels.hpp"

namespace rung {

/// A batch whose calls each compute `work` FLOPs or read `work` bytes at the machine's maximum
/// rate.
struct CeilingBatch {
  BoundCall batch;
  double work;
};

/// The data type whose multiply-add rate limits `dtype`: itself if this CPU has instructions for
/// it, otherwise its accumulation type.
Dtype ceiling_type(Dtype dtype);

/// Multiply-adds of ceiling_type(dtype) in registers, on this number of threads.
CeilingBatch fma_ceiling(Dtype dtype, int threads);

/// Reads all regions once. They must outlive the batch.
CeilingBatch read_ceiling(const std::vector<Region>& regions, int threads);

/// A measured limit: "f32" in GFLOP/s (i32 and i8: 10^9 multiplications and additions per second),
/// "L1" in GB/s.
struct Ceiling {
  std::string name;
  double one_thread;
  double all_threads;
};

struct Ceilings {
  std::vector<Ceiling> multiply_add;  // f32, f64, i32, i8, and bf16 if supported
  std::vector<Ceiling> read;          // L1, L2, L3, DRAM
};

/// Takes approximately three seconds.
Ceilings measure_ceilings();

/// A measured rate of multiply-adds in GFLOP/s, as for Ceiling.
struct ReachedRate {
  std::string name;  // name of the ceiling: "f32"
  int threads;       // 1, or all threads of the machine
  double rate;
};

/// The result of the first measure_ceilings() on this machine, cached in
/// $XDG_CACHE_HOME/rung/ceilings-<hash of machine and version>.json (by default, in ~/.cache).
/// Measures again on request, if the file is corrupt or implausible, and if a rate in `reached`
/// exceeds its ceiling (the machine was busy when it was measured); in that case, the higher values
/// are stored. An unwritable directory is not an error.
Ceilings cached_ceilings(bool remeasure, std::span<const ReachedRate> reached = {},
                         const std::function<Ceilings()>& measure = measure_ceilings);

}  // namespace rung
