#pragma once
// Sums over ranks that travel around the ring: block j starts at rank j + 1 and ends at rank j.

#include <cstdint>
#include <vector>

#include "library/dist/nccl/schedule.hpp"

namespace rung::nccl {

class ReductionRing {
 public:
  /// For blocks of block_rows rows; the last ones may have fewer if A's rows are not a multiple.
  ReductionRing(const Call& call, std::int64_t block_rows, Places& places);

  /// Multiplies and sends the parts of all blocks that end at other ranks.
  void pass_on(Exchange& exchange);
  /// Completes the sum of a part of this rank's own block, with beta. Call after
  /// Exchange::begin_arrivals().
  void complete(int chunk, const OutputMatrix& c, Exchange& exchange);

  int steps() const { return static_cast<int>(at_.size()); }
  /// The rows of a chunk of a block.
  Part part(int block, int chunk) const;

 private:
  /// The block that this rank multiplies in step t, from 1 to ranks.
  int block_of_step(int t) const { return neighbour(call_, -t); }
  int number(int t, int chunk) const { return (t - 1) * call_.chunks + chunk; }
  Product product_of(int t, int chunk, const OutputMatrix& c) const;
  /// The part of step t, summed over the previous ranks of the ring.
  OutputMatrix arrived(int t, int chunk, const Exchange& exchange) const;

  const Call& call_;
  std::int64_t block_rows_;
  std::vector<Places::Place> at_;  // by number
};

}  // namespace rung::nccl
