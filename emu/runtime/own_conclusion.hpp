#pragma once
// The end of a program that runs by itself, without `rung emu`: it reports its hazards on standard error,
// in files for CI, and by its exit code (emu/runtime/options.hpp).

#include <mutex>
#include <string>
#include <vector>

#include "emu/reports/conclusion.hpp"

namespace rung::emu {

class OwnConclusion {
 public:
  /// Lives until the process ends. Reads the environment; ends the process with exit code 2 if that
  /// cannot be read.
  static OwnConclusion& get();

  /// A record, as in runtime/report.hpp.
  void add(const std::string& kind, const Json& content);
  /// Does not return if the exit code changes. A process without any records says nothing.
  void conclude();

 private:
  OwnConclusion();

  std::mutex mutex_;
  bool has_records_ = false;
  Reports reports_;
  std::vector<std::string> errors_;  // why calls failed
  std::string interrupted_;          // the line about the signal that ends the program
  std::string skipped_;              // a line for each kernel whose launches were skipped
  ReportOptions options_;
};

}  // namespace rung::emu
