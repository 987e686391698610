#include "emu/compile/metal/device_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emu/compile/ir/llvm_text.hpp"

namespace rung::emu::metal {
namespace {

using Text = std::string_view;

void replace_all(std::string& text, Text from, Text to) {
  std::string result;
  std::size_t begin = 0;
  for (std::size_t at; (at = text.find(from, begin)) != text.npos; begin = at + from.size()) {
    result.append(text, begin, at - begin).append(to);
  }
  text = result.append(text, begin, text.npos);
}

/// The number that the text begins with.
int number(Text text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// The part of `text` after `word`; empty without it.
Text after(Text text, Text word) {
  const std::size_t at = text.find(word);
  return at == text.npos ? Text() : text.substr(at + word.size());
}

/// The name of the value that a line defines: %7.
Text defined(Text line) {
  const std::size_t begin = line.find_first_not_of(' ');
  const std::size_t equals = line.find(" = ");
  if (begin == line.npos || line[begin] != '%' || equals == line.npos) return {};
  return line.substr(begin, equals - begin);
}

constexpr Text define = "define ";

/// The name of the function whose definition begins in this line, without quotes.
Text function_name(Text line) {
  if (!line.starts_with(define)) return {};
  Text name = after(line, " @");
  if (name.starts_with('"')) {
    name.remove_prefix(1);
    return name.substr(0, name.find('"'));
  }
  return name.substr(0, name.find('('));
}

/// The metadata nodes of a module, by number.
class Metadata {
 public:
  explicit Metadata(const std::string& module) {
    for (const Text line : split_lines(module)) {
      const std::size_t equals = line.find(" = ");
      if (line.starts_with('!') && equals != line.npos) {
        nodes_[line.substr(0, equals)] = line.substr(equals + 3);
      }
    }
  }

  /// "file.metal:3:51" of an instruction.
  std::string position(Text instruction) const {
    const Text id = after(instruction, "!dbg ");
    const Text location = node(id.substr(0, id.find(',')));
    Text scope = node(field(location, "scope"));
    for (int depth = 0; depth < 100 && field(scope, "file").empty(); ++depth) {
      scope = node(field(scope, "scope"));
    }
    return fmt::format("{}:{}:{}", quoted(node(field(scope, "file")), "filename"),
                       field(location, "line"), field(location, "column"));
  }

  /// The types that the parameters of a function point to or are.
  std::vector<Type> parameter_types(Text subprogram) const {
    std::vector<Type> types;
    const Text list = node(field(node(field(node(subprogram), "type")), "types"));
    const auto ids = split_list(after(list, "!"));
    for (std::size_t i = 1; i < ids.size(); ++i) types.push_back(pointee(ids[i]));
    return types;
  }

 private:
  Text node(Text id) const {
    const auto found = nodes_.find(id);
    return found == nodes_.end() ? Text() : found->second;
  }
  /// The value of `name: value` in a node.
  static Text field(Text text, Text name) {
    for (std::size_t at = 0; (at = text.find(name, at)) != text.npos; ++at) {
      const Text value = text.substr(at + name.size());
      const bool begins = at > 0 && (text[at - 1] == '(' || text[at - 1] == ' ');
      if (begins && value.starts_with(": ")) {
        return value.substr(2, value.find_first_of(",)", 2) - 2);
      }
    }
    return {};
  }
  static std::string quoted(Text text, Text name) {
    const Text value = after(text, std::string(name) + ": \"");
    return std::string(value.substr(0, value.find('"')));
  }

  /// Through typedefs and qualifiers.
  Text plain(Text id) const {
    for (int depth = 0; depth < 100; ++depth) {
      const Text tag = field(node(id), "tag");
      if (tag != "DW_TAG_typedef" && tag != "DW_TAG_const_type" && tag != "DW_TAG_volatile_type") {
        break;
      }
      id = field(node(id), "baseType");
    }
    return id;
  }

  /// The first name on the way through typedefs and qualifiers.
  std::string name_of(Text id) const {
    for (int depth = 0; depth < 100; ++depth) {
      std::string name = quoted(node(id), "name");
      const Text next = plain(id) == id ? Text() : field(node(id), "baseType");
      if (!name.empty() || next.empty()) return name;
      id = next;
    }
    return {};
  }

  Type pointee(Text id) const {
    const Text type = node(plain(id)), tag = field(type, "tag");
    const bool is_pointer = tag == "DW_TAG_pointer_type" || tag == "DW_TAG_reference_type";
    return is_pointer ? layout(field(type, "baseType"), 0) : layout(id, 0);
  }

  /// True for a pointer to const.
  bool points_to_const(Text pointer) const {
    Text id = field(pointer, "baseType");
    for (int depth = 0; depth < 100; ++depth) {
      const Text tag = field(node(id), "tag");
      if (tag == "DW_TAG_const_type") return true;
      if (tag != "DW_TAG_typedef" && tag != "DW_TAG_volatile_type") return false;
      id = field(node(id), "baseType");
    }
    return false;
  }

  /// Pointers within what a pointer points to have no element: structures may contain their own address.
  Type layout(Text id, int depth, bool is_pointee = false) const {
    constexpr int most_depth = 20;
    Type type;
    const Text text = node(plain(id)), tag = field(text, "tag");
    type.name = name_of(id);
    type.bytes = static_cast<std::size_t>(number(field(text, "size"))) / 8;
    if (depth > most_depth) return type;
    if (text.find("!DIBasicType") != text.npos) {
      type.kind = scalar_kind(field(text, "encoding"));
    } else if (tag == "DW_TAG_pointer_type" || tag == "DW_TAG_reference_type") {
      type.kind = Type::Kind::pointer;
      type.bytes = 8;
      type.is_read_only = points_to_const(text);
      if (!is_pointee) type.elements.push_back(layout(field(text, "baseType"), depth + 1, true));
    } else if (tag == "DW_TAG_enumeration_type") {
      type.kind = Type::Kind::unsigned_integer;
    } else if (tag == "DW_TAG_array_type") {
      read_array(text, type, depth, is_pointee);
    } else if (tag == "DW_TAG_structure_type" || tag == "DW_TAG_class_type" ||
               tag == "DW_TAG_union_type") {
      type.kind = Type::Kind::structure;
      read_fields(text, type, 0, depth, is_pointee);
    }
    return type;
  }

  static Type::Kind scalar_kind(Text encoding) {
    if (encoding == "DW_ATE_boolean") return Type::Kind::boolean;
    if (encoding == "DW_ATE_float") return Type::Kind::floating;
    if (encoding == "DW_ATE_signed" || encoding == "DW_ATE_signed_char") {
      return Type::Kind::signed_integer;
    }
    return Type::Kind::unsigned_integer;
  }

  void read_array(Text text, Type& type, int depth, bool is_pointee) const {
    type.kind = text.find("DIFlagVector") == text.npos ? Type::Kind::array : Type::Kind::vector;
    type.elements.push_back(layout(field(text, "baseType"), depth + 1, is_pointee));
    type.count = 1;
    for (const Text dimension : split_list(after(node(field(text, "elements")), "!"))) {
      const Text count = field(node(dimension), "count");
      type.count *= static_cast<std::size_t>(std::max(number(count), 1));
    }
    // A vector of three has the size of four.
    if (type.kind == Type::Kind::array) type.bytes = type.count * type.elements[0].bytes;
  }

  void read_fields(Text text, Type& type, std::size_t offset, int depth, bool is_pointee) const {
    for (const Text id : split_list(after(node(field(text, "elements")), "!"))) {
      const Text member = node(id), tag = field(member, "tag");
      const bool is_static = member.find("DIFlagStaticMember") != member.npos;
      const std::size_t at = offset + static_cast<std::size_t>(number(field(member, "offset"))) / 8;
      if (tag == "DW_TAG_inheritance") {
        read_fields(node(plain(field(member, "baseType"))), type, at, depth + 1, is_pointee);
      } else if (tag == "DW_TAG_member" && !is_static) {
        type.fields.push_back(
            {quoted(member, "name"), at, layout(field(member, "baseType"), depth + 1, is_pointee)});
      }
    }
  }

  std::unordered_map<Text, Text> nodes_;
};

/// The pointer that an instruction stores, returns or passes as a pointer (references are marked as
/// dereferenceable), and whether it is one to device memory.
std::pair<Text, bool> converted_pointer(Text line) {
  constexpr Text to_device = "ptr addrspace(1) ";
  for (const Text word : {"  store ptr ", "  ret ptr "}) {
    if (!line.starts_with(word)) continue;
    Text value = line.substr(word.size());
    const bool is_device = line.substr(word.size() - 4).starts_with(to_device);
    if (is_device) value = after(value, ") ");
    return {value.substr(0, value.find(',')), is_device};
  }
  if (line.find(" call ") == line.npos) return {};
  for (std::size_t at = line.find('('); (at = line.find("ptr ", at)) != line.npos; ++at) {
    Text argument = line.substr(at, line.find_first_of(",", at) - at);
    const bool is_reference = argument.find("dereferenceable") != argument.npos ||
                              argument.find("byval") != argument.npos ||
                              argument.find("sret") != argument.npos ||
                              argument.find("nonnull") != argument.npos;
    const std::size_t value = argument.rfind('%');
    if (is_reference || value == argument.npos || line.find("@llvm.") != line.npos) continue;
    const Text name = argument.substr(value, argument.find_first_of(") ", value) - value);
    return {name, argument.starts_with(to_device)};
  }
  return {};
}

/// <4 x float>
struct VectorType {
  int count = 0;
  Text element;
};

std::optional<VectorType> read_vector(Text text) {
  if (!text.starts_with('<')) return std::nullopt;
  const std::size_t x = text.find(" x "), end = text.find('>');
  if (x == text.npos || end == text.npos || end < x) return std::nullopt;
  return VectorType{number(text.substr(1)), text.substr(x + 3, end - x - 3)};
}

int element_bytes(Text element) {
  if (element == "half" || element == "bfloat" || element == "i16") return 2;
  if (element == "float" || element == "i32") return 4;
  if (element == "double" || element == "i64") return 8;
  return element == "i8" ? 1 : 0;
}

/// "ptr addrspace(1) %5" at the beginning of `text`.
Text pointer_operand(Text text) {
  if (!text.starts_with("ptr ")) return {};
  return text.substr(0, text.find(','));
}

/// Rewrites the stores of one module. Lines are looked up by the value that they define in the
/// current function.
class ComponentStores {
 public:
  std::string run(const std::string& module) {
    for (const Text line : split_lines(module)) {
      if (line.starts_with("define ")) lines_.clear();
      if (const Text value = defined(line); !value.empty()) lines_[value] = line;
      if (!rewrite(line)) text_.append(line).append("\n");
    }
    return std::move(text_);
  }

 private:
  /// A store of a vector: `store <4 x float> %53, ptr addrspace(1) %51, align 16, !dbg !51`.
  struct Store {
    VectorType type;
    Text pointer, debug;
  };

  bool rewrite(Text line) {
    constexpr Text store = "  store <";
    if (!line.starts_with(store)) return false;
    const auto type = read_vector(line.substr(store.size() - 1));
    const Text value = after(line, "> ");
    const Text pointer = pointer_operand(after(value, ", "));
    // Other memory belongs to the thread.
    if (!type || element_bytes(type->element) == 0 || !pointer.starts_with("ptr addrspace(")) {
      return false;
    }
    const std::size_t debug = line.find(", !dbg ");
    const Store whole{
        *type, pointer,
        debug == line.npos ? Text() : line.substr(debug, line.find(',', debug + 1) - debug)};
    const auto from = lines_.find(value.substr(0, value.find(',')));
    if (from == lines_.end()) return false;
    if (const Text one = after(from->second, " = insertelement "); !one.empty()) {
      return insertion(one, whole);
    }
    const Text several = after(from->second, " = shufflevector ");
    return !several.empty() && shuffle(several, whole);
  }

  /// True if `value` is the vector loaded from the same pointer.
  bool is_old_value(Text value, Text pointer) const {
    const auto found = lines_.find(value.substr(0, value.find(',')));
    if (found == lines_.end()) return false;
    const Text loaded = after(found->second, " = load ");
    return !loaded.empty() && pointer_operand(after(loaded, ">, ")) == pointer;
  }

  /// `<4 x float> %52, float %47, i64 0`
  bool insertion(Text operands, const Store& store) {
    const Text old = after(operands, "> ");
    if (!is_old_value(old, store.pointer)) return false;
    const Text element = after(old, ", ");  // float %47, i64 0
    const std::size_t comma = element.find(", ");
    if (comma == element.npos) return false;
    const Text index = element.substr(comma + 2);
    store_one(store, element.substr(0, comma), index.substr(0, index.find(',')));
    return true;
  }

  /// `<4 x float> %64, <4 x float> %65, <4 x i32> <i32 0, i32 4, i32 5, i32 3>`
  bool shuffle(Text operands, const Store& store) {
    const Text old = after(operands, "> ");
    if (!is_old_value(old, store.pointer)) return false;
    const Text second = after(old, ", ");
    const std::size_t end = second.find(", <");
    if (end == second.npos) return false;
    const Text other = second.substr(0, end);  // <4 x float> %65
    Text mask = after(second.substr(end), "> <");
    std::vector<int> sources;
    for (; mask.starts_with("i32 "); mask = after(mask, ", ")) {
      const Text index = mask.substr(4);
      sources.push_back(index.starts_with("poison") ? -1 : number(index));
      if (index.find(',') > index.find('>')) break;
    }
    if (static_cast<int>(sources.size()) != store.type.count) return false;
    for (int i = 0; i < store.type.count; ++i) {
      const int source = sources[static_cast<std::size_t>(i)];
      if (source != i && source < store.type.count) return false;
    }
    for (int i = 0; i < store.type.count; ++i) {
      const int source = sources[static_cast<std::size_t>(i)];
      if (source == i) continue;
      const std::string value = fmt::format("%rung.component{}", counter_++);
      text_ += fmt::format("  {} = extractelement {}, i64 {}{}\n", value, other,
                           source - store.type.count, store.debug);
      store_one(store, fmt::format("{} {}", store.type.element, value), fmt::format("i64 {}", i));
    }
    return true;
  }

  void store_one(const Store& store, Text element, Text index) {
    const std::string at = fmt::format("%rung.at{}", counter_++);
    text_ += fmt::format("  {} = getelementptr {}, {}, {}{}\n", at, store.type.element,
                         store.pointer, index, store.debug);
    text_ += fmt::format("  store {}, {}{}, align {}{}\n", element,
                         store.pointer.substr(0, store.pointer.rfind(' ') + 1), at,
                         element_bytes(store.type.element), store.debug);
  }

  std::string text_;
  int counter_ = 0;
  std::unordered_map<Text, Text> lines_;
};

}  // namespace

std::string store_components(const std::string& module) { return ComponentStores().run(module); }

std::string generic_constants(const std::string& module) {
  std::string text = module;
  replace_all(text, "ptr addrspace(6)", "ptr");
  replace_all(text, " addrspace(6)", "");
  replace_all(text, ".p6", ".p0");
  // The other casts have become casts of a type to itself.
  std::string result;
  for (const Text line : split_lines(text)) {
    std::string changed(line);
    for (std::size_t at = 0; (at = changed.find("addrspacecast ", at)) != changed.npos; ++at) {
      const bool is_constant = changed[at + 14] == '(';
      const Text operand = Text(changed).substr(at + 14 + (is_constant ? 1 : 0));
      const Text to = after(operand, " to ");
      if (operand.starts_with("ptr ") && !operand.starts_with("ptr addrspace") &&
          to.starts_with("ptr") && !to.starts_with("ptr addrspace")) {
        changed.replace(at, 13, "bitcast");
      }
    }
    result.append(changed).append("\n");
  }
  return result;
}

std::string internal_functions(const std::string& module, const std::vector<std::string>& entries) {
  std::string result;
  for (const Text line : split_lines(module)) {
    std::string changed(line);
    const Text name = function_name(line);
    if (!name.empty() && std::ranges::find(entries, name) == entries.end()) {
      Text rest = line.substr(define.size());
      for (const Text word : {"linkonce_odr ", "weak_odr ", "internal ", "dso_local ", "hidden "}) {
        if (rest.starts_with(word)) rest.remove_prefix(word.size());
      }
      changed = "define internal " + std::string(rest);
      const std::size_t comdat = changed.find(" comdat", changed.rfind(')'));
      if (comdat != changed.npos) changed.erase(comdat, 7);
    }
    result.append(changed).append("\n");
  }
  return result;
}

std::string forbidden_conversion(const std::string& module) {
  const Metadata metadata(module);
  std::unordered_map<std::string_view, Text> casts;  // the space of the pointer, by the new pointer
  for (const Text line : split_lines(module)) {
    if (line.starts_with(define)) casts.clear();
    const Text from = after(line, " = addrspacecast ptr addrspace(");
    if (!from.empty() && !defined(line).empty()) {
      const Text space = from.starts_with('1')   ? Text("device")
                         : from.starts_with('3') ? Text("threadgroup")
                                                 : Text("constant");
      const Text to = after(from, " to ");
      const bool to_thread = to.starts_with("ptr") && !to.starts_with("ptr addrspace(");
      if (to_thread || to.starts_with("ptr addrspace(1)")) casts[defined(line)] = space;
      continue;
    }
    const auto [value, is_to_device] = converted_pointer(line);
    const auto found = casts.find(value);
    if (found == casts.end()) continue;
    return fmt::format(
        "{}: error: cannot initialize a pointer to {} memory with a pointer to {} memory\n",
        metadata.position(line), is_to_device ? "device" : "thread", found->second);
  }
  return {};
}

std::vector<Type> take_layouts(std::string& module, const std::string& entry) {
  std::vector<Type> types;
  {
    const Metadata metadata(module);
    std::string callee;
    bool is_inside = false;
    Text subprogram;
    for (const Text line : split_lines(module)) {
      if (const Text name = function_name(line); !name.empty()) {
        is_inside = name == entry;
        if (!callee.empty() && name == callee) subprogram = after(line, "!dbg ");
      }
      if (line == "}") is_inside = false;
      const Text call = after(line, "call void @");
      if (is_inside && !call.empty() && !call.starts_with("llvm.")) {
        callee = call.substr(0, call.find('('));
      }
    }
    if (!subprogram.empty()) {
      types = metadata.parameter_types(subprogram.substr(0, subprogram.find_first_of(" ,{")));
    }
  }
  replace_all(module, "emissionKind: FullDebug", "emissionKind: DebugDirectivesOnly");
  return types;
}

}  // namespace rung::emu::metal
