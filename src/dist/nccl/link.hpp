#pragma once
// How fast blocks travel between the ranks, measured once.

#include "dist/nccl/exchange.hpp"

namespace rung::nccl {

struct LinkRates {
  double seconds;           // of a small message
  double bytes_per_second;  // of a large one, besides
};

/// Collective; some messages between all of at least two ranks.
LinkRates measure_link(Session& session, Exchange& exchange);

}  // namespace rung::nccl
