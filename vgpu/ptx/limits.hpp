#pragma once
// Limits of the parser: far above what compilers generate, but low enough that no text, however
// malformed, exhausts memory, the stack or the user's patience.

#include <cstddef>
#include <cstdint>

namespace rung::vgpu::ptx::limits {

inline constexpr int deepest_expression = 64;           // nested parentheses in a constant
inline constexpr std::size_t deepest_scope = 64;        // nested { } in a function
inline constexpr std::size_t max_extents = 16;          // dimensions of an array
inline constexpr std::int64_t max_registers = 1 << 24;  // %r<N>
// A line, or a column of a .loc that numbers a call.
inline constexpr std::uint32_t max_inlined_calls = 1u << 30;
inline constexpr std::int64_t max_files = 1 << 16;          // index of a .file
inline constexpr std::int64_t largest_alignment = 1 << 20;  // bytes
inline constexpr std::int64_t max_variable_bytes = std::int64_t{1} << 40;
inline constexpr std::uint64_t max_initial_bytes = std::uint64_t{256} << 20;  // per module

}  // namespace rung::vgpu::ptx::limits
