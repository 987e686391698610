#pragma once
// Data-flow analysis: dependences of addresses on values.

#include <functional>
#include <set>

#include "vgpu/ptx/module.hpp"

namespace rung::analysis::diagnosis {

using IsSource = std::function<bool(const vgpu::ptx::Instruction& instruction)>;

/// The lines of instructions with an address that depends, directly or indirectly, on the result of
/// a source in the same function.
std::set<int> lines_with_address_from(const vgpu::ptx::Module& text, const IsSource& is_source);

/// The lines of branches whose condition depends on the result of a source.
std::set<int> branches_decided_by(const vgpu::ptx::Module& text, const IsSource& is_source);

/// The lines of sources whose own result determines their next address, as in a linked list.
std::set<int> lines_with_own_address(const vgpu::ptx::Module& text, const IsSource& is_source);

/// The lines of instructions that ptxas merges into the only instruction that uses their result: two
/// logical operations become LOP3, two additions IADD3, a shift and an addition LEA, a product and an
/// addition IMAD or IMAD.WIDE, a mask and a comparison with 0 one LOP3.
std::set<int> merged_lines(const vgpu::ptx::Module& text);

}  // namespace rung::analysis::diagnosis
