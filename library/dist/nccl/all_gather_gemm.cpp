// All-gather + GEMM. Overlapped: all shards are in flight before the first product, which uses the
// rank's own shard; each later product waits only for its part. Fused: the same in a single kernel.
// Exchanged: one product after all arrivals, which reads B once.

#include <algorithm>
#include <vector>

#include "library/dist/nccl/collectives.hpp"
#include "library/dist/nccl/fused_product.hpp"
#include "library/dist/nccl/schedule.hpp"

namespace rung::nccl {
namespace {

/// The place of part `chunk` of the shard that arrives in step `t`, at index (t - 1) * chunks +
/// chunk.
std::vector<Places::Place> places_of_parts(const Call& call, Places& places) {
  std::vector<Places::Place> all;
  for (int t = 1; t < call.ranks; ++t) {
    for (int chunk = 0; chunk < call.chunks; ++chunk) {
      const Part part = part_of(call.product.a.rows, chunk, call.chunks);
      all.push_back(places.next(call.product.a, part.count));
    }
  }
  return all;
}

std::int64_t lines_of(const InputMatrix& a, std::int64_t rows) {
  const Block block = block_of(nccl::rows(a, 0, rows));
  return block.is_empty() ? 0 : block.lines;
}

}  // namespace

std::int64_t all_gather_bytes(const Call& call) {
  Places parts, whole;
  places_of_parts(call, parts);
  whole.next(call.product.a, call.product.a.rows * call.ranks);
  return std::max(parts.bytes(), whole.bytes());
}

void all_gather_overlapped(const Call& call, Exchange& exchange) {
  const Product& product = call.product;
  const std::int64_t shard_rows = product.a.rows;
  Places places;
  const std::vector<Places::Place> at = places_of_parts(call, places);

  exchange.begin(call.stream);
  for (int number = 0; number < static_cast<int>(at.size()); ++number) {
    const int t = number / call.chunks + 1;
    const Part part = part_of(shard_rows, number % call.chunks, call.chunks);
    const auto& place = at[static_cast<std::size_t>(number)];
    exchange.post(number,
                  {.out = block_of(rows(product.a, part.first, part.count)),
                   .to = neighbour(call, -t),
                   .out_offset = place.offset,
                   .in_lines = lines_of(product.a, part.count),
                   .source = neighbour(call, t),
                   .in_offset = place.offset,
                   .pitch = place.pitch},
                  call.stream);
  }
  ProductStreams streams(call, 1 + static_cast<int>(at.size()), exchange);
  const auto multiply_rows = [&](const InputMatrix& a, std::int64_t first, cuda::Stream stream,
                                 bool is_last) {
    Product some = product;
    some.a = a;
    some.c = rows(product.c, first, a.rows);
    // No transfers are in flight during the last product.
    multiply(some, exchange, stream, is_last ? CudaOptions{} : call.options);
  };
  multiply_rows(product.a, call.rank * shard_rows, streams.next(), at.empty());
  for (int number = 0; number < static_cast<int>(at.size()); ++number) {
    const int source = neighbour(call, number / call.chunks + 1);
    const Part part = part_of(shard_rows, number % call.chunks, call.chunks);
    const cuda::Stream stream = streams.next();
    if (lines_of(product.a, part.count) > 0) await(number, exchange, stream);
    multiply_rows(read_only(staged(exchange.incoming(), at[static_cast<std::size_t>(number)],
                                   product.a, part.count)),
                  source * shard_rows + part.first, stream,
                  number + 1 == static_cast<int>(at.size()));
  }
  streams.join();
  exchange.finish(call.stream);
}

void all_gather_fused(const Call& call, Exchange& exchange) {
  const InputMatrix& shard = call.product.a;
  Places places;
  const OutputMatrix whole =
      staged(exchange.incoming(), places.next(shard, shard.rows * call.ranks), shard,
             shard.rows * call.ranks);
  std::vector<FusedPart> parts = {{.rows = {.rows = shard.rows, .c_row = call.rank * shard.rows}}};

  exchange.begin(call.stream);
  for (int t = 1; t < call.ranks; ++t) {
    const int source = neighbour(call, t);
    for (int chunk = 0; chunk < call.chunks; ++chunk) {
      const Part part = part_of_tiles(shard.rows, chunk, call.chunks);
      const Block arrives = block_of(rows(whole, source * shard.rows + part.first, part.count));
      const Block theirs = block_of(rows(whole, call.rank * shard.rows + part.first, part.count));
      const auto offset = [&](const Block& block) {
        return static_cast<std::int64_t>(block.data - exchange.incoming());
      };
      const int number = (t - 1) * call.chunks + chunk;
      exchange.post(number,
                    {.out = block_of(rows(shard, part.first, part.count)),
                     .to = neighbour(call, -t),
                     .out_offset = offset(theirs),
                     .in_lines = arrives.is_empty() ? 0 : arrives.lines,
                     .source = source,
                     .in_offset = offset(arrives),
                     .pitch = arrives.pitch},
                    call.stream);
      const std::int64_t row = source * shard.rows + part.first;
      parts.push_back(
          {.rows = {.rows = part.count, .a = arriving_matrix, .a_row = row, .c_row = row},
           .arrival = number});
    }
  }
  const TileSignalGemm product = {.alpha = call.product.alpha,
                                  .a = {shard, read_only(whole)},
                                  .b = call.product.b,
                                  .c = {call.product.c}};
  run_fused(call, exchange, product, parts);
  exchange.finish(call.stream);
}

void all_gather_exchanged(const Call& call, Exchange& exchange) {
  if (exchange.transport() != dist::Transport::copy_engine) {
    return all_gather_sequential(call, exchange);
  }
  const InputMatrix& shard = call.product.a;
  Places places;
  const OutputMatrix whole =
      staged(exchange.incoming(), places.next(shard, shard.rows * call.ranks), shard,
             shard.rows * call.ranks);
  const auto block_of_rank = [&](int rank) {
    return block_of(rows(whole, rank * shard.rows, shard.rows));
  };
  const auto offset = [&](int rank) {
    return static_cast<std::int64_t>(block_of_rank(rank).data - exchange.incoming());
  };

  exchange.begin(call.stream);
  for (int t = 1; t < call.ranks; ++t) {
    exchange.post(t - 1,
                  {.out = block_of(shard),
                   .to = neighbour(call, -t),
                   .out_offset = offset(call.rank),
                   .in_lines = block_of(shard).lines,
                   .source = neighbour(call, t),
                   .in_offset = offset(neighbour(call, t)),
                   .pitch = block_of(whole).pitch},
                  call.stream);
  }
  exchange.session().part("products", "copy", shard.rows, call.stream, [&] {
    copy(exchange.driver(), block_of(shard), block_of_rank(call.rank).data, block_of(whole).pitch,
         call.stream);
  });
  if (!block_of(shard).is_empty()) {
    for (int t = 1; t < call.ranks; ++t) await(t - 1, exchange, call.stream);
  }
  Product product = call.product;
  product.a = read_only(whole);
  multiply(product, exchange, call.stream);
  exchange.finish(call.stream);
}

void all_gather_sequential(const Call& call, Exchange& exchange) {
  const InputMatrix& shard = call.product.a;
  if (shard.order != Order::row_major) return all_gather_overlapped(call, exchange);
  Places places;
  const Places::Place place = places.next(shard, shard.rows * call.ranks);
  const std::int64_t shard_bytes = shard.rows * place.pitch;
  // Not in the incoming memory, where faster ranks may already send data of the next call.
  const cuda::DevicePointer memory = call.window != 0 ? call.window : exchange.outgoing();
  Block own = block_of(shard);
  if (call.window != 0 || own.line_bytes != place.pitch || own.pitch != place.pitch) {
    const auto offset = static_cast<cuda::DevicePointer>(call.rank * shard_bytes);
    copy(exchange.driver(), own, memory + offset, place.pitch, call.stream);
    own.data = memory + offset;
  }
  exchange.session().part("products", "all-gather", shard.rows, call.stream, [&] {
    all_gather(exchange.session(), own.data, memory, shard_bytes, call.stream);
  });
  Product whole = call.product;
  whole.a = read_only(staged(memory, place, shard, shard.rows * call.ranks));
  multiply(whole, exchange, call.stream);
}

}  // namespace rung::nccl
