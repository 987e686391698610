#pragma once
// Keywords before dependent names that nvcc does not miss: `sizeof(T::tile)` and `x.f<T::tile>()` in
// a template. The text alone does not tell types from values, so clang's errors name the places.

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rung::emu {

struct MissingKeyword {
  std::string file;
  int line, column;  // from 1 on
  std::string_view keyword;

  auto operator<=>(const MissingKeyword&) const = default;
};

/// The keywords that errors of clang ask for, each once, in the order of their places.
std::vector<MissingKeyword> missing_keywords(const std::string& errors);

/// The text of a file with its missing keywords. Places without a name, as in macros, remain as they are.
std::string with_keywords(const std::string& text, const std::vector<MissingKeyword>& missing);

}  // namespace rung::emu
