#pragma once
// Copies of float4 and the like, as nvcc makes them: one access each. clang copies structures by
// llvm.memcpy, of which LLVM makes accesses of 8 bytes.

#include <string>

namespace rung::emu {

/// The module, LLVM IR as text before any optimisation, with a vector's load and store in place of
/// each copy of a structure that is aligned to its size. Arrays are aligned so that vectors may
/// begin where they do.
std::string copy_by_vectors(const std::string& module);

}  // namespace rung::emu
