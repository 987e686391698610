#pragma once
// How fast blocks travel between the ranks, measured once.

#include "dist/nccl/exchange.hpp"

namespace rung::nccl {

/// Of `bytes` to another rank: seconds + bytes / bytes_per_second.
struct LinkRates {
  double seconds = 10e-6;
  double bytes_per_second = 1;
};

/// Collective; a few messages between all of at least two ranks.
LinkRates measure_exchange(Session& session, Exchange& exchange);
/// The same by NCCL's all-gather.
LinkRates measure_all_gather(Session& session, Exchange& exchange);
/// The same in a symmetric window, of so many bytes at least.
LinkRates measure_all_gather(Session& session, cuda::DevicePointer window);
std::int64_t bytes_of_window(const Session& session);

}  // namespace rung::nccl
