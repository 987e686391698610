#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "vgpu/ptx/module.hpp"

namespace rung::vgpu::ptx {

/// An error in PTX text. what() is one line: "NAME:LINE: message".
class ParseError : public std::runtime_error {
 public:
  ParseError(std::string_view name, int line, const std::string& message);
  int line;
};

/// Parses PTX (PTX ISA 6.0 to 9.x). `name` identifies the text in messages. Throws only ParseError,
/// for any text.
Module parse(std::string_view text, std::string_view name = "ptx");

}  // namespace rung::vgpu::ptx
