#pragma once
// The sources that rung writes around a file of the user's, which they include.

#include <filesystem>
#include <string>

#include "kernel_file/kernel_file.hpp"

namespace rung {

/// The C function that an adapter defines: int(const rung_emu_kernel_call*), which returns a
/// cudaError_t.
inline constexpr const char* adapter_entry = "rung_emu_call_kernel";

/// A source whose entry calls the function with the arguments that it takes.
std::string adapter_text(const KernelFile& file);

/// The same with a main() that calls it once, on operands of random numbers: of a gemm of
/// m x n x k, or vectors of n elements. ld are the lengths of rows.
struct ProgramSize {
  std::int64_t m, n, k;
};
std::string program_text(const KernelFile& file, const ProgramSize& size);

}  // namespace rung
