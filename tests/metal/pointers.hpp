#pragma once
// Metal requires an address space for every pointer and reference. For clang, a pointer without one
// refers to the thread's own memory, so this check searches the text instead.

#include <string>
#include <vector>

namespace rung::metal_tests {

/// The declarations of pointers and references without an address space, as "line: text".
std::vector<std::string> pointers_without_address_space(const std::string& source);

}  // namespace rung::metal_tests
