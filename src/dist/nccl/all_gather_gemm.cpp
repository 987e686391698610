// All-gather + GEMM. Overlapped: all shards are under way before the first product, that of the own
// shard, begins; each later product waits for its part alone.

#include <algorithm>
#include <vector>

#include "dist/nccl/collectives.hpp"
#include "dist/nccl/schedule.hpp"

namespace rung::nccl {
namespace {

/// Of part `chunk` of the shard that arrives in step `t`, at [(t - 1) * chunks + chunk].
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
  const auto multiply_rows = [&](const InputMatrix& a, std::int64_t first, bool is_last) {
    Product some = product;
    some.a = a;
    some.c = rows(product.c, first, a.rows);
    // Nothing travels any more beside the last one.
    multiply(some, CudaStream(call.stream), is_last ? CudaOptions{} : call.options);
  };
  multiply_rows(product.a, call.rank * shard_rows, at.empty());
  for (int number = 0; number < static_cast<int>(at.size()); ++number) {
    const int source = neighbour(call, number / call.chunks + 1);
    const Part part = part_of(shard_rows, number % call.chunks, call.chunks);
    if (lines_of(product.a, part.count) > 0) exchange.await(number, call.stream);
    multiply_rows(read_only(staged(exchange.incoming(), at[static_cast<std::size_t>(number)],
                                   product.a, part.count)),
                  source * shard_rows + part.first, number + 1 == static_cast<int>(at.size()));
  }
  exchange.finish(call.stream);
}

void all_gather_sequential(const Call& call, Exchange& exchange) {
  const InputMatrix& shard = call.product.a;
  if (shard.order != Order::row_major) return all_gather_overlapped(call, exchange);
  Places places;
  const Places::Place place = places.next(shard, shard.rows * call.ranks);
  const std::int64_t shard_bytes = shard.rows * place.pitch;
  // Not in the incoming memory, to which faster ranks may send what belongs to the next call.
  const cuda::DevicePointer memory = exchange.outgoing();
  Block own = block_of(shard);
  if (own.line_bytes != place.pitch || own.pitch != place.pitch) {
    const auto offset = static_cast<cuda::DevicePointer>(call.rank * shard_bytes);
    copy(exchange.driver(), own, memory + offset, place.pitch, call.stream);
    own.data = memory + offset;
  }
  all_gather(exchange.session(), own.data, memory, shard_bytes, call.stream);
  Product whole = call.product;
  whole.a = read_only(staged(memory, place, shard, shard.rows * call.ranks));
  multiply(whole, CudaStream(call.stream));
}

}  // namespace rung::nccl
