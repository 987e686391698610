#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "vgpu/ptx/module.hpp"

namespace rung::vgpu::ptx {

/// Malformed PTX. what(): "NAME:LINE: message", one line.
class ParseError : public std::runtime_error {
 public:
  ParseError(std::string_view name, int line, const std::string& message);
  int line;
};

/// Parses PTX (PTX ISA 6.0 to 9.x). `name` identifies the text in messages. Throws ParseError, and
/// nothing else for any text.
Module parse(std::string_view text, std::string_view name = "ptx");

}  // namespace rung::vgpu::ptx
