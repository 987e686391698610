#pragma once
// Writes output files completely or not at all.

#include <string>

namespace rung {

/// The destination of --json: a file, or standard output for "-".
class OutputFile {
 public:
  /// Checks, before any work is done, whether the file can be written, without leaving a trace.
  /// Throws std::runtime_error with path and reason if not.
  explicit OutputFile(std::string path);

  bool is_stdout() const { return path_ == "-"; }
  /// Whether each write() replaces what the one before has written; other files are appended to.
  bool is_replaced() const { return !draft_.empty(); }

  /// The file appears under its name, or replaces an existing one, only when all of it has been
  /// written. Throws as above.
  void write(const std::string& text) const;

 private:
  int open_draft() const;
  [[noreturn]] void fail(int error) const;

  std::string path_;
  std::string draft_;  // next to path_, so that it can be renamed; empty if renaming is impossible
};

}  // namespace rung
