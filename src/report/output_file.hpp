#pragma once
// Results leave this program whole or not at all.

#include <string>

namespace rung {

/// Where --json goes: a file, or standard output for "-".
class OutputFile {
 public:
  /// Finds out before any work is done whether the file can be written; leaves no trace. Throws
  /// std::runtime_error with path and reason if not.
  explicit OutputFile(std::string path);

  bool is_stdout() const { return path_ == "-"; }

  /// The file appears under its name, or replaces the one there, when all of it has been written.
  /// Throws as above.
  void write(const std::string& text) const;

 private:
  int open_draft() const;
  [[noreturn]] void fail(int error) const;

  std::string path_;
  std::string
      draft_;  // beside path_, so that a rename will do; empty for what cannot be renamed to
};

}  // namespace rung
