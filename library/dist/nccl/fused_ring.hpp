#pragma once
// The sums of ReductionRing, computed by one product in parts: the parts that a rank sends and
// those that it keeps.

#include <functional>
#include <vector>

#include "library/dist/nccl/fused_product.hpp"

namespace rung::nccl {

class FusedRing {
 public:
  /// For blocks of block_rows rows; the last ones may have fewer.
  FusedRing(const Call& call, std::int64_t block_rows, Places& places);

  /// The rows of C (or of A) of a chunk of a rank's block.
  Part part(int block, int chunk) const;
  int steps() const { return (call_.ranks - 1) * call_.chunks; }

  /// The messages to send when a chunk of the rank's own block is done.
  using Sends = std::function<std::vector<Sending>(int chunk)>;
  /// Enqueues the product. `own` is the destination of this rank's block.
  void run(const OutputMatrix& own, Exchange& exchange, const Sends& sends) const;

 private:
  /// The block that this rank multiplies in step t, from 1 to ranks.
  int block_of_step(int t) const { return neighbour(call_, -t); }
  int number(int t, int chunk) const { return (t - 1) * call_.chunks + chunk; }
  /// The first row of a step's chunk in staging memory.
  std::int64_t staged_row(int t, int chunk) const;
  FusedPart fused_part(int t, int chunk) const;
  Sending sending(int t, int chunk, const Exchange& exchange) const;
  OutputMatrix staging(cuda::DevicePointer memory) const;

  const Call& call_;
  std::int64_t block_rows_;
  Places::Place place_;
};

}  // namespace rung::nccl
