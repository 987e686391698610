#pragma once
// One line of progress on the terminal: the current activity and the remaining time. It is erased
// at the end.

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
  /// The same with the completed share of the work, from 0 to 1, and an estimate of the remaining
  /// time. `work` identifies the work: its clock starts when it is first shown.
  void show(const std::string& text, const std::string& work, double done);
  void clear();

 private:
  bool enabled_;
  bool shown_ = false;
  std::string work_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace rung
