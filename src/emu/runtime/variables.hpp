#pragma once
// Options of programs that run by themselves: the environment variables of emu/options.hpp.

#include <cstdint>
#include <exception>
#include <optional>
#include <string>

namespace rung::emu {

/// Its value; empty if it is not set.
std::string variable(const char* name);

/// Nothing if it is not set, or empty. Throws std::invalid_argument, with one line that says what it
/// may be, if it is no integer from `least` to `most`.
std::optional<std::int64_t> integer_variable(const char* name, std::int64_t least,
                                             std::int64_t most);

/// Ends the program with exit code 2 and the error's line. For functions that C calls, which
/// exceptions cannot cross.
[[noreturn]] void refuse_variable(const std::exception& error);

}  // namespace rung::emu
