#pragma once
// Calls that cannot be inlined: recursion, and calls through pointers. A kernel and the functions
// that it calls so become one text. Each thread has a stack in local memory; a call is a jump that
// leaves the index of its return point there, and a return is an indirect branch by that index. The
// engine knows nothing of it.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "vgpu/lowering/call_graph.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Bytes of each thread's call stack.
inline constexpr std::int64_t call_stack_bytes = std::int64_t{64} << 10;
/// The name of the variable that holds it.
inline constexpr const char* call_stack_name = "call stack";

/// Where addresses of functions begin, above all memory, and how far apart they are.
inline constexpr std::uint64_t function_window = std::uint64_t{4} << 56;
inline constexpr int function_address_shift = 4;

/// The address of a function of the module; nothing if there is none of that name.
std::optional<std::uint64_t> function_address(const ptx::Module& module, std::string_view name);

/// Whether the instruction, in a text that inline.cpp made, calls a function of the module or
/// through a pointer.
bool is_stack_call(const ptx::Module& module, const ptx::Instruction& instruction);

/// Joins functions whose calls have been inlined where possible, the entry first. The frame of a
/// function, at the stack pointer, holds the index of the return point, results, parameters, local
/// variables, and registers that a call may overwrite: those that are live across a call which may
/// lead back into the same function. Throws std::invalid_argument for a variable that is passed to two
/// functions.
ptx::Function link_by_call_stack(const ptx::Module& module, const CallGraph& graph,
                                 std::vector<ptx::Function> functions);

}  // namespace rung::vgpu
