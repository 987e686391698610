#pragma once
// Names of the special registers (PTX ISA, chapter 10).

#include <string_view>

namespace rung::vgpu::ptx {

/// True if `name`, without the %, is a special register, such as "tid", "laneid" or "envreg31".
bool is_special_register(std::string_view name);

/// True if it is a vector, which instructions access by .x, .y, .z or .w.
bool is_special_vector(std::string_view name);

}  // namespace rung::vgpu::ptx
