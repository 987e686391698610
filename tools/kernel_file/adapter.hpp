#pragma once
// Sources that Rung generates around a user's file. They include the file.

#include <filesystem>
#include <string>

#include "tools/kernel_file/kernel_file.hpp"

namespace rung {

/// The C function that an adapter defines: int(const rung_emu_kernel_call*). It returns a
/// cudaError_t.
inline constexpr const char* adapter_entry = "rung_emu_call_kernel";

/// A source with an entry point that calls the user's function with the arguments that it takes.
std::string adapter_text(const KernelFile& file);

/// The same with a main() that calls the function once on random operands: a GEMM of m x n x k, or
/// vectors of n elements. Leading dimensions are row lengths. With arguments, the first is
/// the least leading dimension, and the program makes a call for each three others: m, n and k.
struct ProgramSize {
  std::int64_t m, n, k;
};
std::string program_text(const KernelFile& file, const ProgramSize& size);

}  // namespace rung
