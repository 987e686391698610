#include "emu/compile/metal/library_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "emu/compile/link/device_code.hpp"
#include "emu/compile/toolchain.hpp"

namespace rung::emu::metal {
namespace {

namespace fs = std::filesystem;

bool is_for_preprocessor(const std::string& option) {
  return option.starts_with("-I") || option.starts_with("-D") || option.starts_with("-U");
}

/// The offsets of a structure's fields; those of a field that is an array one by one.
std::vector<std::size_t> field_offsets(const Type& structure) {
  std::vector<std::size_t> offsets;
  for (const Type::Field& field : structure.fields) {
    const bool is_array = field.type.kind == Type::Kind::array && field.type.count > 0;
    const std::size_t count = is_array ? field.type.count : 1;
    for (std::size_t i = 0; i < count; ++i) {
      offsets.push_back(field.offset + i * (field.type.bytes / count));
    }
  }
  return offsets;
}

}  // namespace

LibrarySource make_library_source(const fs::path& file, const Options& options) {
  LibrarySource source;
  source.name = file.string();
  source.text = expand(file, options);
  Options expanded = options;
  std::erase_if(expanded.compiler, is_for_preprocessor);
  source.compiler = expanded.compiler;
  expanded.text = source.text;
  const Description description = check(file, expanded);
  for (const Kernel& kernel : description.kernels) source.kernels.push_back(kernel.name);
  source.function_constants = description.function_constants;
  return source;
}

void write_library(const fs::path& path, const Library& library) {
  std::ofstream file(path, std::ios::binary);
  file << to_text(library);
  if (!file.flush()) throw std::runtime_error(fmt::format("{}: cannot be written", path.string()));
}

Library read_library(const fs::path& path) { return parse_library(read_file(path), path); }

LibraryKernel compile_library_kernel(const Library& library, const std::string& kernel,
                                     const std::map<std::string, std::string>& constants) {
  const auto source = std::ranges::find_if(library, [&](const LibrarySource& each) {
    return std::ranges::find(each.kernels, kernel) != each.kernels.end();
  });
  if (source == library.end()) throw CompileError(fmt::format("no kernel '{}'", kernel));
  Options options;
  options.compiler = source->compiler;
  options.text = source->text;
  options.function_constants = constants;
  Compiled compiled = compile(source->name, kernel, options);
  LibraryKernel result{std::move(compiled.ptx), std::move(compiled.entry), {}};
  for (const Parameter& each : compiled.kernel.parameters) {
    result.parameters.push_back(
        {each.name, each.type, each.kind, static_cast<std::size_t>(each.index), each.element.bytes,
         each.is_read_only, each.ptx_parameter, field_offsets(each.element)});
  }
  return result;
}

}  // namespace rung::emu::metal
