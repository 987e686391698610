#pragma once
// One line on the terminal that says what is going on and how long it will take, and leaves no
// trace.

#include <chrono>
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
  /// The same with the share of a piece of work that is done, from 0 to 1, and the time that the
  /// rest takes if it goes on like this. `work` names the piece: its clock begins when it is shown
  /// first.
  void show(const std::string& text, const std::string& work, double done);
  void clear();

 private:
  bool enabled_;
  bool shown_ = false;
  std::string work_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace rung
