#pragma once
// Calls whose result the program discards.

#include <optional>
#include <span>
#include <string>
#include <string_view>

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

/// The variable whose address the call of `function` on this line takes first: "x" for cudaMalloc(&x, n);
/// empty if it takes none.
std::string allocated_variable(std::string_view text, int line, std::string_view function);

}  // namespace rung::emu
