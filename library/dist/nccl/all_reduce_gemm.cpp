// GEMM + all-reduce. Overlapped: the reduce-scatter, where each finished part is sent to all other
// ranks while the next one is multiplied. Fused: the same in a single kernel. Sequential: a
// product, then NCCL's all-reduce.

#include <algorithm>
#include <functional>
#include <vector>

#include "library/dist/nccl/collectives.hpp"
#include "library/dist/nccl/fused_ring.hpp"
#include "library/dist/nccl/reduction_ring.hpp"
#include "library/dist/nccl/schedule.hpp"

namespace rung::nccl {
namespace {

std::int64_t block_rows_of(const Call& call) {
  return (call.product.c.rows + call.ranks - 1) / call.ranks;
}

std::int64_t lines_of(const OutputMatrix& c) {
  return block_of(c).is_empty() ? 0 : block_of(c).lines;
}

/// Finished parts of C, which the rank that sums them sends to all others.
class FinishedParts {
 public:
  /// part(rank, chunk): the rows that a rank sums. Their steps are numbered from first_number.
  using PartOfRank = std::function<Part(int rank, int chunk)>;
  FinishedParts(const Call& call, PartOfRank part, int first_number, Places& places)
      : call_(call), part_(std::move(part)), first_number_(first_number) {
    for (int t = 1; t < call.ranks; ++t) {
      for (int chunk = 0; chunk < call.chunks; ++chunk) {
        at_.push_back(places.next(call.product.c, part_(0, chunk).count));  // no rank has more
      }
    }
  }

  OutputMatrix rows_of(int rank, int chunk) const {
    const Part part = part_(rank, chunk);
    return rows(call_.product.c, part.first, part.count);
  }
  /// The messages that send this rank's chunk to all others.
  std::vector<Sending> sends(int chunk) const {
    std::vector<Sending> all;
    for (int t = 1; t < call_.ranks; ++t) {
      const Places::Place& place = at_[index(t, chunk)];
      all.push_back({number(t, chunk),
                     {.out = block_of(rows_of(call_.rank, chunk)),
                      .to = neighbour(call_, -t),
                      .out_offset = place.offset,
                      .in_lines = lines_of(rows_of(neighbour(call_, t), chunk)),
                      .source = neighbour(call_, t),
                      .in_offset = place.offset,
                      .pitch = place.pitch}});
    }
    return all;
  }
  /// Delivers the other ranks' parts to C. Call only after all products, because each waits for all
  /// earlier deliveries.
  void deliver(Exchange& exchange) const {
    for (int chunk = 0; chunk < call_.chunks; ++chunk) {
      for (int t = 1; t < call_.ranks; ++t) {
        const OutputMatrix theirs = rows_of(neighbour(call_, t), chunk);
        if (lines_of(theirs) == 0) continue;
        const OutputMatrix arrived =
            staged(exchange.incoming(), at_[index(t, chunk)], theirs, theirs.rows);
        exchange.deliver(number(t, chunk), block_of(arrived), block_of(theirs));
      }
    }
  }

 private:
  std::size_t index(int t, int chunk) const {
    return static_cast<std::size_t>((t - 1) * call_.chunks + chunk);
  }
  int number(int t, int chunk) const { return first_number_ + static_cast<int>(index(t, chunk)); }

  const Call& call_;
  PartOfRank part_;
  int first_number_;
  std::vector<Places::Place> at_;  // by index()
};

template <class Ring>
FinishedParts::PartOfRank parts_of(const Ring& ring) {
  return [&ring](int rank, int chunk) { return ring.part(rank, chunk); };
}

}  // namespace

std::int64_t all_reduce_bytes(const Call& call) {
  Places ring, fused, whole;
  const ReductionRing of_kernels(call, block_rows_of(call), ring);
  FinishedParts(call, parts_of(of_kernels), 0, ring);
  const FusedRing of_one(call, block_rows_of(call), fused);
  FinishedParts(call, parts_of(of_one), 0, fused);
  whole.next(call.product.c, call.product.c.rows);
  return std::max({ring.bytes(), fused.bytes(), whole.bytes()});
}

void all_reduce_overlapped(const Call& call, Exchange& exchange) {
  Places places;
  ReductionRing ring(call, block_rows_of(call), places);
  const FinishedParts finished(call, parts_of(ring), ring.steps(), places);

  exchange.begin(call.stream);
  exchange.begin_arrivals(call.stream);
  ring.pass_on(exchange);
  for (int chunk = 0; chunk < call.chunks; ++chunk) {
    ring.complete(chunk, finished.rows_of(call.rank, chunk), exchange);
    for (const Sending& sending : finished.sends(chunk)) {
      exchange.post(sending.number, sending.step, call.stream);
    }
  }
  finished.deliver(exchange);
  exchange.finish(call.stream);
}

void all_reduce_fused(const Call& call, Exchange& exchange) {
  Places places;
  const FusedRing ring(call, block_rows_of(call), places);
  const FinishedParts finished(call, parts_of(ring), ring.steps(), places);
  const std::int64_t first = std::min(call.rank * block_rows_of(call), call.product.c.rows);
  const OutputMatrix own =
      rows(call.product.c, first, std::min(block_rows_of(call), call.product.c.rows - first));

  exchange.begin(call.stream);
  exchange.begin_arrivals(call.stream);
  ring.run(own, exchange, [&](int chunk) { return finished.sends(chunk); });
  finished.deliver(exchange);
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
