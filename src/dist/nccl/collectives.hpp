#pragma once
// NCCL's collectives on memory of the GPU, in the caller's stream.

#include <cstdint>

#include "dist/nccl/session.hpp"
#include "rung/epilogue.hpp"

namespace rung::nccl {

/// `own`, of that many bytes, of each rank to `all`, in the order of ranks. It may be there already.
void all_gather(const Session& session, cuda::DevicePointer own, cuda::DevicePointer all,
                std::int64_t block_bytes, cuda::Stream stream);
/// `all` has a block of that many bytes for each rank; the sum over ranks of this rank's goes to `own`,
/// which may be that block.
void reduce_scatter(const Session& session, cuda::DevicePointer all, cuda::DevicePointer own,
                    std::int64_t block_bytes, ElementType type, cuda::Stream stream);
/// In place.
void all_reduce(const Session& session, cuda::DevicePointer memory, std::int64_t bytes,
                ElementType type, cuda::Stream stream);

}  // namespace rung::nccl
