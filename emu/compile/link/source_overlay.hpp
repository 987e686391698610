#pragma once
// Sources that the compiler reads in place of the program's own.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace rung::emu {

class SourceOverlay {
 public:
  /// Files of the overlay begin with the path `object`.
  explicit SourceOverlay(std::filesystem::path object) : object_(std::move(object)) {}

  /// The compiler reads the text in place of the file of that absolute name.
  void replace(const std::string& name, const std::string& text) { texts_[name] = text; }

  /// Writes the texts. Returns the options that make clang read them.
  std::vector<std::string> write() const;

  /// Runs clang's front end with these sources. Where it fails because of keywords that nvcc does not
  /// miss (missing_keywords.hpp), they are inserted, and it runs again. Prints its messages. Throws
  /// CompileError if it fails, Interrupted if a signal came.
  void compile(const std::vector<std::string>& command);

 private:
  bool insert_keywords(const std::string& errors);

  std::filesystem::path object_;
  std::map<std::string, std::string> texts_;
};

}  // namespace rung::emu
