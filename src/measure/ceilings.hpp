#pragma once
// The measured limits of this machine: FMAs and memory bandwidth.

#include <cstdint>
#include <functional>
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

/// The dtype whose multiply-adds limit another: its own where this CPU has instructions for it,
/// else that of its sums.
Dtype ceiling_type(Dtype dtype);

/// Multiply-adds in registers, of ceiling_type(dtype), on that many threads.
CeilingBatch fma_ceiling(Dtype dtype, int threads);

/// Reads all regions once. They must outlive the batch.
CeilingBatch read_ceiling(const std::vector<Region>& regions, int threads);

/// One measured limit: "f32" in GFLOP/s (i32 and i8: 10^9 multiplications and additions per second), "L1"
/// in GB/s.
struct Ceiling {
  std::string name;
  double one_thread;
  double all_threads;
};

struct Ceilings {
  std::vector<Ceiling> multiply_add;  // f32, f64, i32, i8, and bf16 if it has instructions
  std::vector<Ceiling> read;          // L1, L2, L3, DRAM
};

/// Takes about three seconds.
Ceilings measure_ceilings();

/// A rate of multiply-adds that something reached, in GFLOP/s as above.
struct ReachedRate {
  std::string name;  // of the ceiling: "f32"
  int threads;       // 1, or all of the machine
  double rate;
};

/// What measure_ceilings() found the first time on this machine, kept in
/// $XDG_CACHE_HOME/rung/ceilings-<hash of machine and version>.json (~/.cache if that is not set).
/// Measures again if asked to, if the file is damaged or implausible, and if a rate passes what it
/// says: the machine was busy then, and the higher of both is kept. A folder that cannot be written
/// is no error.
Ceilings cached_ceilings(bool remeasure, std::span<const ReachedRate> reached = {},
                         const std::function<Ceilings()>& measure = measure_ceilings);

}  // namespace rung
