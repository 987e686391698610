#pragma once
// Names of the special registers (PTX ISA, chapter 10).

#include <string_view>

namespace rung::vgpu::ptx {

/// Whether `name`, without the %, is a special register: "tid", "laneid", "envreg31".
bool is_special_register(std::string_view name);

/// Whether it is a vector, of which an instruction takes .x, .y, .z or .w.
bool is_special_vector(std::string_view name);

}  // namespace rung::vgpu::ptx
