#pragma once
// cp.reduce.async.bulk: reductions from shared to global memory (PTX ISA, 9.7.9.25).

#include <cstddef>
#include <cstdint>
#include <optional>

#include "vgpu/model/async_ops.hpp"
#include "vgpu/model/tensor_map.hpp"

namespace rung::vgpu {

/// The reduction for a tensor's element type; nullopt if the type has none.
std::optional<BulkCopyOp::Reduction> reduction_of(TensorElement element);

/// Applies the reduction to `bytes` bytes of elements, atomically.
void reduce(BulkCopyOp::Reduction reduction, std::byte* to, const std::byte* from,
            std::uint32_t bytes);

}  // namespace rung::vgpu
