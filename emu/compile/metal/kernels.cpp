// Finds kernels: `kernel void f(…) {`, [[kernel]], and explicit instantiations of templates.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "emu/compile/metal/integers.hpp"
#include "emu/compile/metal/passes.hpp"
#include "emu/compile/toolchain.hpp"

namespace rung::emu::metal {
namespace {

/// The first word of an attribute, "buffer" in [[buffer(0)]].
constexpr std::array position_names =
    std::to_array<std::string_view>({"thread_position_in_grid",
                                     "thread_position_in_threadgroup",
                                     "threadgroup_position_in_grid",
                                     "threads_per_threadgroup",
                                     "dispatch_threads_per_threadgroup",
                                     "threadgroups_per_grid",
                                     "threads_per_grid",
                                     "grid_size",
                                     "grid_origin",
                                     "thread_index_in_threadgroup",
                                     "simdgroup_index_in_threadgroup",
                                     "thread_index_in_simdgroup",
                                     "threads_per_simdgroup",
                                     "thread_execution_width",
                                     "simdgroups_per_threadgroup",
                                     "dispatch_simdgroups_per_threadgroup",
                                     "quadgroup_index_in_threadgroup",
                                     "thread_index_in_quadgroup",
                                     "quadgroups_per_threadgroup",
                                     "dispatch_quadgroups_per_threadgroup"});

/// One part of an attribute list: `buffer(1)` has the name "buffer" and the value in tokens [from,
/// to).
struct Attribute {
  std::string name;
  std::size_t from = 0, to = 0;
};

std::vector<Attribute> attributes_at(const Source& source, std::size_t at) {
  std::vector<Attribute> found;
  const std::size_t inner = source.next(at), end = source.partner(inner);
  for (std::size_t each = source.next(inner); each < end; each = source.next(each)) {
    if (!source.is_word(each)) continue;
    Attribute attribute{source[each].text};
    const std::size_t open = source.next(each);
    if (source.is(open, "(") && source.partner(open) < end) {
      attribute.from = open + 1;
      attribute.to = each = source.partner(open);
    }
    found.push_back(std::move(attribute));
  }
  return found;
}

/// The contents of adjacent string literals.
std::string unquoted(const std::string& text) {
  std::string result;
  bool is_inside = false;
  for (const char c : text) {
    if (c == '"') {
      is_inside = !is_inside;
    } else if (is_inside) {
      result += c;
    }
  }
  return result;
}

/// True for the word of an entry: [[kernel]], or `kernel` before the type.
bool is_entry_word(const Source& source, std::size_t at,
                   std::initializer_list<std::string_view> words) {
  if (!source.is_word(at) || std::ranges::find(words, source[at].text) == words.end()) return false;
  if (source.scope(at) != Source::Scope::file) return false;
  const std::size_t around = source.around(at);
  return around >= source.size() || source.is(around, "{") || source.is(around, "[");
}

/// A declaration that is a kernel, in tokens.
struct Head {
  std::size_t first = 0;                     // of the declaration
  std::size_t name_begin = 0, name_end = 0;  // `f<float>`
  std::size_t open = 0;                      // of the parameters; size() without any
  std::size_t end = 0;                       // `{` or `;`
  bool is_template = false, is_instantiation = false;
  std::string host_name;
};

Head read_head(const Source& source, std::size_t kernel) {
  Head head;
  head.first = source.statement(kernel);
  // A kernel in an attribute: the statement begins outside of the brackets.
  std::size_t outer = kernel;
  while (source.in_parentheses(outer)) outer = source.around(outer);
  head.first = source.statement(outer);
  head.open = source.size();
  std::size_t at = head.first, before = source.size();
  if (source.is(at, "template")) {
    head.is_template = source.is(source.next(at), "<");
    head.is_instantiation = !head.is_template;
    at = head.is_template ? source.next(source.after_angles(source.next(at))) : source.next(at);
  }
  for (; at < source.size(); at = source.next(at)) {
    if (source.is_attribute(at)) {
      for (const Attribute& each : attributes_at(source, at)) {
        if (each.name == "host_name") head.host_name = unquoted(source.text(each.from, each.to));
      }
      at = source.partner(at);
      continue;
    }
    if (source.is(at, ";") || source.is(at, "{")) break;
    if (source.is(at, "<")) {
      at = source.after_angles(at);
      if (at >= source.size()) break;
    } else if (source.is(at, "(")) {
      const bool is_operator = source.is(before, "decltype") || source.is(before, "alignas") ||
                               source.is(before, "__attribute__");
      if (!is_operator && head.open >= source.size()) {
        head.open = at;
        head.name_end = source.next(before);
      }
      at = source.partner(at);
      if (at >= source.size()) break;
    }
    before = at;
  }
  head.end = at;
  if (head.open >= source.size() && before < source.size()) head.name_end = source.next(before);
  // The name with its template arguments and scopes.
  std::size_t name = source.previous(head.name_end);
  if (source.is(name, ">")) name = source.previous(source.before_angles(name));
  while (name < source.size() && source.is(source.previous(name), "::")) {
    name = source.previous(source.previous(name));
  }
  head.name_begin = name;
  return head;
}

std::vector<std::pair<std::size_t, std::size_t>> split_parameters(const Source& source,
                                                                  std::size_t open) {
  std::vector<std::pair<std::size_t, std::size_t>> parts;
  const std::size_t end = source.partner(open);
  std::size_t begin = source.next(open);
  for (std::size_t at = begin; at < end; at = source.next(at)) {
    if (source.is(at, "(") || source.is(at, "[") || source.is(at, "{")) {
      at = source.partner(at);
    } else if (source.is(at, "<")) {
      const std::size_t close = source.after_angles(at);
      if (close < end) at = close;
    } else if (source.is(at, ",")) {
      parts.emplace_back(begin, at);
      begin = source.next(at);
    }
  }
  if (begin < end && !(source.is(begin, "void") && source.next(begin) == end)) {
    parts.emplace_back(begin, end);
  }
  return parts;
}

bool has(const Source& source, std::size_t from, std::size_t to, std::string_view word) {
  for (std::size_t at = from; at < to; at = source.next(at)) {
    if (source.is_attribute(at)) {
      at = source.partner(at);
    } else if (source.is(at, word)) {
      return true;
    }
  }
  return false;
}

/// The declarator's name: the last word that is not in brackets.
std::size_t name_of_parameter(const Source& source, std::size_t from, std::size_t to) {
  std::size_t name = source.size();
  for (std::size_t at = from; at < to; at = source.next(at)) {
    if (source.is_attribute(at) || source.is(at, "[")) {
      at = source.partner(at);
    } else if (source.is(at, "=")) {
      break;
    } else if (source.is(at, "<")) {
      const std::size_t close = source.after_angles(at);
      if (close < to) at = close;
    } else if (source.is_word(at)) {
      name = at;
    }
  }
  return name;
}

bool is_handle(const std::string& type, std::string_view prefix) {
  const std::size_t at = type.find(prefix);
  return at != type.npos && (at == 0 || type[at - 1] == ':' || type[at - 1] == ' ');
}

/// The number of arguments of a kind that a kernel has (Metal Feature Set Tables, "Function
/// arguments").
struct BindingLimit {
  std::string_view attribute;
  int count;
};
constexpr auto binding_limits = std::to_array<BindingLimit>(
    {{"buffer", 31}, {"threadgroup", 31}, {"texture", 128}, {"sampler", 16}});

/// An attribute such as [[buffer(0)]] of a parameter.
struct Binding {
  std::string attribute;  // empty if the parameter has none
  std::optional<std::int64_t> index;
  std::string text;             // of the index
  bool is_conditional = false;  // it exists only if a function constant says so
};

bool is_binding(std::string_view attribute) {
  return std::ranges::find(binding_limits, attribute, &BindingLimit::attribute) !=
         binding_limits.end();
}

/// Reads the parameters of one kernel, and what is wrong with them.
class ParameterReader {
 public:
  ParameterReader(const Source& source, const Integers& integers,
                  const std::set<std::string>& plain_types)
      : source_(source), integers_(integers), plain_types_(plain_types) {}

  std::vector<Argument> read(std::size_t open) {
    std::vector<Argument> arguments;
    for (const auto& [from, to] : split_parameters(source_, open)) {
      arguments.push_back(read_parameter(from, to));
    }
    return arguments;
  }

  const std::string& errors() const { return errors_; }

 private:
  Argument read_parameter(std::size_t from, std::size_t to) {
    Argument argument;
    Parameter& parameter = argument.parameter;
    const std::size_t name = name_of_parameter(source_, from, to);
    parameter.index = -1;
    Binding binding;
    std::string type;
    bool is_array = false, has_attribute = false;
    for (std::size_t at = from; at < to; at = source_.next(at)) {
      if (source_.is_attribute(at)) {
        has_attribute = true;
        read_attributes(at, argument, binding);
        at = source_.partner(at);
      } else if (source_.is(at, "[")) {
        is_array = true;
        at = source_.partner(at);
      } else if (at != name) {
        const std::string& text = source_[at].text;
        const bool joins = text == "*" || text == "&" || text == "::" || text == "<" ||
                           text == ">" || text == "," || type.empty() || type.ends_with(':') ||
                           type.ends_with('<');
        type += (joins ? "" : " ") + text;
      }
    }
    if (is_array) type += '*';
    if (name < source_.size()) parameter.name = source_[name].text;
    const bool is_pointer = type.find('*') != type.npos, is_reference = type.ends_with('&');
    const bool is_constant = has(source_, from, to, "constant");
    parameter.type = type;
    parameter.is_read_only = is_constant || has(source_, from, to, "const");
    if (has(source_, from, to, "threadgroup")) {
      parameter.kind = ParameterKind::threadgroup;
    } else if (!is_pointer && !is_reference && is_handle(type, "sampler")) {
      parameter.kind = ParameterKind::sampler;
    } else if (!is_pointer && !is_reference &&
               (is_handle(type, "texture") || is_handle(type, "depth"))) {
      parameter.kind = ParameterKind::texture;
    } else if (!is_pointer && (is_constant || !is_reference)) {
      parameter.kind = ParameterKind::value;
    }
    if ((is_pointer || is_reference) && has(source_, from, to, "thread")) {
      report(from,
             fmt::format("parameter '{}' points to thread memory, which a kernel's caller does "
                         "not have: write device, constant or threadgroup",
                         parameter.name));
    }
    const bool is_by_value = !is_pointer && !is_reference && is_plain(from);
    const bool needs_address = !has_attribute || binding.attribute == "buffer";
    if (parameter.kind == ParameterKind::value && is_by_value && needs_address) {
      report(from,
             fmt::format("parameter '{}' has no address space, as an argument in a buffer has: "
                         "write constant {}& {}",
                         parameter.name, type.substr(type.starts_with("const ") ? 6 : 0),
                         parameter.name));
    }
    if (argument.position.empty()) check(from, parameter, binding);
    return argument;
  }

  /// True if the type that begins at `at` is known to be no address.
  bool is_plain(std::size_t at) const {
    while (source_.is(at, "const") || source_.is(at, "metal") || source_.is(at, "::")) {
      at = source_.next(at);
    }
    return source_.is_word(at) && plain_types_.contains(source_[at].text);
  }

  void read_attributes(std::size_t at, Argument& argument, Binding& binding) {
    for (const Attribute& each : attributes_at(source_, at)) {
      if (std::ranges::find(position_names, each.name) != position_names.end()) {
        argument.position = each.name;
      } else if (is_binding(each.name) || each.name == "id") {
        binding.attribute = each.name;
        binding.text = source_.text(each.from, each.to);
        binding.index = integers_.value(each.from, each.to);
        argument.parameter.index = static_cast<int>(binding.index.value_or(-1));
      } else if (each.name == "function_constant") {
        binding.is_conditional = true;
        argument.parameter.is_optional = true;
      }
    }
  }

  void check(std::size_t at, const Parameter& parameter, const Binding& binding) {
    const auto limit =
        std::ranges::find(binding_limits, binding.attribute, &BindingLimit::attribute);
    if (limit == binding_limits.end()) return;
    if (!binding.index) {
      report(at, fmt::format("[[{}({})]]: the value of '{}' is not known here: write the number",
                             binding.attribute, binding.text, binding.text));
    } else if (*binding.index < 0 || *binding.index >= limit->count) {
      report(at, fmt::format("[[{}({})]] of parameter '{}': the index is at most {}{}",
                             binding.attribute, *binding.index, parameter.name, limit->count - 1,
                             binding.attribute == "buffer"
                                 ? ": put several values into one structure, or pointers into an "
                                   "argument buffer"
                                 : ""));
    } else if (!binding.is_conditional) {
      const auto [known, is_new] =
          taken_.try_emplace({binding.attribute, *binding.index}, parameter.name);
      if (is_new) return;
      report(at,
             fmt::format("parameters '{}' and '{}' both are [[{}({})]]: give each its own index",
                         known->second, parameter.name, binding.attribute, *binding.index));
    }
  }

  void report(std::size_t at, const std::string& message) {
    errors_ += error_at(source_, at, message);
  }

  const Source& source_;
  const Integers& integers_;
  const std::set<std::string>& plain_types_;
  std::map<std::pair<std::string, std::int64_t>, std::string> taken_;  // names of parameters
  std::string errors_;
};

/// Parameters without an index take the next free ones of their kind, in order.
void number_parameters(std::vector<Argument>& arguments) {
  const auto group = [](ParameterKind kind) {
    return kind == ParameterKind::value ? ParameterKind::buffer : kind;
  };
  std::set<std::pair<ParameterKind, int>> used;
  for (const Argument& each : arguments) {
    if (each.position.empty()) used.emplace(group(each.parameter.kind), each.parameter.index);
  }
  for (Argument& each : arguments) {
    if (!each.position.empty() || each.parameter.index >= 0) continue;
    int index = 0;
    while (!used.emplace(group(each.parameter.kind), index).second) ++index;
    each.parameter.index = index;
  }
}

/// The parameters of a function without attributes.
std::string parameter_types(const Source& source, std::size_t open) {
  std::string types;
  for (std::size_t at = source.next(open); at < source.partner(open); at = source.next(at)) {
    if (source.is_attribute(at)) {
      at = source.partner(at);
    } else {
      types += source[at].text + ' ';
    }
  }
  return types;
}

struct Definition {
  KernelEntry entry;
  bool is_template;
};

struct Instantiation {
  KernelEntry entry;
  std::string function;
};

std::string last_name(const std::string& expression) {
  std::string name = expression.substr(0, expression.find('<'));
  if (const std::size_t colon = name.rfind("::"); colon != name.npos) name.erase(0, colon + 2);
  while (name.ends_with(' ')) name.pop_back();
  return name;
}

/// An error if the kernel does not return void.
std::string wrong_result(const Source& source, const Head& head, const std::string& name) {
  if (has(source, head.first, head.name_begin, "void")) return {};
  return error_at(source, head.name_begin,
                  fmt::format("kernel '{}' returns a value: return void, and write the value to a "
                              "buffer",
                              name));
}

/// True for a tile function: a kernel of a render pass, with the pixels of a tile.
bool is_tile_function(const Source& source, const Head& head) {
  if (head.open >= source.size() || source.partner(head.open) >= source.size()) return false;
  return has(source, head.open, source.partner(head.open), "imageblock");
}

/// Functions of the graphics pipeline, which no kernel can call.
void remove_graphics(Source& source) {
  for (std::size_t at = 0; at < source.size(); ++at) {
    if (!is_entry_word(source, at, {"vertex", "fragment", "mesh", "object", "kernel"})) continue;
    const bool is_attribute = source.is(source.around(at), "[");
    const bool is_kernel = source.is(at, "kernel");
    const bool is_keyword = is_kernel || source.is(at, "vertex") || source.is(at, "fragment");
    if (!is_attribute && !is_keyword) continue;
    const Head head = read_head(source, at);
    if (is_kernel && !is_tile_function(source, head)) continue;
    const std::size_t end = source.is(head.end, "{") ? source.partner(head.end) : head.end;
    if (end < source.size()) source.erase(head.first, end + 1);
  }
}

}  // namespace

Declarations take_kernels(Source& source) {
  remove_graphics(source);
  const Integers integers(source);
  const std::set<std::string> types = plain_types(source);
  Declarations result;
  std::vector<Definition> definitions;
  std::vector<Instantiation> instantiations;
  std::set<std::size_t> seen;
  for (std::size_t at = 0; at < source.size(); ++at) {
    if (!is_entry_word(source, at, {"kernel"})) continue;
    const Head head = read_head(source, at);
    if (head.end >= source.size() || head.name_begin >= source.size()) continue;
    if (!seen.insert(head.first).second) {
      source.erase(at, at + 1);
      continue;
    }
    KernelEntry entry;
    const std::string name = source.text(head.name_begin, head.name_end);
    entry.name = head.host_name.empty() ? last_name(name) : head.host_name;
    // From the global namespace: a kernel may be named as a function of the library is, such as
    // dot.
    entry.expression = name.starts_with("::") ? name : "::" + source.namespaces(head.first) + name;
    entry.file = source.file(head.name_begin);
    entry.line = source[head.name_begin].line;
    if (head.open < source.size() && source.partner(head.open) < source.size()) {
      ParameterReader reader(source, integers, types);
      entry.arguments = reader.read(head.open);
      number_parameters(entry.arguments);
      if (source.is(head.end, "{")) {
        result.errors += reader.errors() + wrong_result(source, head, entry.name);
      }
    }
    if (head.is_instantiation) {
      if (!name.ends_with('>')) {  // the template's arguments follow from the types
        entry.expression = fmt::format("static_cast<void (*)({})>({})",
                                       parameter_types(source, head.open), entry.expression);
      }
      instantiations.push_back({std::move(entry), last_name(name)});
      source.erase(head.first, head.end + 1);
      continue;
    }
    source[at].text.clear();
    if (source.is(head.end, "{")) {
      // Not compiled unless an entry calls it.
      const std::size_t first = source.after_attributes(head.first);
      if (!head.is_template) source[first].text.insert(0, "inline ");
      definitions.push_back({std::move(entry), head.is_template});
    }
  }
  for (const Definition& each : definitions) {
    if (!each.is_template) result.kernels.push_back(each.entry);
  }
  for (auto& [entry, function] : instantiations) {
    const auto of = std::ranges::find_if(definitions, [&](const Definition& definition) {
      return last_name(definition.entry.expression) == function;
    });
    if (of == definitions.end()) continue;
    // The attributes are those of the definition.
    entry.arguments = of->entry.arguments;
    entry.file = of->entry.file;
    entry.line = of->entry.line;
    result.kernels.push_back(std::move(entry));
  }
  return result;
}

void rewrite_global_positions(Source& source) {
  std::map<std::string, std::string> values;
  for (std::size_t at = 0; at < source.size(); ++at) {
    const std::size_t attribute = source.next(at);
    if (source.is_word(at) && source.is_attribute(attribute) &&
        source.scope(at) == Source::Scope::file && !source.in_parentheses(at)) {
      const std::size_t end = source.next(source.partner(attribute));
      const auto names = attributes_at(source, attribute);
      if (!source.is(end, ";") || names.size() != 1 ||
          std::ranges::find(position_names, names[0].name) == position_names.end()) {
        continue;
      }
      values[source[at].text] = fmt::format(
          "::metal::rung_detail::global_position<{}, ::metal::rung_detail::positions::{}>()",
          source.text(source.statement(at), at), names[0].name);
      source.erase(source.statement(at), end + 1);
    }
    const bool is_member = source.is(source.previous(at), ".") ||
                           source.is(source.previous(at), "->") ||
                           source.is(source.previous(at), "::");
    const bool is_parameter = source.is_attribute(attribute);
    const auto value = source.is_word(at) ? values.find(source[at].text) : values.end();
    if (value != values.end() && !is_member && !is_parameter) source[at].text = value->second;
  }
}

void set_function_constants(Source& source, const std::map<std::string, std::string>& values,
                            const std::set<std::string>& ones, Declarations& declarations) {
  const Integers integers(source);
  std::set<std::string> defined;
  for (std::size_t at = 0; at < source.size(); ++at) {
    if (!source.is(at, "function_constant") || source.scope(at) != Source::Scope::file) continue;
    const std::size_t inner = source.around(at);
    if (inner >= source.size() || !source.is(inner, "[")) continue;
    const std::size_t name = source.previous(source.around(inner));
    const std::size_t open = source.next(at);
    // A parameter may depend on a function constant, as in [[buffer(1), function_constant(b)]].
    const bool is_parameter = source.in_parentheses(name);
    if (!source.is_word(name) || !source.is(open, "(") || is_parameter) continue;
    std::string type;
    for (std::size_t each = source.statement(name); each < name; each = source.next(each)) {
      const std::string& text = source[each].text;
      if (text != "constant" && text != "constexpr" && text != "static" && text != "const") {
        type += (type.empty() || text == "::" || type.ends_with(':') ? "" : " ") + text;
      }
    }
    const int index = static_cast<int>(integers.value(open + 1, source.partner(open)).value_or(-1));
    auto value = values.find(source[name].text);
    if (value == values.end()) value = values.find(std::to_string(index));
    const bool has_value = value != values.end();
    declarations.function_constants.push_back(
        {source[name].text, type, index, has_value, source.file(name), source[name].line});
    if (has_value) defined.insert(source[name].text);
    const std::string text = has_value                          ? value->second
                             : ones.contains(source[name].text) ? "1"
                                                                : "0";
    const std::size_t first = source.statement(name);
    source[first].text.insert(0, "constexpr ");
    for (std::size_t each = source.next(first); each < name; each = source.next(each)) {
      if (source.is(each, "constexpr")) source[each].text.clear();
    }
    source[name].text += fmt::format(" = ::metal::rung_detail::make<{}>({})", type, text);
  }
  for (std::size_t at = 0; at < source.size(); ++at) {
    if (!source.is(at, "is_function_constant_defined")) continue;
    const std::size_t open = source.next(at);
    if (!source.is(open, "(") || source.partner(open) >= source.size()) continue;
    const bool is_defined = defined.contains(source.text(open + 1, source.partner(open)));
    source.erase(at, source.partner(open) + 1);
    source[at].text = is_defined ? "true" : "false";
  }
}

void remove_attributes(Source& source) {
  constexpr auto kept =
      std::to_array<std::string_view>({"likely", "unlikely", "maybe_unused", "nodiscard",
                                       "fallthrough", "noreturn", "deprecated", "clang", "gnu"});
  for (std::size_t at = 0; at < source.size(); ++at) {
    if (!source.is_attribute(at)) continue;
    const std::size_t word = source.next(source.next(at));
    const std::size_t end = source.partner(at);
    if (std::ranges::find(kept, std::string_view(source[word].text)) == kept.end()) {
      source.erase(at, end + 1);
    }
    at = end;
  }
}

}  // namespace rung::emu::metal
