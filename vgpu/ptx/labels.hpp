#pragma once
// Labels of a function. A branch may precede its label, and labels are local to their scope.

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vgpu/ptx/lexer.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu::ptx {

class Labels {
 public:
  enum class Kind {
    code,     // of an instruction
    targets,  // of .branchtargets
    callees,  // of .callprototype or .calltargets
  };

  /// An unresolved reference: operand `operand` of instruction `at` or, for a list, entry `operand`
  /// of branch_targets[at].
  struct Reference {
    std::string name;
    Kind kind;
    int line;
    bool in_list;
    std::size_t at;
    std::size_t operand;
  };

  Labels(const Lexer& lexer, Function& function) : lexer_(lexer), function_(function) {}

  void open_scope() { scopes_.emplace_back(); }
  /// Resolves every reference to a label of this scope to the label's final name, and passes the
  /// others to the enclosing scope. Fails if the outermost scope lacks a label.
  void close_scope();

  /// Returns the label's name in the Function, which is different if the name is taken.
  std::string define(std::string_view name, Kind kind, int line);
  void refer(Reference reference) { scopes_.back().references.push_back(std::move(reference)); }

 private:
  struct Label {
    Kind kind;
    std::string name;
  };
  struct Scope {
    std::unordered_map<std::string_view, Label> labels;
    std::vector<Reference> references;
  };

  void resolve(const Reference& reference, const Label& label);
  [[noreturn]] void fail_undefined(const Reference& reference) const;

  const Lexer& lexer_;
  Function& function_;
  std::vector<Scope> scopes_;
  std::unordered_map<std::string_view, int> uses_;  // number of labels with each name
};

}  // namespace rung::vgpu::ptx
