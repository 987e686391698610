#pragma once
// A product in row parts that arrive or are sent while it runs.

#include <vector>

#include "library/dist/nccl/schedule.hpp"
#include "rung/tile_signal_gemm.hpp"

namespace rung::nccl {

/// In a TileSignalGemm of a call, arriving data is a[arriving_matrix], and computed data to be sent is
/// c[sent_matrix]; the other matrices are the caller's.
inline constexpr int arriving_matrix = 1, sent_matrix = 1;

/// With more parts, each is computed by separate kernels.
inline constexpr int max_fused_parts = 48;

/// A message of a call.
struct Sending {
  int number;
  Step step;
};

/// Rows of the product, the step in which their addend (or, without one, their A) arrives, and the
/// messages to send when they are done.
struct FusedPart {
  TileSignalPart rows;
  int arrival = none;
  std::vector<Sending> sends = {};

  static constexpr int none = -1;
};

/// The rows of a chunk, rounded to whole tiles.
Part part_of_tiles(std::int64_t rows, int chunk, int chunks);

/// Enqueues the product: as one kernel whose tiles wait for arrivals and whose finished parts are
/// sent while it runs or, if that is not possible, as a kernel for each part. `product` has
/// everything except parts. The messages are the same in both cases.
void run_fused(const Call& call, Exchange& exchange, const TileSignalGemm& product,
               const std::vector<FusedPart>& parts);

}  // namespace rung::nccl
