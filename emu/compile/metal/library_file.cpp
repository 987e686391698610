#include "emu/compile/metal/library_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "emu/compile/link/device_code.hpp"
#include "emu/compile/toolchain.hpp"

namespace rung::emu::metal {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* format_name = "rung metal library 1";

bool is_for_preprocessor(const std::string& option) {
  return option.starts_with("-I") || option.starts_with("-D") || option.starts_with("-U");
}

Json to_json(const FunctionConstant& constant) {
  return {{"name", constant.name}, {"type", constant.type}, {"index", constant.index}};
}

Json to_json(const LibrarySource& source) {
  Json constants = Json::array();
  for (const FunctionConstant& each : source.function_constants) constants.push_back(to_json(each));
  return {{"name", source.name},
          {"compiler", source.compiler},
          {"kernels", source.kernels},
          {"function_constants", constants},
          {"text", source.text}};
}

LibrarySource source_of(const Json& json) {
  LibrarySource source;
  source.name = json.at("name");
  source.text = json.at("text");
  source.compiler = json.at("compiler").get<std::vector<std::string>>();
  source.kernels = json.at("kernels").get<std::vector<std::string>>();
  for (const Json& each : json.at("function_constants")) {
    source.function_constants.push_back({each.at("name"), each.at("type"), each.at("index")});
  }
  return source;
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
  Json sources = Json::array();
  for (const LibrarySource& each : library) sources.push_back(to_json(each));
  const Json json = {{"format", format_name}, {"sources", sources}};
  std::ofstream file(path, std::ios::binary);
  file << json.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  if (!file.flush()) throw std::runtime_error(fmt::format("{}: cannot be written", path.string()));
}

Library read_library(const fs::path& path) {
  const std::string text = read_file(path);
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("format", "") != format_name) {
    const char* const reason =
        text.empty()
            ? "no such file"
            : "not a library of rung-metal; a library that Apple's compiler made has no text: "
              "compile its source with rung-metal";
    throw std::runtime_error(fmt::format("{}: {}", path.string(), reason));
  }
  Library library;
  for (const Json& each : json.at("sources")) library.push_back(source_of(each));
  return library;
}

std::string compile_library_kernel(const Library& library, const std::string& kernel,
                                   const std::map<std::string, std::string>& constants) {
  const auto source = std::ranges::find_if(library, [&](const LibrarySource& each) {
    return std::ranges::find(each.kernels, kernel) != each.kernels.end();
  });
  if (source == library.end()) throw CompileError(fmt::format("no kernel '{}'", kernel));
  Options options;
  options.compiler = source->compiler;
  options.text = source->text;
  options.function_constants = constants;
  const Compiled compiled = compile(source->name, kernel, options);
  constexpr const char* kinds[] = {"buffer", "value", "threadgroup", "texture", "sampler"};
  Json parameters = Json::array();
  for (const Parameter& each : compiled.kernel.parameters) {
    parameters.push_back({{"name", each.name},
                          {"type", each.type},
                          {"kind", kinds[static_cast<std::size_t>(each.kind)]},
                          {"index", each.index},
                          {"read_only", each.is_read_only},
                          {"bytes", each.element.bytes},
                          {"fields", field_offsets(each.element)},
                          {"ptx_parameter", each.ptx_parameter}});
  }
  const Json json = {{"ptx", compiled.ptx}, {"entry", compiled.entry}, {"parameters", parameters}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace rung::emu::metal
