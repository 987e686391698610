#pragma once
// Finds loads with values, or elements, that no instruction computes with: they are stored again,
// or not read at all. Compilers copy whole structures, including padding that was never written,
// and load all elements of a vector even if some are not used. That is not an error of the program.
// Neither is an atomic exchange of memory that was never written, if its old value is dropped: it
// is a store.

#include <cstddef>
#include <map>
#include <vector>

#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// By the index of a load in Function::body: for each of its elements, true if some instruction
/// computes with it. Does not include loads for which all elements are used. Includes exchanges
/// whose old value is never read, with no elements.
using CopiedLoads = std::map<std::size_t, std::vector<bool>>;

CopiedLoads copied_loads(const ptx::Function& function);

}  // namespace rung::vgpu
