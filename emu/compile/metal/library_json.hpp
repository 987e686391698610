#pragma once
// Metal libraries and compiled kernels as JSON: rung-metal writes them,
// it reads libraries again, and programs
// read both (emu/metal_cpp/library.cpp).

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "emu/compile/metal/metal.hpp"

namespace rung::emu::metal {

/// One source of a library.
struct LibrarySource {
  std::string name;                   // the file, for messages
  std::string text;                   // preprocessed
  std::vector<std::string> compiler;  // Options::compiler without those of the preprocessor
  std::vector<std::string> kernels;
  std::vector<FunctionConstant> function_constants;
};
using Library = std::vector<LibrarySource>;

std::string to_text(const Library& library);
/// Reads the text of a library's file; `path` is for messages. Throws std::runtime_error.
Library parse_library(const std::string& text, const std::filesystem::path& path);

/// A parameter of a compiled kernel.
struct LibraryParameter {
  using Kind = ParameterKind;
  std::string name, type;
  Kind kind = Kind::buffer;
  std::size_t index = 0, bytes = 0;  // bytes: of what is pointed to
  bool is_read_only = false;
  int ptx_parameter = -1;
  std::vector<std::size_t> fields;  // offsets of the fields of a structure

  std::size_t ptx_index() const { return static_cast<std::size_t>(ptx_parameter); }
};
struct LibraryKernel {
  std::string ptx, entry;
  std::vector<LibraryParameter> parameters;
};

/// {"ptx", "entry", "parameters": [{"name", "type",
/// "kind", "index", "read_only", "bytes", "fields":
/// [offsets], "ptx_parameter"}]}.
std::string to_text(const LibraryKernel& kernel);
/// Reads what to_text() wrote.
LibraryKernel parse_library_kernel(const std::string& text);

}  // namespace rung::emu::metal
