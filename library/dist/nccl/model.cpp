#include "library/dist/nccl/model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace rung::nccl {
namespace {

struct Shape {
  double m, n, k, element;
};

/// The time of a product: the maximum of its compute and memory times, plus its launch.
double product_seconds(const Shape& s, const Rates& rates) {
  if (s.m == 0 || s.n == 0) return 0;
  const double bytes = (s.m * s.k + s.k * s.n + s.m * s.n) * s.element;
  return rates.launch + std::max(2 * s.m * s.n * s.k / rates.flops, bytes / rates.memory);
}

double message_seconds(double bytes, const LinkRates& link) {
  return link.seconds + bytes / link.bytes_per_second;
}

struct Model {
  const Request& request;
  const Rates& rates;
  int ranks;
  double m, n, k, element, result;

  double product(double rows) const { return product_seconds({rows, n, k, element}, rates); }

  double all_gather(int chunks) const {
    const double shard = m / ranks;
    const double arrives = message_seconds(shard * k * element, rates.exchange);
    double now = product(shard) / rates.free_share;
    for (int t = 1; t < ranks; ++t) {
      for (int chunk = 1; chunk <= chunks; ++chunk) {
        now = std::max(now, arrives * (t - 1 + static_cast<double>(chunk) / chunks));
        now += rates.wait + product(shard / chunks);
      }
    }
    return now;
  }
  /// Steps of the ring: a part is sent while the other parts of its step are multiplied.
  double reduce_scatter(int chunks) const {
    const double part = m / ranks / chunks;
    const double multiplied = product(part) + rates.wait;
    const double sent = message_seconds(part * n * result, rates.exchange);
    const double step = std::max({multiplied * chunks, sent * chunks, multiplied + sent});
    return step * (ranks - 1) + multiplied * chunks;
  }
  double all_reduce(int chunks) const {
    const double part = m / ranks / chunks;
    // Finished chunks are sent one after another while later ones are multiplied.
    const double sent = (ranks - 1) * message_seconds(part * n * result, rates.exchange);
    const double hidden = (chunks - 1) * (product(part) + rates.wait);
    return reduce_scatter(chunks) + std::max(sent, chunks * sent - hidden);
  }
  /// One kernel, whose blocks process tiles of 128 x 256 in the order of parts.
  double fused(int chunks) const {
    const double tile = 2 * 128 * 256 * k * rates.multiprocessors / rates.flops;
    const double part = m / ranks / chunks, in_row = std::ceil(n / 256);
    const double tiles = std::ceil(part / 128) * in_row;
    const bool gathers = request.operation == Operation::all_gather_gemm;
    const double bytes = part * (gathers ? k * element : n * result);
    std::vector<double> arrival(static_cast<std::size_t>(chunks));
    double tiles_before = 0, late = rates.launch, link = 0, end = 0;
    const auto after_waves = [&](double waves) { return late + waves * tile; };
    const auto send = [&](double when) {
      link = std::max(link, when);
      const double arrives = link + message_seconds(bytes, rates.exchange);
      link += rates.message + bytes / rates.exchange.bytes_per_second;
      return arrives;
    };
    for (int t = 1; t <= ranks; ++t) {
      for (int chunk = 0; chunk < chunks; ++chunk) {
        double& arrives = arrival[static_cast<std::size_t>(chunk)];
        if (gathers && t > 1) arrives = send(0);
        const double waves_before = tiles_before / rates.multiprocessors;
        if (t > 1) {  // the first tiles need A at their start, and an addend at their end
          late += std::max(0.0, arrives - after_waves(waves_before + (gathers ? 0 : 1)));
        }
        tiles_before += tiles;
        end = after_waves(std::ceil(tiles_before / rates.multiprocessors));
        if (t > 1) end = std::max(end, arrives);
        if (gathers) continue;
        if (t < ranks) arrives = send(end);
        if (t == ranks && request.operation == Operation::gemm_all_reduce) {
          for (int other = 1; other < ranks; ++other) arrives = send(end);
        }
      }
    }
    if (request.operation != Operation::gemm_all_reduce) return end;
    return arrival.back() + 2 * bytes / rates.memory + rates.wait;  // copied to C
  }
  double overlapped(int chunks) const {
    switch (request.operation) {
      case Operation::all_gather_gemm: return all_gather(chunks);
      case Operation::gemm_reduce_scatter: return reduce_scatter(chunks);
      default: return all_reduce(chunks);
    }
  }
  /// All shards by the exchange, then one product of all rows. Permissions to send, which are part
  /// of a message's measured latency, are granted before the call.
  double exchanged() const {
    constexpr double permission = 5e-6;
    const double sent = message_seconds(m / ranks * k * element, rates.exchange);
    return (ranks - 1) * sent - permission + rates.wait + product(m);
  }
  double sequential() const {
    const bool gathers = request.operation == Operation::all_gather_gemm;
    const double block = m / ranks * (gathers ? k * element : n * result);
    const double moved = (ranks - 1) * block / rates.collective.bytes_per_second;
    const bool twice = request.operation == Operation::gemm_all_reduce;
    return product(m) + rates.collective.seconds + (twice ? 2 : 1) * moved;
  }
  /// An all-gather in a symmetric window, to which the rank's own shard is copied first.
  double symmetric() const {
    constexpr double copy = 4e-6;
    const double block = m / ranks * k * element;
    return product(m) + message_seconds((ranks - 1) * block, rates.symmetric) + copy +
           2 * block / rates.memory;
  }
};

/// True if gemm_parts() supports the product.
bool has_fused(const Request& request, const Rates& rates) {
  const Product& p = request.product;
  const bool is_16_bit = p.a.type == ElementType::bf16 || p.a.type == ElementType::f16;
  return rates.has_fused && is_16_bit && p.c.type == p.a.type && p.c.order == Order::row_major;
}

}  // namespace

Rates deterministic(Rates rates) {
  rates.exchange = {.seconds = 16e-6, .bytes_per_second = 370e9};
  rates.collective = {.seconds = 20e-6, .bytes_per_second = 250e9};
  rates.symmetric.bytes_per_second = 0;
  rates.may_reduce_by_nccl = false;
  return rates;
}

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
  using enum dist::Schedule;
  Expected best = {sequential, 1, INFINITY};
  const bool by_copy_engines = rates.free_share == 1;
  dist::Schedule asked = request.call.schedule;
  if (asked == fused && !by_copy_engines) asked = overlapped;
  const auto consider = [&](dist::Schedule schedule, int chunks, double seconds) {
    const bool is_allowed = asked == automatic || asked == schedule;
    if (is_allowed && seconds < best.seconds) best = {schedule, chunks, seconds};
  };
  // Measured on NVLink: with NCCL's sends, overlapping is always faster than NCCL's collective only
  // for an all-gather.
  const bool may_gather_or_reduce = gathers || ranks == 1 || rates.may_reduce_by_nccl;
  if (by_copy_engines || gathers || asked == overlapped || !may_gather_or_reduce) {
    for (const int chunks : {1, 2, 4, 8}) {
      if (request.call.chunks != 0 && chunks != 1) break;
      const int count = request.call.chunks != 0 ? request.call.chunks : chunks;
      consider(overlapped, count, model.overlapped(count));
      // For an all-gather, products in several streams were at least as fast as a fused kernel
      // (docs/notes/cuda-kernels.md).
      if (by_copy_engines && (asked == fused || (!gathers && has_fused(request, rates)))) {
        consider(fused, count, model.fused(count));
      }
    }
  }
  if (may_gather_or_reduce || asked == sequential) consider(sequential, 1, model.sequential());
  if (gathers && p.a.order == Order::row_major && rates.symmetric.bytes_per_second > 0) {
    const double before = best.seconds;
    consider(sequential, 1, model.symmetric());
    best.symmetric = best.seconds < before;
  }
  if (by_copy_engines && gathers) {
    consider(exchanged, 1, model.exchanged());
  }
  return best;
}

}  // namespace rung::nccl
