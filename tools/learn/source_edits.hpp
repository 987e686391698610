#pragma once
// Edits of a learner's text, for experiments.

#include <string>
#include <string_view>
#include <vector>

#include "tools/learn/exercise.hpp"

namespace rung::learn {

/// The call by which the threads of a block wait for each other.
std::string_view barrier_call(Language language);

/// The numbers of the lines before which a statement could be inserted, so that it runs before line
/// `line`: the beginning of its statement, then those of the blocks that enclose it. Lines count
/// from 1.
std::vector<int> statements_around(const std::string& text, int line);

/// The numbers of the lines with the braces that end the blocks around line `line`, innermost first.
std::vector<int> ends_of_blocks(const std::string& text, int line);

/// The text with a statement before each of the lines.
std::string with_statement(const std::string& text, const std::vector<int>& lines,
                           std::string_view statement);

/// The text of a line without its comment; empty if there is no such line.
std::string line_of(const std::string& text, int line);

/// The text with every occurrence of `from` on a line, or on all lines if it is 0, replaced.
std::string with_replaced(const std::string& text, int line, std::string_view from,
                          std::string_view to);

}  // namespace rung::learn
