#pragma once
// Parses the command line with CLI11. That library is header-only and adds seconds to the
// compilation of each file that includes it, so only command_line.cpp does. Commands use this
// interface, whose names are CLI11's.

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

/// An argument that was added to a command.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(option) {}
  /// Sets the name of the value in the help; empty: the help shows none.
  Option* type_name(const std::string& name);
  Option* required();
  /// Requires exactly `count` values.
  Option* expected(int count);
  Option* delimiter(char between);
  /// Combines the values of all occurrences.
  Option* take_all();
  /// Takes only one value per occurrence, so that a positional argument may follow.
  Option* one_at_a_time();
  /// Shows the variable's current value as the default in the help.
  Option* capture_default_str();
  /// Omits an earlier spelling from the help.
  Option* hidden();
  /// Allows an empty value, which is otherwise an error.
  Option* may_be_empty();
  /// Sets the words that shells complete as the value; without this, they complete file names.
  /// `words` is called only to write the completions.
  Option* offers(std::function<std::vector<std::string>()> words);

  bool is(const CLI::Option& option) const { return &option == &option_; }
  std::vector<std::string> words() const;

  /// Throws UsageError for an empty value of an option that needs one.
  void check() const;

 private:
  CLI::Option& option_;
  bool may_be_empty_ = false;
  std::function<std::vector<std::string>()> words_;
};

/// The arguments of one command. The variables that receive values must outlive the parsing.
class Options {
 public:
  /// An earlier spelling of an option.
  struct Alias {
    std::string old, name;
    bool is_written = false;  // the user wrote `old`
  };

  explicit Options(CLI::App& app) : app_(app) {}
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  Option* add_option(const std::string& names, std::string& value, const std::string& help);
  Option* add_option(const std::string& names, std::vector<std::string>& values,
                     const std::string& help);
  void add_flag(const std::string& names, bool& value, const std::string& help);
  void add_flag_callback(const std::string& names, std::function<void()> given,
                         const std::string& help);
  /// Keeps `old`, an earlier spelling of the option `name`, valid, but not in the help. Errors name
  /// the option as the user wrote it.
  void add_alias(const std::string& old, const std::string& name);
  enum class Kind { unknown, flag, value };
  /// The kind of the option in a word such as --json or --json=FILE.
  Kind kind_of(const std::string& word) const;
  /// Sets the text after the options in the help.
  void footer(const std::string& text);
  /// Sets a function that gets the words after the command's name, and returns those that remain to
  /// be parsed. It may throw UsageError.
  void prepare(std::function<std::vector<std::string>(const std::vector<std::string>&)> by);
  std::vector<std::string> prepared(std::vector<std::string> words);
  const std::vector<Alias>& aliases() const { return aliases_; }

  /// Throws UsageError for an empty value of an option that needs one.
  void check() const;
  /// The words that shells complete as the value of this option; empty: they complete file names.
  std::vector<std::string> words_of(const CLI::Option& option) const;

 private:
  CLI::App& app_;
  std::vector<Alias> aliases_;
  std::deque<Option> options_;  // a deque keeps their addresses
  std::function<std::vector<std::string>(const std::vector<std::string>&)> prepare_;
};

struct Command {
  const char* name;
  const char* summary;
  Action (*add)(Options& app);  // null: only the complete program has the command
};

/// Parses the command line. Throws UsageError, or ElsewhereError for a command that this program
/// lacks.
Action parse(std::span<const Command> commands, int argc, char** argv);

/// The parsed command line, quoted for a shell: "rung bench gemm/cpu --json new.json".
const std::string& command_line();

}  // namespace rung
