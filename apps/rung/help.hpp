#pragma once
// The help of a command in lines that fit the terminal.

#include <cstddef>
#include <string>

namespace rung {

/// Columns of the terminal that a descriptor (STDOUT_FILENO) is on, of COLUMNS, or 80; at least 40.
std::size_t terminal_width(int descriptor);

/// terminal_width() of standard output; at most 100, because longer lines of prose are hard to read.
std::size_t help_width();

/// Options get their texts wrapped below each other, paragraphs are filled, and indented lines, such as
/// examples, stay as they are.
std::string folded_help(const std::string& help, std::size_t width);

}  // namespace rung
