#include "dist/nccl/model.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace rung::nccl {
namespace {

struct Shape {
  double m, n, k, element;
};

/// A product: as long as its FLOP or as its operands take, and its launch. A share of the SMs takes
/// longer for the FLOP.
double product_seconds(const Shape& s, const Rates& rates, double share) {
  if (s.m == 0 || s.n == 0) return 0;
  const double bytes = (s.m * s.k + s.k * s.n + s.m * s.n) * s.element;
  return rates.launch + std::max(2 * s.m * s.n * s.k / (rates.flops * share), bytes / rates.memory);
}

double message_seconds(double bytes, const Rates& rates) {
  return rates.message + bytes / rates.link;
}

struct Model {
  const Request& request;
  const Rates& rates;
  int ranks;
  double m, n, k, element, result;

  /// Of some rows, beside transfers or alone.
  double product(double rows, double share) const {
    return product_seconds({rows, n, k, element}, rates, share);
  }

  double all_gather(int chunks) const {
    const double shard = m / ranks;
    const double arrives = message_seconds(shard * k * element, rates);
    double now = product(shard, rates.free_share);
    for (int t = 1; t < ranks; ++t) {
      for (int chunk = 1; chunk <= chunks; ++chunk) {
        now = std::max(now, arrives * (t - 1 + static_cast<double>(chunk) / chunks));
        now += product(shard / chunks, rates.free_share);
      }
    }
    return now;
  }
  /// Steps of the ring, each as long as its products or as its messages.
  double reduce_scatter(int chunks) const {
    const double part = m / ranks / chunks;
    const double multiplied = product(part, rates.free_share);
    const double sent = message_seconds(part * n * result, rates);
    // A part may be sent while the other chunks of its step are multiplied, or as it is computed.
    const double step = rates.stores_remotely
                            ? std::max(multiplied * chunks, sent * chunks) + rates.message
                            : std::max({multiplied * chunks, sent * chunks, multiplied + sent});
    return step * (ranks - 1) + multiplied * chunks;
  }
  double all_reduce(int chunks) const {
    const double part = m / ranks / chunks;
    return reduce_scatter(chunks) + (ranks - 1) * message_seconds(part * n * result, rates);
  }
  double overlapped(int chunks) const {
    switch (request.operation) {
      case Operation::all_gather_gemm: return all_gather(chunks);
      case Operation::gemm_reduce_scatter: return reduce_scatter(chunks);
      default: return all_reduce(chunks);
    }
  }
  double sequential() const {
    const double whole = product(m, 1);
    const double shard = m / ranks;
    switch (request.operation) {
      case Operation::all_gather_gemm:
        return whole + (ranks - 1) * message_seconds(shard * k * element, rates);
      case Operation::gemm_reduce_scatter:
        return whole + (ranks - 1) * message_seconds(shard * n * result, rates) +
               ranks * (rates.launch + 3 * shard * n * result / rates.memory);
      default:
        return whole + (ranks - 1) * message_seconds(m * n * result, rates) +
               ranks * (rates.launch + 3 * m * n * result / rates.memory);
    }
  }
};

}  // namespace

double flops_per_cycle(ElementType type, int compute_capability) {
  const bool is_16_bit = type == ElementType::bf16 || type == ElementType::f16;
  if (is_16_bit) return compute_capability >= 90 ? 0.72 * 4096 : 0.7 * 2048;
  return 0.8 * 256;
}

Expected choose(const Request& request, int ranks, const Rates& rates) {
  const Product& p = request.product;
  const bool gathers = request.operation == Operation::all_gather_gemm;
  const Model model = {request,
                       rates,
                       ranks,
                       static_cast<double>(p.a.rows * (gathers ? ranks : 1)),
                       static_cast<double>(p.b.cols),
                       static_cast<double>(p.a.cols),
                       static_cast<double>(bytes_of(p.a.type)),
                       static_cast<double>(bytes_of(p.c.type))};
  Expected best = {dist::Schedule::sequential, 1, model.sequential()};
  if (request.call.schedule == dist::Schedule::sequential) return best;
  if (request.call.schedule == dist::Schedule::overlapped) best.seconds = INFINITY;
  for (const int chunks : {1, 2, 4, 8}) {
    if (request.call.chunks != 0 && chunks != 1) break;
    const int count = request.call.chunks != 0 ? request.call.chunks : chunks;
    const double seconds = model.overlapped(count);
    if (seconds < best.seconds) best = {dist::Schedule::overlapped, count, seconds};
  }
  return best;
}

}  // namespace rung::nccl
