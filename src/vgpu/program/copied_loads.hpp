#pragma once
// Loads whose values, or some of them, no instruction computes with: they are stored again, or not
// read at all. Compilers copy structures whole, with the padding that nothing has written, and load
// all elements of a vector although some are not used. That is no error of the program. Nor is an
// atomic exchange that reads what nothing has written, if its old value is dropped: it is a store.

#include <cstddef>
#include <map>
#include <vector>

#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// By the index of a load in Function::body: for each of its elements whether something computes
/// with it. Loads of which all elements are used are not among them. Exchanges whose old value no
/// instruction reads are, with no elements.
using CopiedLoads = std::map<std::size_t, std::vector<bool>>;

CopiedLoads copied_loads(const ptx::Function& function);

}  // namespace rung::vgpu
