#include "emu/compile/source/device_launches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace rung::emu {
namespace {

enum class Scope { open, host, device, both };  // open: of a namespace or class

/// The scope that the brace after these tokens opens.
Scope scope_after(const Tokens& tokens, std::size_t first, std::size_t brace) {
  bool is_function = false, is_device = false, is_host = false;
  for (std::size_t i = first; i < brace; ++i) {
    const std::string_view text = tokens[i].text;
    const bool is_type = text == "struct" || text == "class" || text == "union" || text == "enum";
    if (text == "namespace" || (is_type && i == first)) return Scope::open;
    is_function = is_function || text == "(";
    is_device = is_device || text == "__global__" || text == "__device__";
    is_host = is_host || text == "__host__";
  }
  if (!is_function) return Scope::open;
  if (!is_device) return Scope::host;
  return is_host ? Scope::both : Scope::device;
}

/// Calls `see` with each token in a function of the device, or of both sides.
void for_each_device_token(const Tokens& tokens,
                           const std::function<void(std::size_t, Scope)>& see) {
  std::vector<Scope> scopes = {Scope::open};
  std::size_t first = 0;  // of the declaration, in a namespace or class
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view token = tokens[i].text;
    const Scope scope = scopes.back();
    if (token == "{") {
      scopes.push_back(scope == Scope::open ? scope_after(tokens, first, i) : scope);
    } else if (token == "}" && scopes.size() > 1) {
      scopes.pop_back();
    } else if (scope == Scope::device || scope == Scope::both) {
      see(i, scope);
    }
    if (token == "{" || token == "}" || token == ";") first = i + 1;
  }
}

/// The launch whose <<< is token `open`.
void rewrite_launch(std::string_view text, const Tokens& tokens, std::size_t open, Scope scope,
                    const KernelLaunchers& kernels, Edits& edits) {
  const std::optional<std::size_t> callee = first_of_name(tokens, open);
  std::size_t close = open + 1;
  for (int depth = 0; close < tokens.size(); ++close) {
    if (tokens[close].text == "(") ++depth;
    if (tokens[close].text == ")") --depth;
    if (tokens[close].text == ">>>" && depth == 0) break;
  }
  if (!callee || close + 1 >= tokens.size() || tokens[close + 1].text != "(") return;
  const std::size_t begin = tokens[*callee].at, end = tokens[open].at;
  const std::string kernel(text.substr(begin, end - begin));
  const auto [name, arguments] = launched_name(tokens, *callee, open);
  if (kernels.is_called(tokens[name].text, arguments)) {
    const std::size_t last = after_brackets(tokens, close + 1, tokens.size()) - 1;
    std::string function = kernel;
    function.insert(tokens[name].at - begin, "rung_emu_launch_");
    const std::string both = scope == Scope::both ? fmt::format("BOTH(({}), ", kernel) : "DEVICE(";
    edits.push_back(
        {begin, end - begin + 3, fmt::format("RUNG_EMU_CALL_IN_{}({}), (", both, function)});
    edits.push_back({tokens[close].at, tokens[close + 1].at + 1 - tokens[close].at,
                     close + 2 == last ? ")" : "), "});
    return;
  }
  const std::string launch = scope == Scope::both ? "RUNG_EMU_LAUNCH_IN_BOTH((" + kernel + "), "
                                                  : "RUNG_EMU_DEVICE_LAUNCH((" + kernel + "))(";
  edits.push_back({begin, end - begin + 3, launch});
  edits.push_back({tokens[close].at, 3, ")"});
}

std::string second_name(std::string_view macro, Scope scope) {
  return fmt::format("rung_emu_{}_{}", scope == Scope::both ? "both" : "device", macro);
}

/// Its definitions for device code, on lines that are not counted.
std::string second_definitions(std::string_view text, const LaunchMacro& macro,
                               const KernelLaunchers& kernels) {
  const Tokens tokens = tokens_of(macro.body), parameters = tokens_of(macro.parameters);
  const KernelLaunchers none{};
  // A parameter of a kernel's name is not that kernel.
  const auto is_parameter = [&](std::size_t open) {
    const std::optional<std::size_t> callee = first_of_name(tokens, open);
    if (!callee) return false;
    const std::string_view name = tokens[launched_name(tokens, *callee, open).token].text;
    return std::any_of(parameters.begin(), parameters.end(),
                       [&](const Token& parameter) { return parameter.text == name; });
  };
  std::string definitions;
  for (const Scope scope : {Scope::device, Scope::both}) {
    Edits edits;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].text != "<<<") continue;
      rewrite_launch(macro.body, tokens, i, scope, is_parameter(i) ? none : kernels, edits);
    }
    definitions += fmt::format("\n#define {}{}{}", second_name(macro.name, scope), macro.parameters,
                               edited(macro.body, edits));
  }
  const auto lines =
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(macro.end), '\n');
  return definitions + fmt::format("\n#line {}", lines + 2);
}

}  // namespace

DeviceLaunches::DeviceLaunches(const std::map<std::string, std::string>& files) : kernels(files) {
  LaunchMacroNames defined;
  for (const auto& [file, text] : files) {
    for (const LaunchMacro& macro : launch_macros(text)) defined.emplace(macro.name);
  }
  if (defined.empty()) return;
  for (const auto& [file, text] : files) {
    const Tokens tokens = tokens_of(text);
    for_each_device_token(tokens, [&](std::size_t i, Scope) {
      if (defined.contains(tokens[i].text)) macros.emplace(tokens[i].text);
    });
  }
}

void for_each_device_launch(std::string_view text,
                            const std::function<void(std::string_view, std::size_t)>& launch) {
  const auto see = [&](const Tokens& tokens, std::size_t open) {
    if (tokens[open].text != "<<<") return;
    const std::optional<std::size_t> callee = first_of_name(tokens, open);
    if (!callee) return;
    const auto [name, arguments] = launched_name(tokens, *callee, open);
    launch(tokens[name].text, arguments);
  };
  const Tokens tokens = tokens_of(text);
  for_each_device_token(tokens, [&](std::size_t i, Scope) { see(tokens, i); });
  for (const LaunchMacro& macro : launch_macros(text)) {
    const Tokens body = tokens_of(macro.body);
    for (std::size_t i = 0; i < body.size(); ++i) see(body, i);
  }
}

Edits rewrite_device_launches(const SourceText& source, const DeviceLaunches& known,
                              const std::string& file) {
  const std::string& text = source.text();
  if (text.find("__global__") == text.npos && text.find("<<<") == text.npos &&
      known.macros.empty()) {
    return {};
  }
  const Tokens& tokens = source.code();
  Edits edits;
  for_each_device_token(tokens, [&](std::size_t i, Scope scope) {
    const std::string_view token = tokens[i].text;
    if (token == "<<<") rewrite_launch(text, tokens, i, scope, known.kernels, edits);
    if (known.macros.contains(token)) {
      edits.push_back({tokens[i].at, token.size(), second_name(token, scope)});
    }
  });
  for (const LaunchMacro& macro : launch_macros(text)) {
    if (!known.macros.contains(macro.name)) continue;
    edits.push_back({macro.end, 0, second_definitions(text, macro, known.kernels)});
  }
  for_each_statement(tokens, [&](const Statement& statement) {
    if (statement.first >= statement.end) return;
    const std::string function = known.kernels.function_for(file, text, tokens, statement);
    if (function.empty()) return;
    const std::size_t at =
        statement.is_definition ? tokens[statement.first].at : tokens[statement.end].at + 1;
    edits.push_back({at, 0, function});
  });
  return edits;
}

}  // namespace rung::emu
