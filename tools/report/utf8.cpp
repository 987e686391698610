#include "tools/report/utf8.hpp"

#include <algorithm>

namespace rung {
namespace {

unsigned char byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

bool continues(unsigned char byte) { return (byte & 0xC0) == 0x80; }

/// The length in bytes of the valid character at the front; 0 if it is invalid (Unicode 15, table
/// 3-7).
std::size_t valid_length(std::string_view text) {
  const unsigned char lead = byte_at(text, 0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead < 0xC2   ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || length > text.size()) return 0;
  const unsigned char second = byte_at(text, 1);
  if (lead == 0xE0 && second < 0xA0) return 0;  // overlong
  if (lead == 0xED && second > 0x9F) return 0;  // a surrogate
  if (lead == 0xF0 && second < 0x90) return 0;  // overlong
  if (lead == 0xF4 && second > 0x8F) return 0;  // beyond U+10FFFF
  for (std::size_t i = 1; i < length; ++i) {
    if (!continues(byte_at(text, i))) return 0;
  }
  return length;
}

}  // namespace

std::string_view first_characters(std::string_view text, std::size_t count) {
  std::size_t end = 0;
  for (; count > 0 && end < text.size(); --count) {
    do ++end;
    while (end < text.size() && continues(byte_at(text, end)));
  }
  return text.substr(0, end);
}

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char character) {
    return !continues(static_cast<unsigned char>(character));
  }));
}

std::string valid_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const std::size_t length = valid_length(text);
    valid += length == 0 ? std::string_view("\uFFFD") : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return valid;
}

}  // namespace rung
