#pragma once
// The expected time of a call by each schedule, from which one is chosen.

#include <cstdint>

#include "dist/nccl/link.hpp"
#include "dist/nccl/request.hpp"

namespace rung::nccl {

/// What a GPU and its links do.
struct Rates {
  double flops = 1;       // of a product on all SMs, per second
  double memory = 1;      // bytes per second
  double launch = 5e-6;   // seconds of a product besides
  double wait = 8e-6;     // between two products, if the second one awaits a part that has arrived
  double message = 9e-6;  // of the link, for a message's copy and its word, besides its bytes
  LinkRates exchange;     // of messages beside products
  LinkRates collective = {.seconds = 20e-6,
                          .bytes_per_second = 1};  // of NCCL's collectives, of each rank's data
  /// Of its all-gather in a symmetric window; without bytes_per_second there is none.
  LinkRates symmetric = {.seconds = 8e-6, .bytes_per_second = 0};
  double free_share = 1;  // of the SMs, which transfers leave to products beside them
  int multiprocessors = 132;
  bool has_fused = true;  // whether there is a kernel for Schedule::fused
  /// Whether NCCL's reductions, whose order of sums is NCCL's choice, may be used.
  bool may_reduce_by_nccl = true;
};

/// These with constants, of NVLink, in place of what was measured, with the library's own sums, and
/// without windows, which a version of NCCL may lack.
Rates deterministic(Rates rates);

/// What an SM does in a cycle: FLOP of a product of the type, as large products reach it.
double flops_per_cycle(ElementType type, int compute_capability);

struct Expected {
  dist::Schedule schedule;
  int chunks = 1;
  double seconds = 0;
  bool symmetric = false;  // whether an all-gather by NCCL takes place in a symmetric window
};

/// The schedule with the least expected time among those that `call` allows.
Expected choose(const Request& request, int ranks, const Rates& rates);

}  // namespace rung::nccl
