#pragma once
// Constant expressions (PTX ISA, 4.5): 64-bit integers, signed and unsigned, and doubles.

#include <cstdint>
#include <string_view>

#include "vgpu/ptx/lexer.hpp"

namespace rung::vgpu::ptx {

struct Constant {
  enum class Kind : std::uint8_t {
    s64,
    u64,
    f64,
    f32,  // literal 0f…, possibly negated: bits is an IEEE single; arithmetic converts it to f64
  };
  Kind kind = Kind::s64;
  std::uint64_t bits = 0;

  bool is_integer() const { return kind == Kind::s64 || kind == Kind::u64; }
  /// The value as a double, for any kind.
  double real() const;
};

/// True if a constant expression starts at the next token. A sign before a name other than WARP_SZ
/// does not start one: `-%r1` is an operand.
bool at_constant(const Lexer& lexer);

/// Parses a constant expression.
Constant parse_constant(Lexer& lexer);

/// Parses an integer constant expression, in two's complement. `what`: its name in messages.
std::int64_t parse_integer(Lexer& lexer, std::string_view what);

/// Parses an integer literal in [least, most], where PTX does not allow expressions.
std::int64_t parse_literal(Lexer& lexer, std::string_view what, std::int64_t least,
                           std::int64_t most);

}  // namespace rung::vgpu::ptx
