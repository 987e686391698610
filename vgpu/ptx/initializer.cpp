#include "vgpu/ptx/initializer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "vgpu/ptx/constant.hpp"
#include "vgpu/ptx/limits.hpp"

namespace rung::vgpu::ptx {

namespace {

/// k if `mask` is 0xFF << (8 * k), otherwise -1.
int byte_of_mask(std::uint64_t mask) {
  for (int byte = 0; byte < 8; ++byte) {
    if (mask == std::uint64_t{0xFF} << (8 * byte)) return byte;
  }
  return -1;
}

}  // namespace

void InitializerParser::parse(Variable& variable, std::vector<std::int64_t> extents) {
  variable_ = &variable;
  extents_ = std::move(extents);
  if (variable.vector > 1) extents_.push_back(variable.vector);
  auto stride = static_cast<std::size_t>(size_of(variable.type));
  strides_.assign(extents_.size(), stride);
  for (std::size_t level = extents_.size(); level-- > 0;) {
    strides_[level] = stride;
    stride *= static_cast<std::size_t>(extents_[level]);
  }
  reserve(stride);
  fill(0, 0);
  const auto element = static_cast<std::size_t>(size_of(variable.type) * variable.vector);
  variable.count = static_cast<std::int64_t>(variable.initial.size() / element);
}

void InitializerParser::reserve(std::size_t bytes) {
  reserved_ += bytes;
  if (reserved_ > limits::max_initial_bytes) {
    lexer_.fail(lexer_.peek().line, fmt::format("initialised variables take more than {} bytes",
                                                limits::max_initial_bytes));
  }
  variable_->initial.resize(variable_->initial.size() + bytes);
}

/// Parses the elements of dimension `level`, starting at byte `at`.
void InitializerParser::fill(std::size_t level, std::size_t at) {
  if (level == extents_.size()) return scalar(at);
  const bool unsized = extents_[level] == 0;
  lexer_.expect("{");
  if (lexer_.accept("}")) return;
  std::int64_t index = 0;
  do {
    if (unsized) {
      reserve(strides_[level]);
    } else if (index == extents_[level]) {
      lexer_.fail(lexer_.peek().line, fmt::format("more than {} elements in the initialiser of {}",
                                                  index, in_quotes(variable_->name)));
    }
    fill(level + 1, at + static_cast<std::size_t>(index) * strides_[level]);
    ++index;
  } while (lexer_.accept(","));
  if (!lexer_.accept("}")) lexer_.fail_expected("',' or '}' in an initialiser");
}

void InitializerParser::scalar(std::size_t at) {
  if (lexer_.at(Token::Kind::integer) && lexer_.second_is("(")) return masked_address(at);
  if (lexer_.at(Token::Kind::identifier) && !lexer_.at("WARP_SZ")) {
    const int bytes = std::min(size_of(variable_->type), 8);
    if (bytes < 4 || is_float(variable_->type)) {
      lexer_.fail(lexer_.peek().line,
                  fmt::format("an address does not fit the type {} of {}", name(variable_->type),
                              in_quotes(variable_->name)));
    }
    return address(at, bytes, 0);
  }
  constant(at);
}

void InitializerParser::constant(std::size_t at) {
  const int line = lexer_.peek().line;
  if (!at_constant(lexer_)) lexer_.fail_expected("an initial value");
  const Constant value = parse_constant(lexer_);
  const Type type = variable_->type;
  // As in ptxas, untyped bits accept both. PTX has no literal for a 16-bit float.
  const bool takes_real = type == Type::f32 || type == Type::f64;
  const bool takes_both = type == Type::b32 || type == Type::b64;
  if (!takes_both && takes_real == value.is_integer()) {
    lexer_.fail(line,
                fmt::format("initial value of {} is {}, its type is {}", in_quotes(variable_->name),
                            value.is_integer() ? "an integer" : "floating point", name(type)));
  }
  if (type == Type::f64) return write(at, std::bit_cast<std::uint64_t>(value.real()));
  if (value.kind == Constant::Kind::f64 && size_of(type) == 4) {
    return write(at, std::bit_cast<std::uint32_t>(static_cast<float>(value.real())));
  }
  write(at, value.bits);
}

/// Parses 0xFF00(symbol): one byte of an address (PTX ISA, 5.4.4: mask()).
void InitializerParser::masked_address(std::size_t at) {
  const Token mask = lexer_.take();
  const int byte = byte_of_mask(mask.bits);
  if (byte < 0) {
    lexer_.fail(mask.line, fmt::format("mask {} is not one byte, 0xFF shifted by a multiple of 8",
                                       in_quotes(mask.text)));
  }
  if (size_of(variable_->type) != 1) {
    lexer_.fail(mask.line, fmt::format("a masked address is one byte, the type of {} is {}",
                                       in_quotes(variable_->name), name(variable_->type)));
  }
  lexer_.expect("(");
  address(at, 1, 8 * byte);
  lexer_.expect(")");
}

/// Parses symbol, symbol+4, generic(symbol), generic(symbol+4) or generic(symbol)+4.
void InitializerParser::address(std::size_t at, int bytes, int shift) {
  Variable::Fixup fixup{at, {}, 0, false, bytes, shift};
  if (lexer_.at("generic") && lexer_.second_is("(")) {
    lexer_.take();
    lexer_.expect("(");
    fixup.generic = true;
    fixup.symbol = symbol_name();
    fixup.offset = offset();
    lexer_.expect(")");
    if (fixup.offset == 0) fixup.offset = offset();
  } else {
    fixup.symbol = symbol_name();
    fixup.offset = offset();
  }
  variable_->fixups.push_back(std::move(fixup));
}

std::string_view InitializerParser::symbol_name() {
  return lexer_.expect(Token::Kind::identifier, "the name of a variable or function").text;
}

std::int64_t InitializerParser::offset() {
  if (!lexer_.accept("+") && !lexer_.at("-")) return 0;
  return parse_integer(lexer_, "an offset in bytes");
}

void InitializerParser::write(std::size_t at, std::uint64_t bits) {
  const int bytes = std::min(size_of(variable_->type), 8);
  for (int i = 0; i < bytes; ++i) {
    variable_->initial[at + static_cast<std::size_t>(i)] =
        static_cast<std::uint8_t>(bits >> (8 * i));
  }
}

}  // namespace rung::vgpu::ptx
