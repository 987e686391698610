// The names that a kernel's code may use. Overloads count as one name.

#include <map>
#include <utility>
#include <vector>

#include "emu/compile/metal/passes.hpp"

namespace rung::emu::metal {
namespace {

using Range = std::pair<std::size_t, std::size_t>;

/// The declarations outside of functions and classes, by the names that they declare.
class DeclaredNames {
 public:
  explicit DeclaredNames(const Source& source) : source_(source) {
    std::size_t at = 0;
    if (source.size() > 0 && source[0].kind != TokenKind::word) at = source.next(0);
    while (at < source.size()) {
      const std::size_t end = end_of(at);
      note(at, end);
      at = source.next(end);
    }
  }

  const std::vector<Range>& of(const std::string& name) const {
    static const std::vector<Range> none;
    const auto found = ranges_.find(name);
    return found == ranges_.end() ? none : found->second;
  }

 private:
  /// The last token of the declaration that begins at `at`; of a namespace, its opening brace.
  std::size_t end_of(std::size_t at) const {
    const bool is_namespace =
        source_.is(at, "namespace") || source_.is(at, "extern") ||
        (source_.is(at, "inline") && source_.is(source_.next(at), "namespace"));
    for (; at < source_.size(); at = source_.next(at)) {
      if (source_.is(at, ";") || source_.is(at, "}")) return at;
      if (source_.is(at, "(") || source_.is(at, "[")) at = source_.partner(at);
      if (!source_.is(at, "{")) continue;
      if (is_namespace) return at;
      at = source_.partner(at);
      const std::size_t after = source_.next(at);
      const bool goes_on =
          source_.is(after, ";") || source_.is(after, ",") || source_.is(after, "{");
      if (!goes_on && !source_.is(source_.previous(after), "=")) return at;
    }
    return source_.size();
  }

  void note(std::size_t first, std::size_t end) {
    const Range range{first, std::min(end + 1, source_.size())};
    const bool is_enum = source_.is(first, "enum");
    for (std::size_t at = first; at < range.second; at = source_.next(at)) {
      if (source_.is(at, "template") && source_.is(source_.next(at), "<")) {
        at = source_.after_angles(source_.next(at));
      } else if (source_.is_attribute(at) || source_.is(at, "(")) {
        at = source_.partner(at);
      } else if (source_.is(at, "{") && !is_enum) {
        at = source_.partner(at);
      } else if (source_.is_word(at) && (is_enum || may_declare(at))) {
        ranges_[source_[at].text].push_back(range);
      }
    }
  }

  bool may_declare(std::size_t at) const {
    for (const char* const word : {"decltype", "alignas", "static_assert", "__attribute__",
                                   "template", "void", "kernel", "const", "constant", "inline"}) {
      if (source_.is(at, word)) return false;
    }
    std::size_t after = source_.next(at);
    if (source_.is(after, "<")) {
      after = source_.next(source_.after_angles(after));
      return source_.is(after, "(") || source_.is(after, "{") || source_.is(after, ";");
    }
    for (const char* const symbol : {"(", "[", "{", "=", ";", ":"}) {
      if (source_.is(after, symbol)) return true;
    }
    return false;
  }

  const Source& source_;
  std::map<std::string, std::vector<Range>> ranges_;
};

}  // namespace

std::set<std::string> reached_names(const Source& source, const std::string& expression) {
  const DeclaredNames declared(source);
  std::set<std::string> reached;
  std::vector<std::string> open;
  const auto reach = [&](const std::string& name) {
    if (reached.insert(name).second) open.push_back(name);
  };
  for (const Token& token : split_tokens(expression).all) {
    if (token.kind == TokenKind::word) reach(token.text);
  }
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    for (const auto& [first, end] : declared.of(name)) {
      for (std::size_t at = first; at < end; at = source.next(at)) {
        if (source.is_word(at)) reach(source[at].text);
      }
    }
  }
  return reached;
}

}  // namespace rung::emu::metal
