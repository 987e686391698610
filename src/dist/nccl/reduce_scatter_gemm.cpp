// GEMM + reduce-scatter. Overlapped: the sum of a block of rows goes around the ring of ranks; each rank
// adds its own product, in the epilogue, and passes it on while it multiplies the next part. The
// last to add is the rank that keeps the block.

#include <algorithm>
#include <vector>

#include "dist/nccl/reduction_ring.hpp"
#include "dist/nccl/schedule.hpp"

namespace rung::nccl {

std::int64_t reduce_scatter_bytes(const Call& call) {
  Places ring, whole;
  ReductionRing(call, call.product.c.rows, ring);
  for (int t = 0; t < call.ranks; ++t) whole.next(call.product.c, call.product.c.rows);
  return std::max(ring.bytes(), whole.bytes());
}

void reduce_scatter_overlapped(const Call& call, Exchange& exchange) {
  Places places;
  ReductionRing ring(call, call.product.c.rows, places);
  exchange.begin(call.stream);
  ring.pass_on(exchange);
  for (int chunk = 0; chunk < call.chunks; ++chunk) {
    const Part part = part_of(call.product.c.rows, chunk, call.chunks);
    ring.complete(chunk, rows(call.product.c, part.first, part.count), exchange);
  }
  exchange.finish(call.stream);
}

void reduce_scatter_sequential(const Call& call, Exchange& exchange) {
  const OutputMatrix& shard = call.product.c;
  Places places;
  std::vector<Places::Place> at;
  for (int t = 0; t < call.ranks; ++t) at.push_back(places.next(shard, shard.rows));

  exchange.begin(call.stream);
  // One product of all blocks where they follow each other in memory.
  const auto own = [&](int rank) {
    return staged(exchange.outgoing(), at[static_cast<std::size_t>(rank)], shard, shard.rows);
  };
  Product whole = call.product;
  whole.beta = 0;
  const bool is_one = shard.order == Order::row_major &&
                      at.back().offset == (call.ranks - 1) * shard.rows * at[0].pitch;
  for (int rank = 0; rank < (is_one ? 1 : call.ranks); ++rank) {
    const std::int64_t count = is_one ? whole.a.rows : shard.rows;
    Product some = whole;
    some.a = rows(whole.a, rank * shard.rows, count);
    some.c = own(rank);
    some.c.rows = count;
    multiply(some, CudaStream(call.stream));
  }
  const std::int64_t lines = block_of(shard).is_empty() ? 0 : block_of(shard).lines;
  for (int t = 1; t < call.ranks; ++t) {
    const auto& place = at[static_cast<std::size_t>(t)];
    exchange.post(t - 1,
                  {.out = block_of(own(neighbour(call, -t))),
                   .to = neighbour(call, -t),
                   .out_offset = place.offset,
                   .in_lines = lines,
                   .source = neighbour(call, t),
                   .in_offset = place.offset,
                   .pitch = place.pitch},
                  call.stream);
  }
  add(read_only(own(call.rank)), call.product.beta, shard, CudaStream(call.stream));
  for (int t = 1; t < call.ranks && lines > 0; ++t) {
    exchange.await(t - 1, call.stream);
    add(read_only(staged(exchange.incoming(), at[static_cast<std::size_t>(t)], shard, shard.rows)),
        1, shard, CudaStream(call.stream));
  }
  exchange.finish(call.stream);
}

}  // namespace rung::nccl
