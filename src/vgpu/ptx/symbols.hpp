#pragma once
// The meaning of names: functions and variables of the module, and registers, parameters and
// variables of the function being parsed, scope by scope.

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "vgpu/ptx/module.hpp"
#include "vgpu/ptx/scoped_map.hpp"

namespace rung::vgpu::ptx {

class Symbols {
 public:
  /// What a name resolves to: the register `reg` and, if it is a vector, the width - 1 after it; or
  /// (reg < 0) a variable or function by its name in the Module.
  struct Symbol {
    int reg = -1;
    int width = 1;
    std::string name;
  };

  Symbols() { symbols_.open(); }

  /// A variable or function of the module; false if a function or variable of that name exists.
  bool declare_global(std::string_view name);

  /// Begins and ends the parsing of a function, to which registers are added when they are used.
  void enter(Function& function);
  void leave();

  void open_scope();
  void close_scope();
  /// Open scopes of the function.
  std::size_t depth() const { return symbols_.depth() - 1; }

  // Each returns false if the innermost scope already contains the name.
  bool declare_register(std::string_view name, Type type, int width);
  /// `.reg .b32 %r<37>`: %r0 to %r36, which are added to the function when first used.
  bool declare_registers(std::string_view prefix, Type type, int width, std::int64_t count);
  /// Renames the variable if the name is already used.
  bool declare_variable(std::string_view name, Variable& variable);

  std::optional<Symbol> find(std::string_view name);

 private:
  struct Range {
    Type type;
    int width;
    std::int64_t count;
    std::unordered_map<std::int64_t, int> used;  // number to register
  };
  struct Numbered {
    ScopedMap<Range>::Entry* range = nullptr;
    std::int64_t number = 0;
  };

  Numbered find_numbered(std::string_view name);
  int add_register(std::string_view name, Type type, int width);

  ScopedMap<Symbol> symbols_;
  ScopedMap<Range> ranges_;
  std::unordered_set<std::string_view> globals_;
  std::unordered_map<std::string_view, int> variables_;  // of the function: how many of a name
  Function* function_ = nullptr;
};

}  // namespace rung::vgpu::ptx
