#include "library/dist/nccl/reduction_ring.hpp"

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

Product ReductionRing::product_of(int t, int chunk, const OutputMatrix& c) const {
  const Part part_here = part(block_of_step(t), chunk);
  Product some = call_.product;
  some.a = rows(call_.product.a, part_here.first, part_here.count);
  some.c = c;
  return some;
}

OutputMatrix ReductionRing::arrived(int t, int chunk, const Exchange& exchange) const {
  return staged(exchange.incoming(), at_[static_cast<std::size_t>(number(t - 1, chunk))],
                call_.product.c, part(block_of_step(t), chunk).count);
}

void ReductionRing::pass_on(Exchange& exchange) {
  for (int t = 1; t < call_.ranks; ++t) {
    for (int chunk = 0; chunk < call_.chunks; ++chunk) {
      const auto& place = at_[static_cast<std::size_t>(number(t, chunk))];
      const OutputMatrix sum =
          staged(exchange.outgoing(), place, call_.product.c, part(block_of_step(t), chunk).count);
      Product some = product_of(t, chunk, sum);
      some.beta = 0;
      if (t > 1 && !block_of(sum).is_empty()) {
        await(number(t - 1, chunk), exchange, call_.stream);
        some.addend = read_only(arrived(t, chunk, exchange));
      }
      multiply(some, exchange, call_.stream, call_.options);
      const Block arrives =
          block_of(rows(call_.product.c, 0, part(block_of_step(t + 1), chunk).count));
      exchange.post(number(t, chunk),
                    {.out = block_of(sum),
                     .to = neighbour(call_, 1),
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
  if (block_of(c).is_empty()) return;
  const int t = call_.ranks;
  Product some = product_of(t, chunk, c);
  if (t > 1 && some.beta == 0) {  // the fastest kernels add to the contents of C
    exchange.deliver(number(t - 1, chunk), block_of(arrived(t, chunk, exchange)), block_of(c));
    exchange.session().part("products", "wait for copy", 0, call_.stream,
                            [&] { exchange.await_deliveries(call_.stream); });
    some.beta = 1;
  } else if (t > 1) {
    await(number(t - 1, chunk), exchange, call_.stream);
    some.addend = read_only(arrived(t, chunk, exchange));
  }
  multiply(some, exchange, call_.stream, call_.options);
}

}  // namespace rung::nccl
