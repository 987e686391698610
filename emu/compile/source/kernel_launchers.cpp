#include "emu/compile/source/kernel_launchers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "emu/compile/source/characters.hpp"
#include "emu/compile/source/device_launches.hpp"

namespace rung::emu {
namespace {

int list_depth(std::string_view token) {
  if (token.starts_with('>')) return -static_cast<int>(token.size());
  if (token == "<" || token == "(" || token == "[" || token == "{") return 1;
  return token == ")" || token == "]" || token == "}" ? -1 : 0;
}

/// The source of these tokens, without comments and line ends.
std::string source_of(std::string_view text, const Tokens& tokens, std::size_t first,
                      std::size_t end) {
  std::string source;
  for (std::size_t at = first; at < end; ++at) {
    const std::size_t behind = at == first ? 0 : tokens[at - 1].at + tokens[at - 1].text.size();
    if (at > first && behind < tokens[at].at) source += ' ';
    source += text.substr(tokens[at].at, tokens[at].text.size());
  }
  return source;
}

struct Parameter {
  std::string declaration, with_default, name;
  bool is_pack = false, has_default = false;
};

/// One parameter, of a function or a template; nothing for a form that is not known here.
std::optional<Parameter> parameter(std::string_view text, const Tokens& tokens, std::size_t first,
                                   std::size_t end) {
  std::size_t stop = first;  // before a default value
  for (int depth = 0; stop < end && (depth > 0 || tokens[stop].text != "="); ++stop) {
    depth += list_depth(tokens[stop].text);
  }
  std::size_t name_end = stop;  // before `[4]`
  while (name_end > first && tokens[name_end - 1].text == "]") {
    while (name_end > first && tokens[--name_end].text != "[") {
    }
  }
  if (name_end < first + 2 || !is_word(tokens[name_end - 1].text[0])) return std::nullopt;
  const std::string_view name = tokens[name_end - 1].text;
  if (tokens[name_end - 2].text == "::" || is_type_word(name)) return std::nullopt;
  Parameter found{source_of(text, tokens, first, stop), source_of(text, tokens, first, end),
                  std::string(name), false, stop < end};
  for (std::size_t at = first; at < name_end; ++at) {
    found.is_pack = found.is_pack || tokens[at].text == ".";
    if (tokens[at].text == "(") return std::nullopt;  // a pointer to a function
  }
  return found;
}

/// The parameters between the brackets at `open` and `close`.
std::optional<std::vector<Parameter>> parameters(std::string_view text, const Tokens& tokens,
                                                 std::size_t open, std::size_t close) {
  std::vector<Parameter> all;
  if (close == open + 1) return all;
  int depth = 0;
  for (std::size_t at = open + 1, first = at; at <= close; ++at) {
    if (depth == 0 && (at == close || tokens[at].text == ",")) {
      const auto one = parameter(text, tokens, first, at);
      if (!one) return std::nullopt;
      all.push_back(*one);
      first = at + 1;
    }
    depth += list_depth(tokens[at].text);
  }
  return all;
}

/// Each member as the format says, with commas between them; packs expanded.
std::string listed(const std::vector<Parameter>& all, std::string Parameter::* member,
                   bool is_expanded, fmt::format_string<const std::string&> format = "{}") {
  std::string list;
  for (const Parameter& each : all) {
    if (!list.empty()) list += ", ";
    list += fmt::format(format, each.*member);
    if (is_expanded && each.is_pack) list += "...";
  }
  return list;
}

/// The declaration of a kernel.
struct KernelHead {
  std::size_t after_template;  // the first token of the rest
  std::vector<Parameter> of_template, of_kernel;
  Head head;
};

std::optional<KernelHead> kernel_head(std::string_view text, const Tokens& tokens,
                                      const Statement& statement) {
  KernelHead found{statement.first, {}, {}, {}};
  if (statement.scope.is_class) return std::nullopt;
  if (tokens[statement.first].text == "template") {
    found.after_template = after_template(tokens, statement);
    if (found.after_template == statement.first) return std::nullopt;  // an instance
    const auto all = parameters(text, tokens, statement.first + 1, found.after_template - 1);
    if (!all || all->empty()) return std::nullopt;  // `template <>` is of one declared before
    found.of_template = *all;
  }
  if (found.after_template >= statement.end) return std::nullopt;
  const auto head = head_of(tokens, {found.after_template, statement.end, statement.scope, true});
  if (!head || head->name != head->own_name) return std::nullopt;
  bool is_kernel = false;
  for (std::size_t at = found.after_template; at < head->name; ++at) {
    is_kernel = is_kernel || tokens[at].text == "__global__";
    if (tokens[at].text == "template" || tokens[at].text == "requires") return std::nullopt;
  }
  if (!is_kernel) return std::nullopt;
  const auto all = parameters(text, tokens, head->open, head->close);
  if (!all) return std::nullopt;
  // A template's default values cannot be in a second declaration.
  const bool has_defaults =
      std::any_of(all->begin(), all->end(), [](const Parameter& each) { return each.has_default; });
  if (has_defaults && !found.of_template.empty() && statement.is_definition) return std::nullopt;
  found.of_kernel = *all;
  found.head = *head;
  return found;
}

}  // namespace

LaunchedName launched_name(const Tokens& tokens, std::size_t first, std::size_t end) {
  LaunchedName name{first, 0};
  int depth = 0;
  for (std::size_t at = first; at < end; ++at) {
    if (depth == 0 && is_word(tokens[at].text[0])) name = {at, 0};
    if (depth == 0 && tokens[at].text == "<") name.arguments = 1;
    if (depth == 1 && tokens[at].text == ",") ++name.arguments;
    depth += list_depth(tokens[at].text);
  }
  return name;
}

KernelLaunchers::KernelLaunchers(const std::map<std::string, std::string>& files) {
  const bool has_launches = std::any_of(files.begin(), files.end(), [](const auto& file) {
    return file.second.find("<<<") != file.second.npos;
  });
  if (!has_launches) return;
  for (const auto& [file, text] : files) note_kernels(file, text);
  drop_other_spellings();
  for (const auto& [file, text] : files) note_launches(text);
}

void KernelLaunchers::note_kernels(const std::string& file, std::string_view text) {
  if (text.find("__global__") == text.npos) return;
  const Tokens tokens = tokens_of(text);
  for_each_statement(tokens, [&](const Statement& statement) {
    const auto found = kernel_head(text, tokens, statement);
    if (!found) return;
    const std::string name(tokens[found->head.name].text);
    Kernel& kernel = kernels_[name][parameter_types(tokens, found->head)];
    // One place declares the function: a declaration, which comes before the definition.
    const bool is_defined = kernel.is_defined || statement.is_definition;
    if (kernel.file.empty() || (kernel.is_definition && !statement.is_definition)) {
      kernel = {found->of_template.size(), statement.is_definition, false, file};
    }
    kernel.is_defined = is_defined;
  });
}

/// A declaration may have other words for the types of its definition (`unsigned` for `unsigned int`,
/// no `__restrict__`). One with as many parameters as a definition is taken for the definition's.
void KernelLaunchers::drop_other_spellings() {
  const auto parameters_of = [](const auto& overload) {
    return std::count(overload.first.begin(), overload.first.end(), ',');
  };
  for (auto& [name, overloads] : kernels_) {
    std::set<std::ptrdiff_t> defined;
    for (const auto& overload : overloads) {
      if (overload.second.is_defined) defined.insert(parameters_of(overload));
    }
    std::erase_if(overloads, [&](const auto& overload) {
      return !overload.second.is_defined && defined.contains(parameters_of(overload));
    });
  }
}

void KernelLaunchers::note_launches(std::string_view text) {
  for_each_device_launch(text, [&](std::string_view name, std::size_t arguments) {
    if (is_called(name, arguments)) called_.emplace(name);
  });
}

bool KernelLaunchers::is_called(std::string_view name, std::size_t arguments) const {
  const auto found = kernels_.find(name);
  if (found == kernels_.end()) return false;
  return found->second.size() > 1 || found->second.begin()->second.template_parameters > arguments;
}

std::string KernelLaunchers::function_for(const std::string& file, std::string_view text,
                                          const Tokens& tokens, const Statement& statement) const {
  const auto found = kernel_head(text, tokens, statement);
  if (!found) return "";
  const std::string name(tokens[found->head.name].text);
  if (!called_.contains(name)) return "";
  const auto& overloads = kernels_.find(name)->second;
  const auto known = overloads.find(parameter_types(tokens, found->head));
  if (known == overloads.end()) return "";
  const Kernel& kernel = known->second;
  if (kernel.file != file || kernel.is_definition != statement.is_definition) return "";
  const auto &of_template = found->of_template, &of_kernel = found->of_kernel;
  const auto declaration = &Parameter::declaration, with_default = &Parameter::with_default;
  std::string own_template, own_arguments, its_template;
  if (!of_template.empty()) {
    own_template = fmt::format("template <{}> ", listed(of_template, declaration, false));
    its_template = fmt::format("template <{}> ", listed(of_template, with_default, false));
    own_arguments = fmt::format("<{}>", listed(of_template, &Parameter::name, true));
  }
  const std::string kernel_declaration = fmt::format(
      "{}{}({}); ", own_template, source_of(text, tokens, found->after_template, found->head.open),
      listed(of_kernel, declaration, false));
  const std::string comma = of_kernel.empty() ? "" : ", ";
  const std::string arguments = listed(of_kernel, &Parameter::name, true);
  // Outside of functions, the compiler may choose a kernel by its type: the result's type names it.
  const std::string function = fmt::format(
      "{0}static inline __device__ auto rung_emu_launch_{1}(const ::rung_emu::LaunchShape& "
      "rung_emu_shape{2}{3}) -> ::rung_emu::Kernel<void (*)({4}), {1}{5}> {{ rung_emu_shape.launch<"
      "decltype(rung_emu_launch_{1}{5}(rung_emu_shape{2}{6}))>({6}); return {{}}; }} ",
      its_template, name, comma, listed(of_kernel, with_default, false),
      listed(of_kernel, &Parameter::name, true, "decltype({})"), own_arguments, arguments);
  // A definition is declared first, because it may launch itself.
  return statement.is_definition ? kernel_declaration + function : function;
}

}  // namespace rung::emu
