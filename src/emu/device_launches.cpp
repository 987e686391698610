#include "emu/device_launches.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "emu/tokens.hpp"

namespace rung::emu {
namespace {

enum class Scope { open, host, device, both };  // open: of a namespace or class

/// Of the braces that open behind these tokens.
Scope scope_behind(const std::vector<Token>& tokens, std::size_t first, std::size_t brace) {
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

struct Insertion {
  std::size_t at, replaced;
  std::string text;
};

/// The launch whose <<< is token `open`.
void rewrite_launch(std::string_view text, const std::vector<Token>& tokens, std::size_t open,
                    Scope scope, std::vector<Insertion>& insertions) {
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
  const std::string launch = scope == Scope::both ? "RUNG_EMU_LAUNCH_IN_BOTH((" + kernel + "), "
                                                  : "RUNG_EMU_DEVICE_LAUNCH((" + kernel + "))(";
  insertions.push_back({begin, end - begin + 3, launch});
  insertions.push_back({tokens[close].at, 3, ")"});
}

}  // namespace

std::string rewrite_device_launches(const std::string& text) {
  if (text.find("<<<") == text.npos) return text;
  const std::vector<Token> tokens = tokens_of(text);
  std::vector<Insertion> insertions;
  std::vector<Scope> scopes = {Scope::open};
  std::size_t first = 0;  // of the declaration, in a namespace or class
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view token = tokens[i].text;
    const Scope scope = scopes.back();
    if (token == "{") {
      scopes.push_back(scope == Scope::open ? scope_behind(tokens, first, i) : scope);
    } else if (token == "}" && scopes.size() > 1) {
      scopes.pop_back();
    } else if (token == "<<<" && (scope == Scope::device || scope == Scope::both)) {
      rewrite_launch(text, tokens, i, scope, insertions);
    }
    if (token == "{" || token == "}" || token == ";") first = i + 1;
  }
  std::string rewritten;
  std::size_t rest = 0;
  for (const Insertion& each : insertions) {
    rewritten += text.substr(rest, each.at - rest) + each.text;
    rest = each.at + each.replaced;
  }
  return rewritten + text.substr(rest);
}

}  // namespace rung::emu
