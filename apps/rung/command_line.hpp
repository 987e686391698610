#pragma once
// The command line, by CLI11. All of that library lies in its headers, which cost seconds in each
// file that includes them: so command_line.cpp alone does, and commands see what is here. Names are
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
  /// What its value is called in the help; empty for nothing.
  Option* type_name(const std::string& name);
  Option* required();
  /// Exactly so many values.
  Option* expected(int count);
  Option* delimiter(char between);
  /// Given several times, all values count.
  Option* take_all();
  /// The help tells the value that the variable has now.
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
  /// What stands below the help.
  void footer(const std::string& text);

  /// Throws UsageError for what was given and cannot be, whatever it means.
  void check() const;

 private:
  CLI::App& app_;
  std::deque<Option> options_;  // which stay where they are
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

/// What the command line asks for. Throws UsageError.
Action parse(const Program& program, int argc, char** argv);

}  // namespace rung
