#pragma once
// One line on the terminal that says what is going on, and leaves no trace.

#include <string>

namespace rung {

/// Writes to standard error, and only if that is a terminal.
class Progress {
 public:
  Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  void show(const std::string& text);
  void clear();

 private:
  bool enabled_;
  bool shown_ = false;
};

}  // namespace rung
