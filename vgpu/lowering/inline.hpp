#pragma once
// Inlines functions into their callers, except for those that need a call stack
// (lowering/call_stack.hpp).

#include <cstddef>
#include <string_view>

#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Limit for an entry with all its callees: chains of functions that each call the next one twice
/// grow exponentially.
inline constexpr std::size_t max_inlined_instructions = std::size_t{1} << 22;

/// Returns the entry with every call replaced by the body of the called function, or by a jump to
/// it if it calls itself or is called through a pointer. Parameters of calls become registers if
/// call_parameters.hpp allows it, otherwise `.param` variables of the result, which the lowering
/// places in the thread's memory. Calls of functions without a body remain, with such variables for
/// parameters. The result ends with an instruction that exits or branches, and all its operands
/// have been checked (operand_check.hpp). Throws std::invalid_argument, "NAME:LINE: …", for invalid
/// operands, and for a function with more than `limit` instructions.
ptx::Function inline_calls(const ptx::Module& module, const ptx::Function& entry,
                           std::string_view name, std::size_t limit = max_inlined_instructions);

}  // namespace rung::vgpu
