#pragma once
// Writes output files either completely or not at all.

#include <string>

namespace rung {

/// The destination of --json: a file, or standard output for "-".
class OutputFile {
 public:
  /// Checks that the file can be written, without changing anything. Throws std::runtime_error with
  /// path and reason if not.
  explicit OutputFile(std::string path);

  bool is_stdout() const { return path_ == "-"; }
  /// True if each write() replaces the output of the previous one; otherwise, output is appended.
  bool is_replaced() const { return !draft_.empty(); }

  /// Creates or replaces the file atomically, after all of the text has been written. Throws
  /// std::runtime_error with path and reason on failure.
  void write(const std::string& text) const;

 private:
  int open_draft() const;
  [[noreturn]] void fail(int error) const;

  std::string path_;
  std::string draft_;  // in the same directory, for renaming; empty if the output cannot be renamed
};

}  // namespace rung
