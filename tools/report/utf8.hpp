#pragma once
// UTF-8 text by characters (code points) instead of bytes.

#include <cstddef>
#include <string>
#include <string_view>

namespace rung {

/// The first `count` characters, or all if there are fewer; never a partial character.
std::string_view first_characters(std::string_view text, std::size_t count);

std::size_t count_characters(std::string_view text);

/// The text with each byte of invalid UTF-8 replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

}  // namespace rung
