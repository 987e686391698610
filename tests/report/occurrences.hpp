// Counts the occurrences of a substring, for tests of pictures.

#ifndef RUNG_TESTS_OCCURRENCES_HPP
#define RUNG_TESTS_OCCURRENCES_HPP

#include <cstddef>
#include <string>

namespace rung {

inline std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace rung

#endif
