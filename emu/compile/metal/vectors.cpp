// Vectors are clang's ext_vector_type, which has neither constructors of several arguments nor
// conversions of elements. Both become calls of metal::rung_detail::make<T>(…), also for types that may
// be vectors: parameters of templates and aliases.

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "emu/compile/metal/passes.hpp"

namespace rung::emu::metal {
namespace {

class VectorRewriter {
 public:
  explicit VectorRewriter(Source& source) : source_(source) {
    for (const char* const scalar : {"char", "uchar", "short", "ushort", "int", "uint", "long",
                                     "ulong", "half", "bfloat", "float", "bool"}) {
      for (const char* const size : {"2", "3", "4"}) {
        for (const char* const prefix : {"", "simd_", "vector_"}) {
          vectors_.insert(std::string(prefix) + scalar + size);
        }
      }
    }
    maybe_ = {"half", "bfloat"};  // between which clang does not convert
    for (std::size_t at = 0; at < source_.size(); ++at) read_name(at);
    for (std::size_t at = 0; at < source_.size(); ++at) note_parameters(at);
    for (std::size_t at = 0; at < source_.size(); ++at) {
      const auto type = type_at(at);
      if (!type || !is_bool(*type)) continue;
      const std::size_t name = source_.next(type->last);
      if (source_.is_word(name)) truths_.insert(source_[name].text);
    }
  }

  void run() {
    for (std::size_t at = 0; at < source_.size(); ++at) {
      if (source_.is(at, "static_cast")) {
        static_cast_to(at);
      } else if (source_.is(at, "?")) {
        conditional(at);
      } else if (source_.is(at, "{")) {
        argument(at);
      } else if (source_.is(at, "return")) {
        returned(at);
      } else if (source_.is(at, "=") && truths_.contains(source_[source_.previous(at)].text)) {
        assigned(at);
      } else if (const auto type = type_at(at)) {
        if (!c_cast(*type)) parameter(*type) || variable(*type) || constructor(*type);
      }
    }
  }

 private:
  /// The tokens [begin, last] of a type that may be a vector.
  struct TypeTokens {
    std::size_t begin, last;
    bool is_vector;  // otherwise it may be
  };

  /// Notes the names of types: `using V = float4;`, `typedef float4 V;`, `template <typename T>`.
  void read_name(std::size_t at) {
    if (source_.is(at, "typename") || source_.is(at, "class")) {
      const std::size_t name = source_.next(at), after = source_.next(name);
      if (source_.is_word(name) &&
          (source_.is(after, ",") || source_.is(after, ">") || source_.is(after, "="))) {
        maybe_.insert(source_[name].text);
      }
    } else if (source_.is(at, "using")) {
      const std::size_t name = source_.next(at), equals = source_.next(name);
      if (source_.is_word(name) && source_.is(equals, "=")) {
        std::size_t end = source_.next(equals);
        while (end < source_.size() && !source_.is(end, ";")) end = source_.next(end);
        note_alias(source_[name].text, source_.next(equals), end);
      }
    } else if (source_.is(at, "typedef")) {
      std::size_t last = source_.size();
      for (std::size_t each = source_.next(at); each < source_.size(); each = source_.next(each)) {
        if (source_.is(each, "__attribute__")) {  // ((ext_vector_type(8)))
          const std::size_t word = source_.next(source_.next(source_.next(each)));
          if (source_.is(word, "ext_vector_type")) vectors_.insert(source_[last].text);
          return;
        }
        if (source_.is(each, "(") || source_.is(each, "{") || source_.is(each, "[")) return;
        if (source_.is(each, ";")) break;
        last = each;
      }
      if (last < source_.size() && source_.is_word(last)) {
        note_alias(source_[last].text, source_.next(at), last);
      }
    }
  }

  /// The alias `name` of the type in tokens [type, end).
  void note_alias(const std::string& name, std::size_t type, std::size_t end) {
    std::size_t last = type;
    for (std::size_t each = type; each < end; each = source_.next(each)) {
      if (source_.is(each, "*") || source_.is(each, "&") || source_.is(each, "(") ||
          source_.is(each, "[")) {
        return;
      }
      last = each;
    }
    const auto vector = type_at(type);
    const bool is_vector = vector && vector->is_vector && vector->last == last;
    // An alias of a scalar or a class is not rewritten.
    const bool is_dependent = source_.is(type, "typename") || source_.is(type, "conditional_t") ||
                              source_.is(type, "metal") || source_.is(type, "decltype") ||
                              source_.is(source_.next(type), "<");
    if (is_vector) vectors_.insert(name);
    if (!is_vector && is_dependent) maybe_.insert(name);
  }

  /// Notes the types of the parameters of a function that a declaration names at `at`.
  void note_parameters(std::size_t at) {
    const std::size_t open = source_.next(at);
    if (!source_.is_word(at) || !source_.is(open, "(") || is_code(at) ||
        source_.in_parentheses(at) || source_.partner(open) >= source_.size()) {
      return;
    }
    std::vector<std::string> types(1);
    bool is_address = false;
    for (std::size_t each = source_.next(open); each < source_.partner(open);
         each = source_.next(each)) {
      const auto type = type_at(each);
      if (source_.is(each, "(") || source_.is(each, "[") || source_.is(each, "{")) {
        is_address = is_address || source_.is(each, "[");
        each = source_.partner(each);
      } else if (source_.is(each, ",")) {
        if (is_address) types.back().clear();
        types.emplace_back();
        is_address = false;
      } else if (type && type->is_vector && type->begin == type->last) {
        types.back() = name_of(*type);
      }
      is_address = is_address || source_.is(each, "*");
    }
    if (is_address) types.back().clear();
    parameters_[source_[at].text].push_back(std::move(types));
  }

  /// f({a, b}) of a function of the file whose parameter is a vector in each of its overloads: clang
  /// converts no list to its vectors there.
  void argument(std::size_t brace) {
    const std::size_t open = source_.around(brace), close = source_.partner(brace);
    const std::size_t before = source_.previous(brace);
    if (!source_.is(open, "(") || close >= source_.size() || source_.next(brace) == close) return;
    if (!source_.is(before, "(") && !source_.is(before, ",")) return;
    const auto found = parameters_.find(source_[source_.previous(open)].text);
    if (found == parameters_.end() || !is_code(open)) return;
    std::size_t index = 0;
    for (std::size_t at = source_.next(open); at < brace; at = source_.next(at)) {
      if (source_.is(at, ",")) ++index;
      // Lists before this one have other texts by now.
      if (source_.partner(at) < source_.size()) at = source_.partner(at);
    }
    for (std::size_t at = source_.next(brace); at < close; at = source_.next(at)) {
      if (source_.is(at, "{") || source_.is(source_.next(brace), ".")) return;
    }
    std::string type;
    for (const std::vector<std::string>& types : found->second) {
      if (index >= types.size()) continue;
      if (types[index].empty() || (!type.empty() && types[index] != type)) return;
      type = types[index];
    }
    if (type.empty()) return;
    source_[brace].text = "::metal::rung_detail::make<" + type + ">(";
    source_[close].text = ")";
  }

  std::optional<TypeTokens> type_at(std::size_t at) const {
    if (!source_.is_word(at)) return std::nullopt;
    std::size_t word = at;
    if (source_.is(at, "metal") || source_.is(at, "simd")) {
      if (!source_.is(source_.next(at), "::")) return std::nullopt;
      word = source_.next(source_.next(at));
    }
    const std::size_t before = source_.previous(at);
    if (source_.is(before, "::") || source_.is(before, ".") || source_.is(before, "->")) {
      return std::nullopt;
    }
    if (!source_.is_word(word)) return std::nullopt;
    const std::string& name = source_[word].text;
    if (name == "vec" && source_.is(source_.next(word), "<")) {
      const std::size_t close = source_.after_angles(source_.next(word));
      if (close < source_.size()) return TypeTokens{at, close, true};
    }
    if (vectors_.contains(name)) return TypeTokens{at, word, true};
    if (word == at && maybe_.contains(name) && !source_.is(source_.next(at), "<")) {
      return TypeTokens{at, word, false};
    }
    return std::nullopt;
  }

  bool is_code(std::size_t at) const {
    const Source::Scope scope = source_.scope(at);
    return scope == Source::Scope::function || scope == Source::Scope::initializer;
  }
  /// Code, or the initializer of a variable or a member.
  bool is_expression(std::size_t at) const {
    if (is_code(at)) return true;
    if (source_.in_parentheses(at)) {
      const std::size_t open = source_.around(at);
      return source_.is(open, "(") && is_initialized_before(open);
    }
    return is_initialized_before(at);
  }
  bool is_initialized_before(std::size_t at) const {
    for (std::size_t each = source_.statement(at); each < at; each = source_.next(each)) {
      if (source_.is(each, "(")) each = source_.partner(each);
      if (source_.is(each, "=") || source_.is(each, ":") || source_.is(each, "return")) return true;
    }
    return false;
  }

  std::string name_of(const TypeTokens& type) const {
    return source_.text(type.begin, type.last + 1);
  }
  bool is_bool(const TypeTokens& type) const {
    const std::string name = name_of(type);
    return name.ends_with("bool2") || name.ends_with("bool3") || name.ends_with("bool4");
  }
  std::string make(const TypeTokens& type) const {
    return (is_bool(type) ? "::metal::rung_detail::make_bool<" : "::metal::rung_detail::make<") +
           name_of(type) + ">";
  }
  void replace(const TypeTokens& type, const std::string& text) {
    source_.erase(type.begin, type.last + 1);
    source_[type.begin].text = text;
  }

  /// True if a word before a type or a parenthesis leaves it an expression.
  bool may_precede_expression(std::size_t before) const {
    if (!source_.is_word(before)) return true;
    return source_.is(before, "return") || source_.is(before, "else") ||
           source_.is(before, "case") || source_.is(before, "do");
  }

  /// float4(a, b), float4{a, b}
  bool constructor(const TypeTokens& type) {
    const std::size_t open = source_.next(type.last), before = source_.previous(type.begin);
    const bool has_braces = type.is_vector && source_.is(open, "{");
    if ((!source_.is(open, "(") && !has_braces) || source_.partner(open) >= source_.size()) {
      return false;
    }
    if (!is_expression(type.begin) || !may_precede_expression(before) || source_.is(before, "~")) {
      return false;
    }
    // float4 (*p)[2], and the type of a function: <float4(int)>
    if (source_.is(source_.next(open), "*") &&
        source_.is(source_.next(source_.partner(open)), "[")) {
      return false;
    }
    replace(type, make(type));
    if (has_braces) {
      source_[source_.partner(open)].text = ")";
      source_[open].text = "(";
    }
    if (has_comparison(open)) {
      source_[open].text += "::metal::rung_detail::truth(";
      source_[source_.partner(open)].text += ")";
    }
    return true;
  }

  /// float4 v(a, b); and bool4 v = a < b;
  bool variable(const TypeTokens& type) {
    const std::size_t name = source_.next(type.last), open = source_.next(name);
    if (!source_.is_word(name) || !is_code(type.begin)) return false;
    const std::string& word = source_[name].text;
    if (word == "operator" || word == "const") return false;
    const bool has_braces = type.is_vector && source_.is(open, "{");
    if (source_.is(open, "(") || has_braces) {
      const std::size_t close = source_.partner(open);
      if (close >= source_.size() || source_.next(open) == close) return false;
      const std::size_t after = source_.next(close);
      if (!source_.is(after, ";") && !source_.is(after, ",") && !source_.is(after, ")"))
        return false;
      if (source_.in_parentheses(type.begin) && !source_.is(after, ";")) return false;
      source_[name].text += " = " + make(type);
      if (has_braces) {
        source_[open].text = "(";
        source_[close].text = ")";
      }
      return true;
    }
    if (type.is_vector && is_bool(type) && source_.is(open, "=")) {
      wrap_initializer(type, open);
      return true;
    }
    return false;
  }

  /// The parameter of a function with a body: void f(bool4 c) { takes comparisons, too.
  bool parameter(const TypeTokens& type) {
    const std::size_t name = source_.next(type.last), open = source_.around(type.begin);
    if (!is_bool(type) || !source_.is_word(name) || !source_.is(open, "(")) return false;
    const std::size_t after = source_.next(name), close = source_.partner(open);
    if (!source_.is(after, ",") && after != close) return false;
    std::size_t body = source_.next(close);
    if (source_.is(body, "const")) body = source_.next(body);
    if (!source_.is(body, "{") || source_.scope(source_.next(body)) != Source::Scope::function ||
        is_code(open)) {
      return false;
    }
    const std::string word = source_[name].text, vector = name_of(type);
    source_[body].text += " " + vector + " " + word + " = rung_" + word + ";";
    source_[name].text = "rung_" + word;
    replace(type, "::metal::rung_detail::Truths<" + vector + ">");
    return true;
  }

  /// A comparison returned by bool4 f(…) {.
  void returned(std::size_t at) {
    std::size_t body = source_.around(at);
    while (body < source_.size() && source_.scope(body) == Source::Scope::function) {
      if (source_.is(body, "(") || source_.is(source_.previous(body), "]")) return;
      body = source_.around(body);
    }
    std::size_t close = source_.previous(body);
    while (close < source_.size() && source_.is_word(close)) close = source_.previous(close);
    if (!source_.is(close, ")")) return;
    const std::size_t name = source_.previous(source_.partner(close));
    const std::size_t word = source_.previous(name);
    const auto type = source_.is_word(name) && source_.is_word(word) ? type_at(word) : std::nullopt;
    if (type && is_bool(*type)) wrap_initializer(*type, at);
  }

  /// c = a < b; of a variable that may be a vector of bool.
  void assigned(std::size_t equals) {
    const std::size_t name = source_.previous(equals), before = source_.previous(name);
    const bool begins = source_.is(before, ";") || source_.is(before, "{") ||
                        source_.is(before, "}") || source_.is(before, ")");
    if (!begins || source_.scope(equals) != Source::Scope::function) return;
    const std::size_t last = end_of_expression(equals);
    if (last == equals) return;
    source_[equals].text =
        "= ::metal::rung_detail::truth_for<decltype(" + source_[name].text + ")>(";
    source_[last].text += ")";
  }

  /// The last token before the `;` or `,` after `at`.
  std::size_t end_of_expression(std::size_t at) const {
    std::size_t last = at;
    for (at = source_.next(at); at < source_.size(); at = source_.next(at)) {
      if (source_.is(at, "(") || source_.is(at, "[") || source_.is(at, "{")) {
        at = source_.partner(at);
        if (at >= source_.size()) return last;
      } else if (source_.is(at, ";") || source_.is(at, ",") || source_.is(at, ")")) {
        break;
      }
      last = at;
    }
    return last;
  }

  void wrap_initializer(const TypeTokens& type, std::size_t equals) {
    std::size_t last = equals;
    for (std::size_t at = source_.next(equals); at < source_.size(); at = source_.next(at)) {
      if (source_.is(at, "(") || source_.is(at, "[") || source_.is(at, "{")) {
        // A comparison among vectors of bool is one of them.
        const bool is_call = source_.is_word(source_.previous(at)) || source_.is(at, "[");
        if (!is_call && has_comparison(at)) source_[at].text.insert(0, make(type));
        at = source_.partner(at);
        if (at >= source_.size()) return;
      } else if (is_template_argument(at)) {
        at = source_.after_angles(at);
      } else if (source_.is(at, ";") || source_.is(at, ",")) {
        break;
      }
      last = at;
    }
    if (last == equals) return;
    source_[equals].text += " " + make(type) + "(";
    source_[last].text += ")";
  }

  /// True for the `<` of f<int>(x).
  bool is_template_argument(std::size_t at) const {
    if (!source_.is(at, "<")) return false;
    const std::size_t close = source_.after_angles(at);
    return close < source_.size() && source_.is(source_.next(close), "(");
  }

  /// True if the parentheses contain a comparison that is not in others, and no list.
  bool has_comparison(std::size_t open) const {
    bool found = false;
    const std::size_t end = source_.partner(open);
    for (std::size_t at = source_.next(open); at < end; at = source_.next(at)) {
      if (source_.is(at, "(") || source_.is(at, "[") || source_.is(at, "{")) {
        at = source_.partner(at);
      } else if (is_template_argument(at)) {
        at = source_.after_angles(at);
      } else if (source_.is(at, ",") || source_.is(at, "?")) {
        return false;
      } else {
        found = found || source_.is(at, "<") || source_.is(at, ">") || source_.is(at, "==") ||
                source_.is(at, "!=") || source_.is(at, "<=") || source_.is(at, ">=");
      }
    }
    return found;
  }

  /// (float4)x
  bool c_cast(const TypeTokens& type) {
    std::size_t open = source_.previous(type.begin);
    if (source_.is(open, "const") || source_.is(open, "thread")) open = source_.previous(open);
    const std::size_t close = source_.next(type.last);
    if (!source_.is(open, "(") || !source_.is(close, ")") || !is_expression(open)) return false;
    const std::size_t before = source_.previous(open);
    if (!may_precede_expression(before) || source_.is(before, ">") || source_.is(before, ")") ||
        source_.is(before, "]")) {
      return false;
    }
    const std::size_t last = end_of_operand(source_.next(close));
    if (last >= source_.size()) return false;
    const std::string text = make(type);
    source_.erase(open, close + 1);
    source_[open].text = text + "(";
    source_[last].text += ")";
    return true;
  }

  /// The last token of the operand of a cast; size() without an operand.
  std::size_t end_of_operand(std::size_t at) const {
    while (source_.is(at, "-") || source_.is(at, "!") || source_.is(at, "~") ||
           source_.is(at, "*") || source_.is(at, "&")) {
      at = source_.next(at);
    }
    std::size_t last = source_.size();
    if (source_.is(at, "(")) {
      last = source_.partner(at);
      // A cast of a cast.
      const std::size_t after = source_.next(last);
      const bool is_operand = source_.is_word(after) || source_.is(after, "(") ||
                              (after < source_.size() && source_[after].kind == TokenKind::number);
      const auto type = type_at(source_.next(at));
      const bool is_type = (type && source_.next(type->last) == last) ||
                           (source_.is_word(source_.next(at)) &&
                            source_.next(source_.next(at)) == last && source_.is_word(after));
      if (is_type && is_operand) return end_of_operand(after);
    } else if (at < source_.size() &&
               (source_[at].kind == TokenKind::number || source_.is_word(at))) {
      last = at;
      if (source_.is_word(at)) last = end_of_name(at);
    } else {
      return source_.size();
    }
    for (;;) {
      const std::size_t after = source_.next(last);
      if (source_.is(after, ".") || source_.is(after, "->")) {
        last = end_of_name(source_.next(after));
      } else if (source_.is(after, "(") || source_.is(after, "[")) {
        last = source_.partner(after);
        if (last >= source_.size()) return last;
      } else if (source_.is(after, "++") || source_.is(after, "--")) {
        last = after;
      } else {
        return last;
      }
    }
  }

  /// a::b<c>
  std::size_t end_of_name(std::size_t at) const {
    for (;;) {
      std::size_t after = source_.next(at);
      if (source_.is(after, "<")) {
        const std::size_t close = source_.after_angles(after);
        const std::size_t behind = close < source_.size() ? source_.next(close) : close;
        if (source_.is(behind, "(") || source_.is(behind, "::")) {
          at = close;
          after = behind;
        }
      }
      if (!source_.is(after, "::")) return at;
      at = source_.next(after);
    }
  }

  void static_cast_to(std::size_t at) {
    const std::size_t open = source_.next(at);
    if (!source_.is(open, "<")) return;
    const std::size_t close = source_.after_angles(open);
    if (close >= source_.size()) return;
    for (std::size_t each = open; each < close; each = source_.next(each)) {
      if (source_.is(each, "*") || source_.is(each, "&") || source_.is(each, "&&")) return;
    }
    source_[at].text = "::metal::rung_detail::make";
  }

  /// c ? x : in[i], whose operands may be structures in different address spaces.
  void conditional(std::size_t question) {
    if (source_.scope(question) != Source::Scope::function) return;
    const std::size_t second = source_.next(question);
    load_operand(second);
    const std::size_t colon = end_of_element(second);
    if (colon < source_.size() && source_.is(source_.next(colon), ":")) {
      load_operand(source_.next(source_.next(colon)));
      return;
    }
    int depth = 0;
    for (std::size_t at = second; at < source_.size(); at = source_.next(at)) {
      if (source_.is(at, "(") || source_.is(at, "[") || source_.is(at, "{")) {
        at = source_.partner(at);
      } else if (source_.is(at, "?")) {
        ++depth;
      } else if (source_.is(at, ":") && depth-- == 0) {
        return load_operand(source_.next(at));
      } else if (source_.is(at, ";") || source_.is(at, ")")) {
        return;
      }
    }
  }

  /// The last token of a name with subscripts and members; size() if it is something else.
  std::size_t end_of_element(std::size_t at) const {
    if (!source_.is_word(at)) return source_.size();
    for (;;) {
      const std::size_t after = source_.next(at);
      if (source_.is(after, "[")) {
        at = source_.partner(after);
        if (at >= source_.size()) return at;
      } else if ((source_.is(after, ".") || source_.is(after, "->")) &&
                 source_.is_word(source_.next(after))) {
        at = source_.next(after);
      } else {
        return at;
      }
    }
  }

  void load_operand(std::size_t first) {
    const std::size_t last = end_of_element(first);
    if (last >= source_.size() || !source_.is(last, "]")) return;
    const std::size_t after = source_.next(last);
    if (!source_.is(after, ":") && !source_.is(after, ";") && !source_.is(after, ",") &&
        !source_.is(after, ")")) {
      return;
    }
    const std::string text = source_.text(first, last + 1);
    source_[first].text.insert(
        0, "static_cast<::metal::rung_detail::operand_t<decltype((" + text + "))>>(");
    source_[last].text += ")";
  }

  Source& source_;
  std::set<std::string> vectors_, maybe_;
  std::set<std::string> truths_;  // variables of vectors of bool
  /// The vector types of parameters, empty for others, of each overload by the function's name.
  std::map<std::string, std::vector<std::vector<std::string>>> parameters_;
};

}  // namespace

void rewrite_vectors(Source& source) { VectorRewriter(source).run(); }

}  // namespace rung::emu::metal
