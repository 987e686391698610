#pragma once
// The LLVM IR of a Metal kernel, as text before any optimization.

#include <string>
#include <vector>

#include "emu/compile/metal/metal.hpp"

namespace rung::emu::metal {

/// The space of clang's fake address space map (lib/Basic/Targets.h) that constant memory has.
/// References to it may be parameters of the entry, so it becomes the generic space, and LLVM infers
/// what each access reads.
std::string generic_constants(const std::string& module);

/// A store to components of a vector in memory writes only these. clang loads the vector, replaces
/// the components and stores it as a whole, which would race with other threads' components.
std::string store_components(const std::string& module);

/// Functions other than the entries are internal, so that unused ones are dropped.
std::string internal_functions(const std::string& module, const std::vector<std::string>& entries);

/// The first implicit conversion of a pointer that Metal forbids, as an error message with its line;
/// otherwise empty. clang allows conversions to pointers without an address space, which
/// methods and references to constants need.
std::string forbidden_conversion(const std::string& module);

/// The types of the parameters of the kernel that an entry calls, from the debug information; for
/// pointers and references, the type that they point to. The debug information is then reduced to
/// line tables.
std::vector<Type> take_layouts(std::string& module, const std::string& entry);

}  // namespace rung::emu::metal
