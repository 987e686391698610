#pragma once
// Which addresses depend on which values.

#include <functional>
#include <set>

#include "vgpu/ptx/module.hpp"

namespace rung::analysis::diagnosis {

using IsSource = std::function<bool(const vgpu::ptx::Instruction& instruction)>;

/// The lines of instructions whose address is computed from the result of a source, in any number of
/// steps, within one function.
std::set<int> lines_with_address_from(const vgpu::ptx::Module& text, const IsSource& is_source);

}  // namespace rung::analysis::diagnosis
