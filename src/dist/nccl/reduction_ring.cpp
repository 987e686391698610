#include "dist/nccl/reduction_ring.hpp"

#include <algorithm>

namespace rung::nccl {

ReductionRing::ReductionRing(const Call& call, std::int64_t block_rows, Places& places)
    : call_(call), block_rows_(block_rows) {
  for (int t = 1; t < call.ranks; ++t) {
    for (int chunk = 0; chunk < call.chunks; ++chunk) {
      at_.push_back(places.next(call.product.c, part_of(block_rows, chunk, call.chunks).count));
    }
  }
}

Part ReductionRing::part(int block, int chunk) const {
  Part part = part_of(block_rows_, chunk, call_.chunks);
  part.first += block * block_rows_;
  part.count = std::clamp<std::int64_t>(call_.product.a.rows - part.first, 0, part.count);
  return part;
}

void ReductionRing::multiply_part(int t, int chunk, double beta, const OutputMatrix& c,
                                  Exchange& exchange) {
  const Part rows_here = part(block_of_step(t), chunk);
  Product some = call_.product;
  some.a = rows(call_.product.a, rows_here.first, rows_here.count);
  some.beta = beta;
  some.c = c;
  if (block_of(c).is_empty()) return;
  if (t > 1) {
    const int arrives = number(t - 1, chunk);
    exchange.await(arrives, call_.stream);
    some.addend = read_only(staged(exchange.incoming(), at_[static_cast<std::size_t>(arrives)],
                                   call_.product.c, rows_here.count));
  }
  multiply(some, CudaStream(call_.stream), call_.options);
}

void ReductionRing::pass_on(Exchange& exchange) {
  const int to = neighbour(call_, 1);
  const cuda::DevicePointer remote = exchange.remote(to);
  if (remote != 0) exchange.open_remote(call_.stream);
  for (int t = 1; t < call_.ranks; ++t) {
    for (int chunk = 0; chunk < call_.chunks; ++chunk) {
      const auto& place = at_[static_cast<std::size_t>(number(t, chunk))];
      const OutputMatrix sum = staged(remote != 0 ? remote : exchange.outgoing(), place,
                                      call_.product.c, part(block_of_step(t), chunk).count);
      multiply_part(t, chunk, 0, sum, exchange);
      if (remote != 0) {
        if (!block_of(sum).is_empty()) exchange.announce(number(t, chunk), to, call_.stream);
        continue;
      }
      const Block arrives =
          block_of(rows(call_.product.c, 0, part(block_of_step(t + 1), chunk).count));
      exchange.post(number(t, chunk),
                    {.out = block_of(sum),
                     .to = to,
                     .out_offset = place.offset,
                     .in_lines = arrives.is_empty() ? 0 : arrives.lines,
                     .source = neighbour(call_, -1),
                     .in_offset = place.offset,
                     .pitch = place.pitch},
                    call_.stream);
    }
  }
}

void ReductionRing::complete(int chunk, const OutputMatrix& c, Exchange& exchange) {
  multiply_part(call_.ranks, chunk, call_.product.beta, c, exchange);
}

}  // namespace rung::nccl
