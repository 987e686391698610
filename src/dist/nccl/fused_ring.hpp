#pragma once
// The sums of ReductionRing by one product in parts: what a rank sends and what it keeps.

#include <functional>
#include <vector>

#include "dist/nccl/fused_product.hpp"

namespace rung::nccl {

class FusedRing {
 public:
  /// Of blocks of that many rows; the last ones may have fewer.
  FusedRing(const Call& call, std::int64_t block_rows, Places& places);

  /// The rows of C, or of A, that a chunk of a rank's block has.
  Part part(int block, int chunk) const;
  int steps() const { return (call_.ranks - 1) * call_.chunks; }

  /// What is sent when a chunk of the own block is done.
  using Sends = std::function<std::vector<Sending>(int chunk)>;
  /// The product. `own` is where this rank's block goes.
  void run(const OutputMatrix& own, Exchange& exchange, const Sends& sends) const;

 private:
  /// Of step t, 1 to ranks: the block that this rank multiplies then.
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
