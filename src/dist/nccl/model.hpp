#pragma once
// The expected time of a call by each schedule, from which one is chosen.

#include <cstdint>

#include "dist/nccl/request.hpp"

namespace rung::nccl {

/// What a GPU and its links do.
struct Rates {
  double flops = 1;       // of products of the type, per second, on all SMs
  double memory = 1;      // bytes per second
  double link = 1;        // bytes per second that a rank sends
  double message = 5e-6;  // seconds of a message besides
  double launch = 5e-6;   // seconds of a product besides
  int multiprocessors = 132;
  int reserved = 0;  // SMs that transfers occupy
};

struct Expected {
  dist::Schedule schedule;
  int chunks = 1;
  double seconds = 0;
};

/// The schedule with the least expected time among those that `call` allows.
Expected choose(const Request& request, int ranks, const Rates& rates);

}  // namespace rung::nccl
