#pragma once
// Text in UTF-8, by characters (code points) and not by bytes.

#include <cstddef>
#include <string>
#include <string_view>

namespace rung {

/// The first `count` characters, or all if there are fewer; never a part of one.
std::string_view first_characters(std::string_view text, std::size_t count);

std::size_t count_characters(std::string_view text);

/// The text with U+FFFD in the place of each byte that is no part of valid UTF-8.
std::string valid_utf8(std::string_view text);

}  // namespace rung
