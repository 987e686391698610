#pragma once
// NCCL's collectives on GPU memory, in the caller's stream.

#include <cstdint>

#include "library/dist/nccl/session.hpp"
#include "rung/any_matrix.hpp"

namespace rung::nccl {

/// Gathers `own` (block_bytes bytes) of all ranks to `all`, in rank order. `own` may be its block
/// of `all`.
void all_gather(const Session& session, cuda::DevicePointer own, cuda::DevicePointer all,
                std::int64_t block_bytes, cuda::Stream stream);
/// `all` has a block of block_bytes bytes for each rank. Stores the sum of this rank's block over
/// all ranks to `own`, which may be that block.
void reduce_scatter(const Session& session, cuda::DevicePointer all, cuda::DevicePointer own,
                    std::int64_t block_bytes, ElementType type, cuda::Stream stream);
/// Reduces in place.
void all_reduce(const Session& session, cuda::DevicePointer memory, std::int64_t bytes,
                ElementType type, cuda::Stream stream);

}  // namespace rung::nccl
