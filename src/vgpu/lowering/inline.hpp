#pragma once
// Functions into their callers: the engine has no call stack.

#include <cstddef>
#include <string_view>

#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// What an entry with all its callees may come to: functions that call each other twice grow fast.
inline constexpr std::size_t most_inlined_instructions = std::size_t{1} << 22;

/// The entry with the body of every function that it calls in place of the call. A call's
/// parameters become registers where call_parameters.hpp can make them so, else `.param` variables
/// of the result, for which the lowering takes memory of the thread. Calls to functions without a
/// body are left, with such variables for parameters. The result ends with an instruction that ends
/// the thread or branches. All its operands have been checked (operand_check.hpp). Throws
/// std::invalid_argument, "NAME:LINE: …", for operands that do not fit, for recursion, for calls
/// through a pointer, and for more than `limit` instructions.
ptx::Function inline_calls(const ptx::Module& module, const ptx::Function& entry,
                           std::string_view name, std::size_t limit = most_inlined_instructions);

}  // namespace rung::vgpu
