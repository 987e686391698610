#pragma once
// Name resolution: functions and variables of the module, and registers, parameters and variables
// of the function being parsed, by scope.

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
  /// The meaning of a name: register `reg`, with width - 1 more after it if it is a vector; or, if
  /// reg < 0, a variable or function, by its name in the Module.
  struct Symbol {
    int reg = -1;
    int width = 1;
    std::string name;
  };

  Symbols() { symbols_.open(); }

  /// Declares a variable or function of the module. Returns false if the name is already used.
  bool declare_global(std::string_view name);

  /// Start and end the parsing of a function. Registers are added to it at their first use.
  void enter(Function& function);
  void leave();

  void open_scope();
  void close_scope();
  /// The number of open scopes of the function.
  std::size_t depth() const { return symbols_.depth() - 1; }

  // Each returns false if the innermost scope already contains the name.
  bool declare_register(std::string_view name, Type type, int width);
  /// Declares a range such as `.reg .b32 %r<37>`: %r0 to %r36, added to the function at their first
  /// use.
  bool declare_registers(std::string_view prefix, Type type, int width, std::int64_t count);
  /// Declares a variable, and renames it if the name is already used.
  bool declare_variable(std::string_view name, Variable& variable);

  std::optional<Symbol> find(std::string_view name);

 private:
  struct Range {
    Type type;
    int width;
    std::int64_t count;
    std::unordered_map<std::int64_t, int> used;  // maps number to register
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
  // The function's variables: how often each name is used.
  std::unordered_map<std::string_view, int> variables_;
  Function* function_ = nullptr;
};

}  // namespace rung::vgpu::ptx
