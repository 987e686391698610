#pragma once
// Reads the environment variables of emu/runtime/options.hpp, the options of an emulated program.

#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>

namespace rung::emu {

/// The value of an environment variable; empty if it is not set.
std::string variable(const char* name);

/// The variable as an integer; nullopt if it is unset or empty. Throws std::invalid_argument with a
/// one-line message if it is not an integer from `least` to `most`.
std::optional<std::int64_t> integer_variable(const char* name, std::int64_t least,
                                             std::int64_t most);

/// Returns read(), which parses the variable. Puts the variable's name before the text of errors.
template <class Read>
auto of_variable(const char* name, const Read& read) {
  try {
    return read();
  } catch (const std::exception& error) {
    throw std::invalid_argument(std::string(name) + ": " + error.what());
  }
}

/// True if the variable is 1; `otherwise` if it is unset or empty. Ends the program, with an error,
/// for values other than 0 and 1.
bool flag_variable(const char* name, bool otherwise = false);

/// Prints the error and ends the program with exit code 2. For functions with C linkage, which must
/// not throw.
[[noreturn]] void refuse_variable(const std::exception& error);

}  // namespace rung::emu
