#include <fmt/format.h>

#include <cctype>

#include "core/c_literal.hpp"
#include "emu/compile/metal/passes.hpp"

namespace rung::emu::metal {
namespace {

/// The expression that the entry passes for an argument, such as A0::get(p0).
std::string call_argument(const Argument& argument, std::size_t number) {
  if (!argument.position.empty()) return fmt::format("v{}", number);
  if (argument.parameter.kind == ParameterKind::threadgroup) {
    return fmt::format("::metal::rung_detail::ThreadgroupArgument<{}>{{}}",
                       argument.parameter.index);
  }
  return fmt::format("A{0}::get(p{0})", number);
}

bool is_passed(const Argument& argument) {
  return argument.position.empty() && argument.parameter.kind != ParameterKind::threadgroup;
}

}  // namespace

std::string entry_name(const KernelEntry& kernel) {
  std::string name = kernel.name;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

std::string entry_text(const KernelEntry& kernel) {
  const std::string name = entry_name(kernel);
  std::string types, parameters, arguments, positions;
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const Argument& argument = kernel.arguments[i];
    arguments += (i == 0 ? "" : ", ") + call_argument(argument, i);
    if (!argument.position.empty()) {
      positions += fmt::format(
          "::metal::rung_detail::parameter<decltype({0}), {1}> v{1} = "
          "::metal::rung_detail::positions::{2}{{}}; ",
          kernel.expression, i, argument.position);
    }
    if (is_passed(argument)) {
      types += fmt::format(
          "using A{0} = "
          "::metal::rung_detail::Argument<::metal::rung_detail::parameter<decltype({1}), "
          "{0}>>; ",
          i, kernel.expression);
      parameters += fmt::format("{}A{}::type p{}", parameters.empty() ? "" : ", ", i, i);
    }
  }
  // The compiler reports errors in the call, such as a position of the wrong type, at the kernel.
  return fmt::format(
      "\n# {0} {1}\n"
      "namespace rung_entry_{2} {{ {3}__attribute__((nvptx_kernel)) void rung_entry({4}) "
      "__asm__(\"{2}\"); void rung_entry({4}) {{ {7}{6}({5}); }} }}\n",
      kernel.line, c_literal(kernel.file), name, types, parameters, arguments, kernel.expression,
      positions);
}

}  // namespace rung::emu::metal
