// GEMM + all-reduce. Overlapped: the reduce-scatter, and each finished part goes to all other ranks
// while the next one is multiplied. Sequential: a product, and NCCL's all-reduce.

#include <algorithm>
#include <vector>

#include "dist/nccl/collectives.hpp"
#include "dist/nccl/reduction_ring.hpp"
#include "dist/nccl/schedule.hpp"

namespace rung::nccl {
namespace {

std::int64_t block_rows_of(const Call& call) {
  return (call.product.c.rows + call.ranks - 1) / call.ranks;
}

/// Of finished parts, in the order of steps, then chunks.
std::vector<Places::Place> places_of_finished(const Call& call, Places& places) {
  std::vector<Places::Place> all;
  for (int t = 1; t < call.ranks; ++t) {
    for (int chunk = 0; chunk < call.chunks; ++chunk) {
      all.push_back(
          places.next(call.product.c, part_of(block_rows_of(call), chunk, call.chunks).count));
    }
  }
  return all;
}

std::int64_t lines_of(const OutputMatrix& c) {
  return block_of(c).is_empty() ? 0 : block_of(c).lines;
}

}  // namespace

std::int64_t all_reduce_bytes(const Call& call) {
  Places ring, whole;
  ReductionRing(call, block_rows_of(call), ring);
  places_of_finished(call, ring);
  whole.next(call.product.c, call.product.c.rows);
  return std::max(ring.bytes(), whole.bytes());
}

void all_reduce_overlapped(const Call& call, Exchange& exchange) {
  Places places;
  ReductionRing ring(call, block_rows_of(call), places);
  const std::vector<Places::Place> at = places_of_finished(call, places);
  const auto part_of_rank = [&](int rank, int chunk) {
    const Part part = ring.part(rank, chunk);
    return rows(call.product.c, part.first, part.count);
  };
  const auto index = [&](int t, int chunk) {
    return static_cast<std::size_t>((t - 1) * call.chunks + chunk);
  };

  exchange.begin(call.stream);
  exchange.begin_arrivals(call.stream);
  ring.pass_on(exchange);
  for (int chunk = 0; chunk < call.chunks; ++chunk) {
    const OutputMatrix own = part_of_rank(call.rank, chunk);
    ring.complete(chunk, own, exchange);
    for (int t = 1; t < call.ranks; ++t) {
      const auto& place = at[index(t, chunk)];
      exchange.post(ring.steps() + static_cast<int>(index(t, chunk)),
                    {.out = block_of(own),
                     .to = neighbour(call, -t),
                     .out_offset = place.offset,
                     .in_lines = lines_of(part_of_rank(neighbour(call, t), chunk)),
                     .source = neighbour(call, t),
                     .in_offset = place.offset,
                     .pitch = place.pitch},
                    call.stream);
    }
  }
  // Only now: a product awaits all deliveries before it.
  for (int chunk = 0; chunk < call.chunks; ++chunk) {
    for (int t = 1; t < call.ranks; ++t) {
      const OutputMatrix theirs = part_of_rank(neighbour(call, t), chunk);
      if (lines_of(theirs) == 0) continue;
      const OutputMatrix arrived =
          staged(exchange.incoming(), at[index(t, chunk)], theirs, theirs.rows);
      exchange.deliver(ring.steps() + static_cast<int>(index(t, chunk)), block_of(arrived),
                       block_of(theirs));
    }
  }
  exchange.finish(call.stream);
}

void all_reduce_sequential(const Call& call, Exchange& exchange) {
  const OutputMatrix& c = call.product.c;
  Places places;
  const Places::Place place = places.next(c, c.rows);
  const bool in_place = call.product.beta == 0 && block_of(c).pitch == block_of(c).line_bytes;
  Product product = call.product;
  product.beta = 0;
  if (!in_place) product.c = staged(exchange.outgoing(), place, c, c.rows);
  multiply(product, exchange, call.stream);
  const Block sums = block_of(product.c);
  exchange.session().part("products", "all-reduce", c.rows, call.stream, [&] {
    all_reduce(exchange.session(), sums.data, sums.lines * sums.pitch, c.type, call.stream);
  });
  if (!in_place) add(call, read_only(product.c), call.product.beta, c, exchange);
}

}  // namespace rung::nccl
