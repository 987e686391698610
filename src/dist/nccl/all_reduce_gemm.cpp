// GEMM + all-reduce. Overlapped: the reduce-scatter, and each finished part goes to all other ranks
// while the next one is multiplied. Sequential: every rank gets the products of all and adds them.

#include <algorithm>
#include <vector>

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
  for (int t = 0; t < call.ranks; ++t) whole.next(call.product.c, call.product.c.rows);
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
  for (int chunk = 0; chunk < call.chunks; ++chunk) {
    for (int t = 1; t < call.ranks; ++t) {
      const OutputMatrix theirs = part_of_rank(neighbour(call, t), chunk);
      if (lines_of(theirs) == 0) continue;
      exchange.await(ring.steps() + static_cast<int>(index(t, chunk)), call.stream);
      const OutputMatrix arrived =
          staged(exchange.incoming(), at[index(t, chunk)], theirs, theirs.rows);
      const Block target = block_of(theirs);
      copy(exchange.driver(), block_of(arrived), target.data, target.pitch, call.stream);
    }
  }
  exchange.finish(call.stream);
}

void all_reduce_sequential(const Call& call, Exchange& exchange) {
  const OutputMatrix& c = call.product.c;
  Places places;
  std::vector<Places::Place> at;
  for (int t = 0; t < call.ranks; ++t) at.push_back(places.next(c, c.rows));
  const OutputMatrix own = staged(exchange.outgoing(), at[0], c, c.rows);

  exchange.begin(call.stream);
  Product product = call.product;
  product.beta = 0;
  product.c = own;
  multiply(product, CudaStream(call.stream));
  for (int t = 1; t < call.ranks; ++t) {
    const auto& place = at[static_cast<std::size_t>(t)];
    exchange.post(t - 1,
                  {.out = block_of(own),
                   .to = neighbour(call, -t),
                   .out_offset = place.offset,
                   .in_lines = lines_of(c),
                   .source = neighbour(call, t),
                   .in_offset = place.offset,
                   .pitch = place.pitch},
                  call.stream);
  }
  for (int rank = 0; rank < call.ranks && lines_of(c) > 0; ++rank) {  // the same order on all ranks
    const int t = (rank - call.rank + call.ranks) % call.ranks;
    if (t > 0) exchange.await(t - 1, call.stream);
    const OutputMatrix theirs =
        t == 0 ? own : staged(exchange.incoming(), at[static_cast<std::size_t>(t)], c, c.rows);
    add(read_only(theirs), rank == 0 ? call.product.beta : 1, c, CudaStream(call.stream));
  }
  exchange.finish(call.stream);
}

}  // namespace rung::nccl
