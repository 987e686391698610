#pragma once
// Calls whose result the program discards.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rung::emu {

/// A statement that is a call and nothing else, so that its result is lost.
struct DiscardedCall {
  std::string name;  // "cudaFree"
  std::string text;  // "cudaFree(x)", with single blanks
};

/// The call on this line of one of these functions, if the line discards the results of all calls of them.
/// A macro that the text defines counts for its definition. Empty if the line uses a result, or if it has
/// no such call that can be recognised.
std::optional<DiscardedCall> discarded_call(std::string_view text, int line,
                                            std::span<const std::string> names);

/// The launch `kernel<<<…>>>(…)` that begins on this line, with single blanks; empty if none does.
std::string launch_text(std::string_view text, int line);

/// For each call of `function` on this line, the variable whose address it takes first: "x" for
/// cudaMalloc(&x, n). Empty text for a call that takes none.
std::vector<std::string> allocated_variables(std::string_view text, int line,
                                             std::string_view function);

}  // namespace rung::emu
