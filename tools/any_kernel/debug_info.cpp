#include "tools/any_kernel/debug_info.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace rung::any_kernel {
namespace {

template <class Use>
void for_each_line(std::string_view text, const Use& use) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    use(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// Splits "a, b: c(d, e), \"f, g\"" at the commas outside brackets and quotes.
std::vector<std::string_view> split_fields(std::string_view text) {
  std::vector<std::string_view> fields;
  std::size_t begin = 0;
  int depth = 0;
  bool quoted = false;
  const auto end_field = [&](std::size_t end) {
    std::string_view field = text.substr(begin, end - begin);
    while (field.starts_with(' ')) field.remove_prefix(1);
    if (!field.empty()) fields.push_back(field);
    begin = end + 1;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;  // LLVM writes a quote within a string as \22
    if (quoted) continue;
    if (c == '(' || c == '{' || c == '[') ++depth;
    if (c == ')' || c == '}' || c == ']') --depth;
    if (c == ',' && depth == 0) end_field(i);
  }
  end_field(text.size());
  return fields;
}

/// A node of metadata: !DIDerivedType(tag: DW_TAG_member, name: "x"), or !{!1, null}.
struct Node {
  std::string_view kind;                                // "DIDerivedType"; empty for a list
  std::map<std::string_view, std::string_view> fields;  // not of a list
  std::vector<std::string_view> items;                  // of a list

  std::string_view operator[](std::string_view field) const {
    const auto found = fields.find(field);
    return found == fields.end() ? std::string_view() : found->second;
  }
  std::string text(std::string_view field) const {
    std::string_view value = (*this)[field];
    if (value.size() >= 2 && value.front() == '"') value = value.substr(1, value.size() - 2);
    return unescaped(value);
  }
  long long number(std::string_view field) const {
    long long value = 0;
    const std::string_view digits = (*this)[field];
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
  }
  bool has_flag(std::string_view flag) const {
    return (*this)["flags"].find(flag) != std::string_view::npos;
  }

 private:
  static std::string unescaped(std::string_view value) {
    std::string result;
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (value[i] == '\\' && i + 2 < value.size()) {
        const std::string code(value.substr(i + 1, 2));
        result += static_cast<char>(std::strtol(code.c_str(), nullptr, 16));
        i += 2;
      } else {
        result += value[i];
      }
    }
    return result;
  }
};

Node parse_node(std::string_view text) {
  Node node;
  if (text.starts_with("distinct ")) text.remove_prefix(9);
  if (text.starts_with("!{")) {
    node.items = split_fields(text.substr(2, text.rfind('}') - 2));
    return node;
  }
  const std::size_t open = text.find('(');
  if (!text.starts_with('!') || open == text.npos) return node;
  node.kind = text.substr(1, open - 1);
  for (const std::string_view field :
       split_fields(text.substr(open + 1, text.rfind(')') - open - 1))) {
    const std::size_t colon = field.find(": ");
    if (colon != field.npos) node.fields[field.substr(0, colon)] = field.substr(colon + 2);
  }
  return node;
}

/// The metadata of a module; nodes are parsed when they are needed.
class Metadata {
 public:
  explicit Metadata(std::string_view ir) {
    for_each_line(ir, [&](std::string_view line) {
      const std::size_t equals = line.find(" = ");
      if (!line.starts_with('!') || equals == line.npos) return;
      const std::string_view name = line.substr(0, equals), text = line.substr(equals + 3);
      lines_[name] = text;
      if (text.starts_with("!DILocalVariable(") && text.find("arg: ") != text.npos) {
        const Node node = parse_node(text);
        arguments_[node["scope"]].push_back(node);
      }
    });
  }

  /// `name`: "!12". The node is empty for an unknown name.
  Node node(std::string_view name) const {
    const auto found = lines_.find(name);
    return found == lines_.end() ? Node() : parse_node(found->second);
  }
  /// Names of the parameters of a function, by number from 1.
  std::map<long long, std::string> argument_names(std::string_view function) const {
    std::map<long long, std::string> names;
    const auto found = arguments_.find(function);
    if (found == arguments_.end()) return names;
    for (const Node& node : found->second) names[node.number("arg")] = node.text("name");
    return names;
  }

 private:
  std::map<std::string_view, std::string_view> lines_;
  std::map<std::string_view, std::vector<Node>> arguments_;  // by function
};

std::optional<Scalar> scalar_of(const Node& node) {
  const std::string_view encoding = node["encoding"];
  const long long bits = node.number("size");
  if (encoding == "DW_ATE_boolean") return Scalar::boolean;
  if (encoding == "DW_ATE_float") {
    if (bits == 16)
      return node.text("name").find("bf") == std::string::npos ? Scalar::f16 : Scalar::bf16;
    if (bits == 32) return Scalar::f32;
    return bits == 64 ? std::optional(Scalar::f64) : std::nullopt;
  }
  const bool has_sign = encoding == "DW_ATE_signed" || encoding == "DW_ATE_signed_char";
  switch (bits) {
    case 8: return has_sign ? Scalar::i8 : Scalar::u8;
    case 16: return has_sign ? Scalar::i16 : Scalar::u16;
    case 32: return has_sign ? Scalar::i32 : Scalar::u32;
    case 64: return has_sign ? Scalar::i64 : Scalar::u64;
    default: return std::nullopt;
  }
}

/// Reads types; each once.
class Types {
 public:
  explicit Types(const Metadata& metadata) : metadata_(metadata) {}

  /// Null for void.
  TypePtr read(std::string_view name) {
    if (name.empty() || name == "null") return nullptr;
    if (const auto found = known_.find(name); found != known_.end()) return found->second;
    if (!open_.insert(name).second) return opaque("a type that contains itself");
    TypePtr type = read_node(metadata_.node(name));
    open_.erase(name);
    known_[name] = type;
    return type;
  }

 private:
  static TypePtr opaque(std::string name) {
    Type type;
    type.name = std::move(name);
    return std::make_shared<const Type>(std::move(type));
  }

  TypePtr read_node(const Node& node) {
    if (node.kind == "DIBasicType") return read_basic(node);
    if (node.kind == "DIDerivedType") return read_derived(node);
    if (node.kind == "DICompositeType") return read_composite(node);
    return opaque(node.kind == "DISubroutineType" ? "a function" : "unknown");
  }

  static TypePtr read_basic(const Node& node) {
    const auto scalar = scalar_of(node);
    return scalar ? scalar_type(*scalar) : opaque(node.text("name"));
  }

  TypePtr read_derived(const Node& node) {
    const std::string_view tag = node["tag"];
    const bool is_reference =
        tag == "DW_TAG_reference_type" || tag == "DW_TAG_rvalue_reference_type";
    if (tag == "DW_TAG_pointer_type" || is_reference) return read_address(node, is_reference);
    // typedef, const, volatile, restrict, atomic
    if (TypePtr type = read(node["baseType"])) return type;
    return opaque("void");
  }

  TypePtr read_address(const Node& node, bool is_reference) {
    Type type;
    type.kind = is_reference ? Type::Kind::reference : Type::Kind::pointer;
    type.bytes = sizeof(std::uint64_t);
    type.to_const = is_const(node["baseType"]);
    type.element = is_void(node["baseType"]) ? nullptr : read(node["baseType"]);
    const std::string element = type.element == nullptr ? "void" : type.element->name;
    type.name = (type.to_const ? "const " : "") + element + (is_reference ? "&" : "*");
    return std::make_shared<const Type>(std::move(type));
  }

  /// The node under typedefs and qualifiers; `use` sees those.
  template <class Use>
  std::string_view strip(std::string_view name, const Use& use) const {
    for (;;) {
      const Node node = metadata_.node(name);
      const std::string_view tag = node["tag"];
      const bool is_address = tag.find("pointer") != tag.npos || tag.find("reference") != tag.npos;
      if (node.kind != "DIDerivedType" || is_address) return name;
      use(tag);
      name = node["baseType"];
    }
  }
  /// Also of arrays of such elements.
  bool is_const(std::string_view name) const {
    bool found = false;
    const std::string_view under =
        strip(name, [&](std::string_view tag) { found = found || tag == "DW_TAG_const_type"; });
    const Node node = metadata_.node(under);
    return found || (node["tag"] == "DW_TAG_array_type" && is_const(node["baseType"]));
  }
  bool is_void(std::string_view name) const {
    const std::string_view under = strip(name, [](std::string_view) {});
    return under.empty() || under == "null";
  }

  TypePtr read_composite(const Node& node) {
    const std::string_view tag = node["tag"];
    if (tag == "DW_TAG_enumeration_type") return read_enumeration(node);
    if (tag == "DW_TAG_array_type") return read_array(node);
    const std::string name = node.text("name");
    if (name == "__half") return scalar_type(Scalar::f16);
    if (name == "__nv_bfloat16") return scalar_type(Scalar::bf16);
    Type type;
    type.kind = Type::Kind::record;
    type.name = name.empty() ? "struct" : name;
    type.bytes = static_cast<std::size_t>(node.number("size")) / 8;
    if (tag == "DW_TAG_union_type" || node.has_flag("DIFlagFwdDecl")) {
      type.kind = Type::Kind::unknown;  // only its size is known
      return std::make_shared<const Type>(std::move(type));
    }
    for (const std::string_view item : metadata_.node(node["elements"]).items)
      add_member(item, type);
    return std::make_shared<const Type>(std::move(type));
  }

  void add_member(std::string_view item, Type& record) {
    const Node node = metadata_.node(item);
    const std::string_view tag = node["tag"];
    if (tag != "DW_TAG_member" && tag != "DW_TAG_inheritance") return;
    if (node.has_flag("DIFlagStaticMember")) return;
    const TypePtr type =
        node.has_flag("DIFlagBitField") ? opaque("a bit field") : read(node["baseType"]);
    if (type == nullptr) return;
    record.members.push_back(
        {node.text("name"), static_cast<std::size_t>(node.number("offset")) / 8, type});
  }

  TypePtr read_enumeration(const Node& node) {
    if (TypePtr type = read(node["baseType"])) return type;
    return scalar_type(node.number("size") == 8 ? Scalar::u8 : Scalar::i32);
  }

  TypePtr read_array(const Node& node) {
    TypePtr type = read(node["baseType"]);
    std::vector<std::string_view> ranges = metadata_.node(node["elements"]).items;
    std::reverse(ranges.begin(), ranges.end());
    for (const std::string_view range : ranges) {
      Type array;
      array.kind = Type::Kind::array;
      array.element = type;
      array.count = static_cast<std::size_t>(std::max(0LL, metadata_.node(range).number("count")));
      array.bytes = array.count * type->bytes;
      array.name = type->name + "[" + std::to_string(array.count) + "]";
      if (node.has_flag("DIFlagVector")) array.name = type->name + std::to_string(array.count);
      type = std::make_shared<const Type>(std::move(array));
    }
    if (!node.has_flag("DIFlagVector")) return type;
    Type vector = *type;  // whose size may have padding, such as that of float3
    if (const auto bits = node.number("size"); bits > 0)
      vector.bytes = static_cast<std::size_t>(bits) / 8;
    return std::make_shared<const Type>(std::move(vector));
  }

  const Metadata& metadata_;
  std::map<std::string_view, TypePtr> known_;
  std::set<std::string_view> open_;  // being read
};

std::string scoped_name(const Metadata& metadata, const Node& function) {
  std::string name = function.text("name");
  for (Node scope = metadata.node(function["scope"]);
       scope.kind == "DINamespace" || scope.kind == "DICompositeType";
       scope = metadata.node(scope["scope"])) {
    const std::string outer = scope.text("name");
    if (!outer.empty()) name = outer + "::" + name;
  }
  return name;
}

/// The symbol between '@' and what follows it, without quotes.
std::string_view symbol_of(std::string_view line) {
  const std::size_t at = line.find('@');
  if (at == line.npos) return {};
  line.remove_prefix(at + 1);
  if (line.starts_with('"')) return line.substr(1, line.find('"', 1) - 1);
  return line.substr(0, line.find_first_of("(, "));
}

/// The kernels that !nvvm.annotations lists; clang 20 and later mark the functions instead.
std::set<std::string_view> annotated_kernels(std::string_view ir) {
  std::set<std::string_view> kernels;
  for_each_line(ir, [&](std::string_view line) {
    if (line.starts_with('!') && line.find("!\"kernel\", i32 1}") != line.npos) {
      kernels.insert(symbol_of(line));
    }
  });
  return kernels;
}

DebugFunction read_function(const Metadata& metadata, Types& types, std::string_view node_name) {
  const Node node = metadata.node(node_name);
  DebugFunction function;
  function.name = scoped_name(metadata, node);
  function.line = static_cast<int>(node.number("line"));
  const std::map<long long, std::string> names = metadata.argument_names(node_name);
  const std::vector<std::string_view> listed =
      metadata.node(metadata.node(node["type"])["types"]).items;
  for (std::size_t i = 1; i < listed.size(); ++i) {  // the first is the result
    const auto name = names.find(static_cast<long long>(i));
    function.parameters.push_back({name == names.end() ? "" : name->second, types.read(listed[i])});
  }
  return function;
}

bool is_definition(std::string_view line) { return line.starts_with("define "); }

}  // namespace

std::vector<DebugFunction> debug_functions(std::string_view ir) {
  const Metadata metadata(ir);
  const std::set<std::string_view> kernels = annotated_kernels(ir);
  Types types(metadata);
  std::vector<DebugFunction> functions;
  for_each_line(ir, [&](std::string_view line) {
    const std::size_t debug = line.rfind("!dbg !");
    if (!is_definition(line) || debug == line.npos) return;
    const std::string_view symbol = symbol_of(line);
    const std::string_view after = line.substr(debug + 5);
    const std::string_view node = after.substr(0, after.find_first_of(" {"));
    DebugFunction function = read_function(metadata, types, node);
    function.symbol = symbol;
    function.is_kernel = kernels.contains(symbol) || line.find(" ptx_kernel ") != line.npos;
    functions.push_back(std::move(function));
  });
  return functions;
}

std::string debug_lines(std::string_view ir) {
  std::string kept;
  for_each_line(ir, [&](std::string_view line) {
    if (is_definition(line) || line.starts_with('!')) kept.append(line).append("\n");
  });
  return kept;
}

}  // namespace rung::any_kernel
