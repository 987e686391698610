#include "tools/any_kernel/metal_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "emu/compile/metal/metal.hpp"
#include "emu/compile/toolchain.hpp"
#include "tools/any_kernel/textures.hpp"

namespace rung::any_kernel {
namespace {

namespace metal = emu::metal;
using MetalKind = metal::Type::Kind;

std::optional<Scalar> scalar_of(const metal::Type& type) {
  const bool is_integer =
      type.kind == MetalKind::signed_integer || type.kind == MetalKind::unsigned_integer;
  if (type.kind == MetalKind::boolean) return Scalar::boolean;
  if (type.kind == MetalKind::floating) {
    if (type.bytes == 2) return type.name.starts_with("bf") ? Scalar::bf16 : Scalar::f16;
    return type.bytes == 4 ? std::optional(Scalar::f32) : std::nullopt;
  }
  if (!is_integer) return std::nullopt;
  const bool has_sign = type.kind == MetalKind::signed_integer;
  switch (type.bytes) {
    case 1: return has_sign ? Scalar::i8 : Scalar::u8;
    case 2: return has_sign ? Scalar::i16 : Scalar::u16;
    case 4: return has_sign ? Scalar::i32 : Scalar::u32;
    case 8: return has_sign ? Scalar::i64 : Scalar::u64;
    default: return std::nullopt;
  }
}

/// As the address of texels; `type` is the name in the source or in debug information.
TypePtr texture_pointer(const std::string& type, const TextureType& texture) {
  Type pointer;
  pointer.kind = Type::Kind::pointer;
  pointer.name = type;
  pointer.bytes = sizeof(std::uint64_t);
  pointer.to_const = !texture.is_writable;
  pointer.element = texel_type(texture.scalar);
  return std::make_shared<const Type>(std::move(pointer));
}

TypePtr converted(const metal::Type& from) {
  if (const auto scalar = scalar_of(from)) return scalar_type(*scalar);
  if (const auto texture = parse_texture_type(from.name))
    return texture_pointer(from.name, *texture);
  const bool is_array_class = from.kind == MetalKind::structure && from.fields.size() == 1 &&
                              from.name.starts_with("array<");
  if (is_array_class) return converted(from.fields[0].type);  // "a[1]", as for a[2] of C
  Type type;
  type.name = from.name;
  type.bytes = from.bytes;
  switch (from.kind) {
    case MetalKind::vector:
    case MetalKind::array:
      type.kind = Type::Kind::array;
      type.count = from.count;
      type.element = converted(from.elements.at(0));
      break;
    case MetalKind::structure:
      type.kind = Type::Kind::record;
      for (const metal::Type::Field& field : from.fields) {
        type.members.push_back({field.name, field.offset, converted(field.type)});
      }
      break;
    case MetalKind::pointer:
      type.kind = Type::Kind::pointer;
      type.to_const = from.is_read_only;
      if (!from.elements.empty()) type.element = converted(from.elements[0]);
      type.name = fmt::format(
          "{}{}*", type.to_const ? "const " : "",
          type.element == nullptr || type.element->name.empty() ? "void" : type.element->name);
      break;
    default: break;
  }
  return std::make_shared<const Type>(std::move(type));
}

/// The type of a buffer: as written, and with its element's layout if that is known.
TypePtr address_type(const metal::Parameter& parameter) {
  Type type;
  type.kind = parameter.type.ends_with('&') ? Type::Kind::reference : Type::Kind::pointer;
  type.name = parameter.type;
  type.bytes = sizeof(std::uint64_t);
  type.to_const = parameter.is_read_only;
  type.element = converted(parameter.element);
  return std::make_shared<const Type>(std::move(type));
}

Parameter parameter_of(const metal::Parameter& from) {
  Parameter parameter;
  parameter.name = from.name;
  parameter.index = from.index;
  parameter.entry = from.ptx_parameter;
  parameter.is_optional = from.is_optional;
  parameter.type = address_type(from);
  switch (from.kind) {
    case metal::ParameterKind::buffer: parameter.kind = Parameter::Kind::buffer; break;
    case metal::ParameterKind::threadgroup: parameter.kind = Parameter::Kind::threadgroup; break;
    case metal::ParameterKind::value:
      parameter.kind = Parameter::Kind::value;
      if (from.element.bytes > 0) parameter.type = converted(from.element);
      break;
    case metal::ParameterKind::texture:
      parameter.kind = Parameter::Kind::texture;
      parameter.type =
          texture_pointer(from.type, parse_texture_type(from.type).value_or(TextureType{}));
      break;
    case metal::ParameterKind::sampler: parameter.kind = Parameter::Kind::sampler; break;
  }
  return parameter;
}

Kernel kernel_of(const metal::Kernel& from, std::string symbol) {
  Kernel kernel{from.name, std::move(symbol), from.line, {}};
  for (const metal::Parameter& parameter : from.parameters) {
    kernel.parameters.push_back(parameter_of(parameter));
  }
  return kernel;
}

/// The values of function constants are C++ text for the compiler; only numbers are let through.
std::string constant_value(const std::string& name, const std::string& value) {
  const bool is_number =
      !value.empty() && value.find_first_not_of("0123456789.+-eExXabcdefABCDEF") == value.npos;
  if (is_number || value == "true" || value == "false") return value;
  throw ArgumentError(fmt::format(
      "{}: '{}' is not a number, true or false, as a function constant is", name, value));
}

metal::Options options_of(const ProgramRequest& request) {
  metal::Options options;
  options.compiler = request.options;
  // For #include with quotes, and the headers of rungs.
  options.compiler.push_back("-I" + std::filesystem::absolute(request.path).parent_path().string());
  const std::filesystem::path emu = emu::find_installation().library.parent_path();
  options.compiler.push_back("-I" + (emu / "kernels").string());
  return options;
}

void set_constants(Program& program, const ProgramRequest& request,
                   const metal::Description& description, metal::Options& options) {
  for (const metal::FunctionConstant& constant : description.function_constants) {
    program.constants.push_back(constant.name);
    for (const auto& [name, value] : request.arguments) {
      if (name == constant.name) options.function_constants[name] = constant_value(name, value);
    }
  }
}

}  // namespace

void compile_metal(Program& program, const ProgramRequest& request) {
  metal::Options options = options_of(request);
  const metal::Description description = metal::describe(request.path, options);
  set_constants(program, request, description, options);
  for (const metal::Kernel& kernel : description.kernels) {
    program.kernels.push_back(kernel_of(kernel, ""));
  }
  program.code =
      fmt::format("PTX by {}", std::filesystem::path(emu::find_clang()).filename().string());
  // Without a kernel, the compiler may say why.
  const bool is_list = request.kernel.empty() && program.kernels.size() > 1;
  if (is_list || (request.is_list && !program.constants.empty())) return;
  const std::string name = program.kernels.empty() ? "" : program.find(request.kernel).name;
  metal::Compiled compiled = metal::compile(request.path, name, options);
  program.ptx = std::move(compiled.ptx);
  const auto known = std::ranges::find(program.kernels, name, &Kernel::name);
  if (known != program.kernels.end()) *known = kernel_of(compiled.kernel, compiled.entry);
}

}  // namespace rung::any_kernel
