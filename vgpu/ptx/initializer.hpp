#pragma once
// Parses initialisers of variables (PTX ISA, 5.4.4).

#include <cstdint>
#include <string_view>
#include <vector>

#include "vgpu/ptx/lexer.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu::ptx {

class InitializerParser {
 public:
  explicit InitializerParser(Lexer& lexer) : lexer_(lexer) {}

  /// Parses the text after '=' into variable.initial and fixups. `extents`: the array's dimensions,
  /// outermost first. If the first is 0, the initialiser determines it, and variable.count.
  void parse(Variable& variable, std::vector<std::int64_t> extents);

 private:
  void fill(std::size_t level, std::size_t at);
  void scalar(std::size_t at);
  void constant(std::size_t at);
  void address(std::size_t at, int bytes, int shift);
  void masked_address(std::size_t at);
  std::string_view symbol_name();
  std::int64_t offset();
  void write(std::size_t at, std::uint64_t bits);
  void reserve(std::size_t bytes);

  Lexer& lexer_;
  std::uint64_t reserved_ = 0;  // bytes of all initialisers so far
  Variable* variable_ = nullptr;
  std::vector<std::int64_t> extents_;  // of the array, then of the vector
  std::vector<std::size_t> strides_;   // in bytes
};

}  // namespace rung::vgpu::ptx
