#pragma once
// Measures the speed of transfers between ranks, once.

#include "library/dist/nccl/exchange.hpp"

namespace rung::nccl {

/// The time of a message of `bytes` bytes to another rank is seconds + bytes / bytes_per_second.
struct LinkRates {
  double seconds = 10e-6;
  double bytes_per_second = 1;
};

/// Measures messages of the exchange. Collective; requires at least two ranks.
LinkRates measure_exchange(Session& session, Exchange& exchange);
/// Measures NCCL's all-gather.
LinkRates measure_all_gather(Session& session, Exchange& exchange);
/// Measures NCCL's all-gather in a symmetric window of at least bytes_of_window() bytes.
LinkRates measure_all_gather(Session& session, cuda::DevicePointer window);
std::int64_t bytes_of_window(const Session& session);

}  // namespace rung::nccl
