#pragma once
// Arrays of addresses in shared memory, `half* part[2] = {tile, tile + 1024};`, which clang copies
// from a constant of the module. No such constant can be: where an array of shared memory lies
// depends on the kernel. nvcc stores the elements.

#include <string>

namespace rung::emu {

/// The module, LLVM IR as text before any optimisation, with a store of the elements in place of
/// each copy of a constant that holds addresses in shared memory.
std::string store_shared_addresses(const std::string& module);

}  // namespace rung::emu
