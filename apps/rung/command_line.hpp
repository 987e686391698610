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
  /// Not in the help: an earlier spelling.
  Option* hidden();
  /// An empty value is a value; without this it is an error.
  Option* may_be_empty();
  /// The words that shells offer as its value; without this they offer files. Called only to write the
  /// completions.
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

/// The arguments of one command. Variables outlive the parsing.
class Options {
 public:
  /// An earlier spelling of an option.
  struct Alias {
    std::string old, name;
    bool is_written = false;  // by the user
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
  /// `old`, an earlier spelling of the option `name`, stays valid and is not in the help. Errors name the
  /// option as the user wrote it.
  void add_alias(const std::string& old, const std::string& name);
  enum class Kind { unknown, flag, value };
  /// Kind of the option that this word, such as --json or --json=FILE, gives.
  Kind kind_of(const std::string& word) const;
  /// The text after the options.
  void footer(const std::string& text);
  /// `by` sees the words after the command's name and returns those that remain to be parsed. It may
  /// throw UsageError.
  void prepare(std::function<std::vector<std::string>(const std::vector<std::string>&)> by);
  std::vector<std::string> prepared(std::vector<std::string> words);
  const std::vector<Alias>& aliases() const { return aliases_; }

  /// Throws UsageError for an empty value, of options that need one.
  void check() const;
  /// The words that shells offer as the value of this option; empty for files.
  std::vector<std::string> words_of(const CLI::Option& option) const;

 private:
  CLI::App& app_;
  std::vector<Alias> aliases_;
  std::deque<Option> options_;  // at stable addresses
  std::function<std::vector<std::string>(const std::vector<std::string>&)> prepare_;
};

struct Command {
  const char* name;
  const char* summary;
  Action (*add)(Options& app);  // null if only the complete program has it
};

/// Parses the command line. Throws UsageError, and ElsewhereError for a command that this program lacks.
Action parse(std::span<const Command> commands, int argc, char** argv);

/// The parsed command line, as a shell takes it: "rung bench gemm/cpu --json new.json".
const std::string& command_line();

}  // namespace rung
