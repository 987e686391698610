#pragma once
// Sums over ranks that travel around the ring: block j starts at rank j + 1 and ends at rank j.

#include <cstdint>
#include <vector>

#include "dist/nccl/schedule.hpp"

namespace rung::nccl {

class ReductionRing {
 public:
  /// Of blocks of that many rows; the last ones may have fewer, if A's rows are not a multiple.
  ReductionRing(const Call& call, std::int64_t block_rows, Places& places);

  /// Multiplies and sends the parts of all blocks that end at other ranks.
  void pass_on(Exchange& exchange);
  /// The sum of a part of this rank's own block, with beta, after Exchange::begin_arrivals().
  void complete(int chunk, const OutputMatrix& c, Exchange& exchange);

  int steps() const { return static_cast<int>(at_.size()); }
  /// Of the rows that chunk of that block has.
  Part part(int block, int chunk) const;

 private:
  /// Of step t, 1 to ranks: the block that this rank multiplies then.
  int block_of_step(int t) const { return neighbour(call_, -t); }
  int number(int t, int chunk) const { return (t - 1) * call_.chunks + chunk; }
  Product product_of(int t, int chunk, const OutputMatrix& c) const;
  /// The sum over the ranks before, of the part of that step.
  OutputMatrix arrived(int t, int chunk, const Exchange& exchange) const;

  const Call& call_;
  std::int64_t block_rows_;
  std::vector<Places::Place> at_;  // by number
};

}  // namespace rung::nccl
