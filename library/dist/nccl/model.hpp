#pragma once
// Predicts the time of a call for each schedule, to choose one.

#include <cstdint>

#include "library/dist/nccl/link.hpp"
#include "library/dist/nccl/request.hpp"

namespace rung::nccl {

/// The rates of a GPU and its links.
struct Rates {
  double flops = 1;       // FLOP/s of a product on all SMs
  double memory = 1;      // bytes per second
  double launch = 5e-6;   // fixed time of a product in seconds
  double wait = 8e-6;     // seconds between products if the second awaits an arrived part
  double message = 9e-6;  // fixed link time in seconds of a message's copy and its word
  LinkRates exchange;     // messages while products run
  LinkRates collective = {.seconds = 20e-6,
                          .bytes_per_second = 1};  // of NCCL's collectives, of each rank's data
  /// NCCL's all-gather in a symmetric window; bytes_per_second 0: no window.
  LinkRates symmetric = {.seconds = 8e-6, .bytes_per_second = 0};
  double free_share = 1;  // fraction of SMs that transfers leave to concurrent products
  int multiprocessors = 132;
  bool has_fused = true;  // there is a kernel for Schedule::fused
  /// True if NCCL's reductions, whose order of sums NCCL chooses, may be used.
  bool may_reduce_by_nccl = true;
};

/// The rates for deterministic calls: NVLink constants instead of measurements, the library's own
/// sums, and no windows, which a version of NCCL may lack.
Rates deterministic(Rates rates);

/// FLOP per SM and cycle of a product of a type, as achieved by large products.
double flops_per_cycle(ElementType type, int compute_capability);

struct Expected {
  dist::Schedule schedule;
  int chunks = 1;
  double seconds = 0;
  bool symmetric = false;  // an all-gather by NCCL uses a symmetric window
};

/// The schedule with the shortest predicted time among those that `call` allows.
Expected choose(const Request& request, int ranks, const Rates& rates);

}  // namespace rung::nccl
