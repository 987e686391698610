#pragma once
// A product in parts of rows, some of which arrive or are sent while it runs.

#include <vector>

#include "dist/nccl/schedule.hpp"
#include "rung/parted_gemm.hpp"

namespace rung::nccl {

/// In a PartedGemm of a call: what arrives is a[arriving_matrix], what is computed to be sent
/// c[sent_matrix]; the others are the caller's.
inline constexpr int arriving_matrix = 1, sent_matrix = 1;

/// More are computed by kernels of their own.
inline constexpr int most_fused_parts = 48;

/// A message of a call.
struct Sending {
  int number;
  Step step;
};

/// Some rows of the product, the step in which their addend or, without one, their A arrives, and what
/// is sent when they are done.
struct FusedPart {
  PartOfGemm rows;
  int arrival = none;
  std::vector<Sending> sends = {};

  static constexpr int none = -1;
};

/// Rows of a chunk, of whole tiles.
Part part_of_tiles(std::int64_t rows, int chunk, int chunks);

/// Enqueues the product: as one kernel whose tiles wait for arrivals and whose finished parts are sent
/// while it runs; where that cannot be, a kernel for each part. `product` has all but parts. All ranks send and await the same, whichever it is.
void run_fused(const Call& call, Exchange& exchange, const PartedGemm& product,
               const std::vector<FusedPart>& parts);

}  // namespace rung::nccl
