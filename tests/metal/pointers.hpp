#pragma once
// Metal wants an address space of every pointer and reference. To clang, one without any points to
// the thread's own memory; so it is looked for in the text.

#include <string>
#include <vector>

namespace rung::metal_tests {

/// The declarations of pointers and references without an address space, as "line: text".
std::vector<std::string> pointers_without_address_space(const std::string& source);

}  // namespace rung::metal_tests
