#pragma once
// Kernels that device code launches by a name which stands for several: those that are overloaded, and
// templates whose arguments the call leaves to be deduced. Each gets a function of the device beside
// it, with the same template arguments and parameters, so that the compiler chooses among them as it
// does for a launch of the host.

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "emu/compile/source/statements.hpp"

namespace rung::emu {

/// A kernel's name in a launch, and how many template arguments follow it.
struct LaunchedName {
  std::size_t token;
  std::size_t arguments;
};

/// In the tokens from `first` up to `end`, which are the callee of a launch.
LaunchedName launched_name(const Tokens& tokens, std::size_t first, std::size_t end);

class KernelLaunchers {
 public:
  /// No kernel needs one.
  KernelLaunchers() = default;
  /// For the sources and headers of a program, by their paths.
  explicit KernelLaunchers(const std::map<std::string, std::string>& files);

  /// True if a launch of this name becomes a call of the function rung_emu_launch_NAME.
  bool is_called(std::string_view name, std::size_t arguments) const;
  /// The function for the kernel that this statement of the file declares; empty if it needs none, or
  /// another declaration has it.
  std::string function_for(const std::string& file, std::string_view text, const Tokens& tokens,
                           const Statement& statement) const;

 private:
  struct Kernel {
    std::size_t template_parameters = 0;
    bool is_definition = true;  // what declares the function
    bool is_defined = false;    // anywhere
    std::string file;
  };

  void note_kernels(const std::string& file, std::string_view text);
  void drop_other_spellings();
  void note_launches(std::string_view text);

  std::map<std::string, std::map<std::string, Kernel>, std::less<>> kernels_;  // by name and types
  std::set<std::string, std::less<>> called_;
};

}  // namespace rung::emu
