#pragma once
// Casts to pointers to float4 and the like, as nvcc compiles them: what they point at is one access.
// Where clang sees the array that an address is of, as in `*(float4*)&tile[4 * i]`, it takes the
// array's alignment for that of the access, of which LLVM then makes several.

#include <string>

namespace rung::emu {

/// Hides the arrays: `(float4*)&tile[i]` becomes `(float4*)(::rung_emu::Address)&tile[i]`, and so
/// does a reinterpret_cast.
std::string hide_arrays_of_vectors(const std::string& text);

}  // namespace rung::emu
