#pragma once
// Kinds of characters of a C++ source.

#include <cctype>

namespace rung::emu {

inline bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// Of a name or number.
inline bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace rung::emu
