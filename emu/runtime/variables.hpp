#pragma once
// Options of programs that run by themselves: the environment variables of emu/runtime/options.hpp.

#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>

namespace rung::emu {

/// Its value; empty if it is not set.
std::string variable(const char* name);

/// Nothing if it is not set, or empty. Throws std::invalid_argument, with one line that says what it
/// may be, if it is no integer from `least` to `most`.
std::optional<std::int64_t> integer_variable(const char* name, std::int64_t least,
                                             std::int64_t most);

/// The variable's value after read(). Errors begin with the variable's name.
template <class Read>
auto of_variable(const char* name, const Read& read) {
  try {
    return read();
  } catch (const std::exception& error) {
    throw std::invalid_argument(std::string(name) + ": " + error.what());
  }
}

/// True if the variable is 1; `otherwise` if it is unset or empty. Refuses values other than 0 and 1.
bool flag_variable(const char* name, bool otherwise = false);

/// Ends the program with exit code 2 and the error's line. For functions that C calls, which
/// exceptions cannot cross.
[[noreturn]] void refuse_variable(const std::exception& error);

}  // namespace rung::emu
