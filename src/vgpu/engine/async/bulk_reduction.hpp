#pragma once
// cp.reduce.async.bulk: what comes out of shared memory is added to global memory (PTX ISA,
// 9.7.9.25).

#include <cstddef>
#include <cstdint>
#include <optional>

#include "vgpu/model/async_ops.hpp"
#include "vgpu/model/tensor_map.hpp"

namespace rung::vgpu {

/// How a tensor's elements are added; nothing for those that cannot be.
std::optional<BulkCopyOp::Reduction> reduction_of(TensorElement element);

/// Adds `bytes` of elements, atomically.
void reduce(BulkCopyOp::Reduction reduction, std::byte* to, const std::byte* from,
            std::uint32_t bytes);

}  // namespace rung::vgpu
