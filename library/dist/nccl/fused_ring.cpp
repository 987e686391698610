#include "library/dist/nccl/fused_ring.hpp"

#include <algorithm>

namespace rung::nccl {

FusedRing::FusedRing(const Call& call, std::int64_t block_rows, Places& places)
    : call_(call),
      block_rows_(block_rows),
      place_(places.next(call.product.c, (call.ranks - 1) * block_rows)) {}

Part FusedRing::part(int block, int chunk) const {
  Part part = part_of_tiles(block_rows_, chunk, call_.chunks);
  part.first += block * block_rows_;
  part.count = std::clamp<std::int64_t>(call_.product.a.rows - part.first, 0, part.count);
  return part;
}

std::int64_t FusedRing::staged_row(int t, int chunk) const {
  return (t - 1) * block_rows_ + part_of_tiles(block_rows_, chunk, call_.chunks).first;
}

OutputMatrix FusedRing::staging(cuda::DevicePointer memory) const {
  return staged(memory, place_, call_.product.c, (call_.ranks - 1) * block_rows_);
}

FusedPart FusedRing::fused_part(int t, int chunk) const {
  const Part rows_of_a = part(block_of_step(t), chunk);
  FusedPart result = {.rows = {.rows = rows_of_a.count, .a_row = rows_of_a.first}};
  if (t < call_.ranks) {
    result.rows.c = sent_matrix;
    result.rows.c_row = staged_row(t, chunk);
  }
  if (t > 1) {
    result.rows.addend_row = staged_row(t - 1, chunk);
    result.arrival = number(t - 1, chunk);
  }
  return result;
}

Sending FusedRing::sending(int t, int chunk, const Exchange& exchange) const {
  const auto block = [&](cuda::DevicePointer memory, int of_step) {
    const std::int64_t count = part(block_of_step(of_step), chunk).count;
    return block_of(rows(staging(memory), staged_row(t, chunk), count));
  };
  const Block arrives = block(exchange.incoming(), t + 1);
  const auto offset = static_cast<std::int64_t>(arrives.data - exchange.incoming());
  return {number(t, chunk),
          {.out = block(exchange.outgoing(), t),
           .to = neighbour(call_, 1),
           .out_offset = offset,
           .in_lines = arrives.is_empty() ? 0 : arrives.lines,
           .source = neighbour(call_, -1),
           .in_offset = offset,
           .pitch = place_.pitch}};
}

void FusedRing::run(const OutputMatrix& own, Exchange& exchange, const Sends& sends) const {
  TileSignalGemm product = {
      .alpha = call_.product.alpha, .a = {call_.product.a}, .b = call_.product.b, .c = {own}};
  if (call_.ranks > 1) {
    product.c[sent_matrix] = staging(exchange.outgoing());
    product.addend = read_only(staging(exchange.incoming()));
  }
  std::vector<FusedPart> parts;
  for (int t = 1; t <= call_.ranks; ++t) {
    for (int chunk = 0; chunk < call_.chunks; ++chunk) {
      FusedPart& added = parts.emplace_back(fused_part(t, chunk));
      if (t < call_.ranks) {
        added.sends = {sending(t, chunk, exchange)};
      } else {
        added.rows.c_row = part_of_tiles(block_rows_, chunk, call_.chunks).first;
        added.sends = sends(chunk);
      }
    }
  }
  run_fused(call_, exchange, product, parts);
}

}  // namespace rung::nccl
