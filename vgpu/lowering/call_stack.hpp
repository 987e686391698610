#pragma once
// Calls that cannot be inlined: recursion, and calls through pointers. A kernel and the functions
// that it calls in this way are joined into one function. Each thread has a stack in local memory.
// A call stores the index of its return point there and jumps; a return is an indirect branch by
// that index. The engine is not aware of calls.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "vgpu/lowering/call_graph.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Size of each thread's call stack, in bytes.
inline constexpr std::int64_t call_stack_bytes = std::int64_t{64} << 10;
/// Name of the variable that holds the call stack.
inline constexpr const char* call_stack_name = "call stack";

/// Start of the addresses of functions, above all memory, and log2 of their distance.
inline constexpr std::uint64_t function_window = std::uint64_t{4} << 56;
inline constexpr int function_address_shift = 4;

/// The address of a function of the module; nullopt if the module has no such function.
std::optional<std::uint64_t> function_address(const ptx::Module& module, std::string_view name);

/// True if the instruction, in a function made by inline.cpp, calls a function of the module or
/// through a pointer.
bool is_stack_call(const ptx::Module& module, const ptx::Instruction& instruction);

/// Joins functions whose calls have been inlined where possible, the entry first. The frame of a
/// function, at the stack pointer, holds the index of the return point, results, parameters, local
/// variables, and saved registers: those that are live across a call that may reach the same
/// function again. Throws std::invalid_argument for a variable that is passed to two functions.
ptx::Function link_by_call_stack(const ptx::Module& module, const CallGraph& graph,
                                 std::vector<ptx::Function> functions);

}  // namespace rung::vgpu
