#pragma once
// Short PTX texts for tests of the parser.

#include <gtest/gtest.h>

#include <string>

#include "vgpu/ptx/parser.hpp"

namespace rung::vgpu::ptx {

/// A module of `text`, which starts on line 4.
inline std::string module_text(const std::string& text) {
  return ".version 8.7\n.target sm_90a\n.address_size 64\n" + text;
}

/// An entry `k` with some registers and a parameter `x`; `body` starts on line 8.
inline std::string kernel_text(const std::string& body) {
  return module_text(
      ".global .align 4 .b8 memory[64];\n.entry k(.param .u64 x)\n{\n.reg .pred %p<4>; .reg .b32 "
      "%r<20>; .reg .b64 %rd<4>; .reg .f32 %f<4>;\n" +
      body + "\nret;\n}\n");
}

inline Function kernel(const std::string& body) { return parse(kernel_text(body)).functions.at(0); }

/// The first instruction of `body`, and the registers of its operands by name.
struct Parsed {
  Function function;
  Instruction instruction;

  const Operand& operand(std::size_t i) const { return instruction.operands.at(i); }
  std::string name_of(const Operand& operand) const {
    return function.registers.at(static_cast<std::size_t>(operand.reg)).name;
  }
  std::string name_of(std::size_t i) const { return name_of(operand(i)); }
};

inline Parsed instruction(const std::string& body) {
  Function function = kernel(body);
  Instruction first = function.body.at(0);
  return {std::move(function), std::move(first)};
}

/// what() of the ParseError for `text`, or "no error".
inline std::string error_of(const std::string& text) {
  try {
    parse(text, "text");
  } catch (const ParseError& error) {
    return error.what();
  }
  return "no error";
}

inline std::string kernel_error(const std::string& body) { return error_of(kernel_text(body)); }
inline std::string module_error(const std::string& text) { return error_of(module_text(text)); }

}  // namespace rung::vgpu::ptx
