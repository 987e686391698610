#include "emu/runtime/variables.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "emu/runtime/early_exit.hpp"

namespace rung::emu {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<std::int64_t> integer_variable(const char* name, std::int64_t least,
                                             std::int64_t most) {
  const std::string text = variable(name);
  if (text.empty()) return {};
  std::int64_t value = 0;
  const char* const stop = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), stop, value);
  if (error != std::errc() || end != stop || value < least || value > most) {
    throw std::invalid_argument(
        fmt::format("{}: '{}' is not an integer from {} to {}", name, text, least, most));
  }
  return value;
}

bool flag_variable(const char* name, bool otherwise) {
  const std::string text = variable(name);
  if (text.empty()) return otherwise;
  if (text == "0" || text == "1") return text == "1";
  refuse_variable(std::invalid_argument(fmt::format("{}: '{}' is neither 0 nor 1", name, text)));
}

void refuse_variable(const std::exception& error) {
  fmt::print(stderr, "rung emu: {}\n", error.what());
  exit_at_once(2);
}

}  // namespace rung::emu
