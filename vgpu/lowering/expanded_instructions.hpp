#pragma once
// Instructions that stand for several others: edits of a tensor map in memory (PTX ISA, "tensormap.replace" and
// "tensormap.cp_fenceproxy"), and atomic operations on vectors, which are atomic for each element ("atom", "red").
// tcgen05.ld.red gets its results in one vector.

#include <string_view>

#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Replaces them, in every function, by these others, so that counters and hazards see their accesses as any others. Edits
/// become stores to the fields of model/tensor_map.hpp. Throws std::invalid_argument, with the line, for forms that are
/// not supported. `name` identifies the text.
void expand_instructions(ptx::Module& module, std::string_view name);

}  // namespace rung::vgpu
