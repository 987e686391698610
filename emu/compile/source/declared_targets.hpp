#pragma once
// Functions that are declared __host__ __device__, or __device__, and defined without these words, and
// templates of such functions that are instantiated without them, which nvcc takes. clang takes the
// definition, or the instance, for another function's, and refuses it.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "emu/compile/source/source_text.hpp"

namespace rung::emu {

/// The words in front of functions' declarations, in the sources and headers of a program.
class DeclaredTargets {
 public:
  /// Reads all files of a program, because a class and its functions may be in different files.
  explicit DeclaredTargets(const std::vector<std::string_view>& files);

  /// The text, with these words in front of the names of the functions that it defines, or
  /// instantiates, without.
  Edits repeat_in(const SourceText& source) const;

 private:
  void note_macros(std::string_view text);
  void note_declarations(std::string_view text);
  void note_template(std::string_view name, const std::string& words);
  bool is_target(std::string_view word) const;

  std::vector<std::string> macros_;  // that stand for such words
  // By class or namespace, name and types of parameters. Empty where declarations do not agree.
  std::map<std::string, std::string> words_;
  // The words of function templates, by name; empty where templates of one name differ.
  std::map<std::string, std::string, std::less<>> template_words_;
};

}  // namespace rung::emu
