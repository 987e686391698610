#pragma once
// The command line, on top of CLI11. That library is header-only and costs seconds in each file
// that includes it; so only command_line.cpp does, and commands use this interface. Names are
// CLI11's.

#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "command.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace rung {

/// An argument of a command, after it was added.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(option) {}
  /// The name of its value in the help; empty for none.
  Option* type_name(const std::string& name);
  Option* required();
  /// The exact number of values.
  Option* expected(int count);
  Option* delimiter(char between);
  /// Several occurrences are combined.
  Option* take_all();
  /// A value each time that it is given, so that a positional argument may follow.
  Option* one_at_a_time();
  /// The help shows the variable's current value as the default.
  Option* capture_default_str();
  /// An empty value is a value; without this it is an error.
  Option* may_be_empty();

  /// Throws UsageError for an empty value that is none.
  void check() const;

 private:
  CLI::Option& option_;
  bool may_be_empty_ = false;
};

/// The arguments of one command. Variables outlive the parsing.
class Options {
 public:
  explicit Options(CLI::App& app) : app_(app) {}
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  Option* add_option(const std::string& names, std::string& value, const std::string& help);
  Option* add_option(const std::string& names, std::vector<std::string>& values,
                     const std::string& help);
  void add_flag(const std::string& names, bool& value, const std::string& help);
  void add_flag_callback(const std::string& names, std::function<void()> given,
                         const std::string& help);
  /// The text after the options.
  void footer(const std::string& text);
  /// Sees the words behind the command's name first; returns those that remain to be parsed. May
  /// throw UsageError.
  void prepare(std::function<std::vector<std::string>(const std::vector<std::string>&)> by);
  std::vector<std::string> prepared(const std::vector<std::string>& words) const;

  /// Throws UsageError for what was given and cannot be, whatever it means.
  void check() const;

 private:
  CLI::App& app_;
  std::deque<Option> options_;  // at stable addresses
  std::function<std::vector<std::string>(const std::vector<std::string>&)> prepare_;
};

struct Command {
  const char* name;
  const char* summary;
  Action (*add)(Options& app);
};

struct Program {
  const char* description;
  const char* footer;
  std::span<const Command> commands;
};

/// Parses the command line. Throws UsageError.
Action parse(const Program& program, int argc, char** argv);

}  // namespace rung
