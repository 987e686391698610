#include "emu/compile/metal/library_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

namespace rung::emu::metal {
namespace {

using Json = nlohmann::json;

constexpr const char* format_name = "rung metal library 1";
constexpr auto kind_names = std::to_array<std::string_view>(
    {"buffer", "value", "threadgroup", "texture", "sampler"});  // by ParameterKind

Json json_of(const LibrarySource& source) {
  Json constants = Json::array();
  for (const FunctionConstant& each : source.function_constants) {
    constants.push_back({{"name", each.name}, {"type", each.type}, {"index", each.index}});
  }
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
    FunctionConstant constant;
    constant.name = each.at("name");
    constant.type = each.at("type");
    constant.index = each.at("index");
    source.function_constants.push_back(std::move(constant));
  }
  return source;
}

LibraryParameter parameter_of(const Json& json) {
  LibraryParameter parameter;
  parameter.name = json.at("name");
  parameter.type = json.at("type");
  const auto kind = std::ranges::find(kind_names, json.at("kind").get<std::string>());
  parameter.kind = static_cast<ParameterKind>(kind - kind_names.begin());
  parameter.index = json.at("index");
  parameter.bytes = json.at("bytes");
  parameter.is_read_only = json.at("read_only");
  parameter.ptx_parameter = json.at("ptx_parameter");
  parameter.fields = json.at("fields").get<std::vector<std::size_t>>();
  return parameter;
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string to_text(const Library& library) {
  Json sources = Json::array();
  for (const LibrarySource& each : library) sources.push_back(json_of(each));
  return dump({{"format", format_name}, {"sources", sources}}) + '\n';
}

Library parse_library(const std::string& text, const std::filesystem::path& path) {
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

std::string to_text(const LibraryKernel& kernel) {
  Json parameters = Json::array();
  for (const LibraryParameter& each : kernel.parameters) {
    parameters.push_back({{"name", each.name},
                          {"type", each.type},
                          {"kind", kind_names[static_cast<std::size_t>(each.kind)]},
                          {"index", each.index},
                          {"read_only", each.is_read_only},
                          {"bytes", each.bytes},
                          {"fields", each.fields},
                          {"ptx_parameter", each.ptx_parameter}});
  }
  return dump({{"ptx", kernel.ptx}, {"entry", kernel.entry}, {"parameters", parameters}});
}

LibraryKernel parse_library_kernel(const std::string& text) {
  const Json json = Json::parse(text);
  LibraryKernel kernel;
  kernel.ptx = json.at("ptx");
  kernel.entry = json.at("entry");
  for (const Json& each : json.at("parameters")) kernel.parameters.push_back(parameter_of(each));
  return kernel;
}

}  // namespace rung::emu::metal
