#include "dist/nccl/model.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace rung::nccl {
namespace {

/// Of tensor cores' products: a tile of C for each SM at a time.
constexpr double tile_rows = 128, tile_cols = 256;

struct Shape {
  double m, n, k, element;
};

/// A product: the waves of its tiles at the peak rate, or its operands at the memory's, plus its launch.
double product_seconds(const Shape& s, const Rates& rates, int multiprocessors) {
  if (s.m == 0 || s.n == 0) return 0;
  const double tiles = std::ceil(s.m / tile_rows) * std::ceil(s.n / tile_cols);
  const double waves = std::max(1.0, tiles / multiprocessors);
  // Most of a last wave is lost: smaller tiles and split-K get back about half.
  const double filled = (std::ceil(waves) + waves) / 2;
  const double wave_flops = 2 * tile_rows * tile_cols * s.k * rates.multiprocessors;
  const double bytes = (s.m * s.k + s.k * s.n + s.m * s.n) * s.element;
  return rates.launch + std::max(filled * wave_flops / rates.flops, bytes / rates.memory);
}

double message_seconds(double bytes, const Rates& rates) {
  return rates.message + bytes / rates.link;
}

struct Model {
  const Request& request;
  const Rates& rates;
  int ranks;
  double m, n, k, element, result;

  double product(double rows, int multiprocessors) const {
    return product_seconds({rows, n, k, element}, rates, multiprocessors);
  }
  int free() const { return rates.multiprocessors - rates.reserved; }

  double all_gather(int chunks) const {
    const double shard = m / ranks;
    const double arrives = message_seconds(shard * k * element, rates);
    double now = product(shard, free());
    for (int t = 1; t < ranks; ++t) {
      for (int chunk = 1; chunk <= chunks; ++chunk) {
        now = std::max(now, arrives * (t - 1 + static_cast<double>(chunk) / chunks));
        now += product(shard / chunks, free());
      }
    }
    return now;
  }
  /// Steps of the ring, each as long as its products or as its messages.
  double reduce_scatter(int chunks) const {
    const double part = m / ranks / chunks;
    const double multiplied = product(part, free());
    const double sent = message_seconds(part * n * result, rates);
    // A part may be sent while the other chunks of its step are multiplied.
    const double step = std::max({multiplied * chunks, sent * chunks, multiplied + sent});
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
    const double whole = product(m, rates.multiprocessors);
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
