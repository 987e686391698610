// GEMM + reduce-scatter. Overlapped: the sum of a block of rows travels around the ring of ranks;
// each rank adds its own product, in the epilogue, and forwards the sum while it multiplies the
// next part. The last rank to add keeps the block. Fused: the same in a single kernel.

#include <algorithm>

#include "library/dist/nccl/collectives.hpp"
#include "library/dist/nccl/fused_ring.hpp"
#include "library/dist/nccl/reduction_ring.hpp"
#include "library/dist/nccl/schedule.hpp"

namespace rung::nccl {

std::int64_t reduce_scatter_bytes(const Call& call) {
  Places ring, fused, block;
  ReductionRing(call, call.product.c.rows, ring);
  FusedRing(call, call.product.c.rows, fused);
  block.next(call.product.c, call.product.c.rows);
  return std::max({ring.bytes(), fused.bytes(), call.ranks * block.bytes()});
}

void reduce_scatter_overlapped(const Call& call, Exchange& exchange) {
  Places places;
  ReductionRing ring(call, call.product.c.rows, places);
  exchange.begin(call.stream);
  exchange.begin_arrivals(call.stream);
  ring.pass_on(exchange);
  for (int chunk = 0; chunk < call.chunks; ++chunk) {
    const Part part = part_of(call.product.c.rows, chunk, call.chunks);
    ring.complete(chunk, rows(call.product.c, part.first, part.count), exchange);
  }
  exchange.finish(call.stream);
}

void reduce_scatter_fused(const Call& call, Exchange& exchange) {
  Places places;
  const FusedRing ring(call, call.product.c.rows, places);
  exchange.begin(call.stream);
  ring.run(call.product.c, exchange, [](int /*chunk*/) { return std::vector<Sending>(); });
  exchange.finish(call.stream);
}

void reduce_scatter_sequential(const Call& call, Exchange& exchange) {
  const OutputMatrix& shard = call.product.c;
  Places places;
  const Places::Place first = places.next(shard, shard.rows);
  const std::int64_t block_bytes = block_of(shard).lines * first.pitch;
  const auto block = [&](int rank, std::int64_t count) {
    return staged(exchange.outgoing(), {rank * block_bytes, first.pitch}, shard, count);
  };
  Product some = call.product;
  some.beta = 0;
  // If row-major, the blocks of all ranks form one matrix.
  const bool is_one = shard.order == Order::row_major;
  for (int rank = 0; rank < (is_one ? 1 : call.ranks); ++rank) {
    const std::int64_t count = is_one ? call.product.a.rows : shard.rows;
    some.a = rows(call.product.a, rank * shard.rows, count);
    some.c = block(rank, count);
    multiply(some, exchange, call.stream);
  }
  const Block target = block_of(shard);
  const OutputMatrix own = block(call.rank, shard.rows);
  const bool is_direct =
      call.product.beta == 0 && target.line_bytes == first.pitch && target.pitch == first.pitch;
  exchange.session().part("products", "reduce-scatter", shard.rows, call.stream, [&] {
    reduce_scatter(exchange.session(), exchange.outgoing(),
                   is_direct ? target.data : block_of(own).data, block_bytes, shard.type,
                   call.stream);
  });
  if (!is_direct) add(call, read_only(own), call.product.beta, shard, exchange);
}

}  // namespace rung::nccl
