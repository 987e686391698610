#pragma once
// NCCL's collectives in place, on memory of the GPU, in the caller's stream.

#include <cstdint>

#include "dist/nccl/session.hpp"
#include "rung/epilogue.hpp"

namespace rung::nccl {

/// `memory` has a block of that many bytes for each rank; this rank's is filled.
void all_gather(const Session& session, cuda::DevicePointer memory, std::int64_t block_bytes,
                cuda::Stream stream);
/// `memory` has a block of that many bytes for each rank; this rank's becomes the sum over ranks.
void reduce_scatter(const Session& session, cuda::DevicePointer memory, std::int64_t block_bytes,
                    ElementType type, cuda::Stream stream);
void all_reduce(const Session& session, cuda::DevicePointer memory, std::int64_t bytes,
                ElementType type, cuda::Stream stream);

}  // namespace rung::nccl
