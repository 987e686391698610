#pragma once
// Instructions that edit a tensor map in memory (PTX ISA, "tensormap.replace" and "tensormap.cp_fenceproxy").

#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Replaces them, in every function, by ordinary instructions that access the fields of model/tensor_map.hpp, so that
/// counters and hazards see their accesses as any others. Throws std::invalid_argument, with the line, for forms that
/// are not supported. `name` identifies the text.
void expand_tensor_map_edits(ptx::Module& module, std::string_view name);

}  // namespace rung::vgpu
