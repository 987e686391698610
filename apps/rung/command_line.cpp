#include "command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

#include "choices.hpp"
#include "help.hpp"
#include "manual.hpp"
#include "rung/version.hpp"

namespace rung {
namespace {

/// Printed if no command is given.
constexpr const char* brief =
    R"(Rung: matrix products and dot products as ladders of kernels; CUDA and Metal
kernels run, checked and explained on any CPU.

Learn     rung learn                exercises, checked without a GPU
          rung list gemm/cuda       a ladder; 'rung diff' shows its steps
          rung trace gemm/cuda/02   a kernel's memory traffic, line by line
Check     rung emu program.cu       run a CUDA program, and report its races
          rung explain program.cu   what makes its kernels slow, and the remedy
          rung check my_gemm.cu     verify your kernel; 'rung new' starts one
Measure   rung bench gemm/cpu       verify, then time rungs against libraries
          rung doctor               devices, compilers and libraries found here

'rung --help' lists all commands; 'rung COMMAND --help' describes one.
)";

constexpr const char* description =
    "GEMM and dot as ladders of kernels, from the naive loop to one on a par with the vendor's "
    "library.";

constexpr const char* footer = R"(Examples:
  rung list gemm                    list the gemm ladder
  rung verify gemm/cpu dot/cpu      verify every CPU rung
  rung bench gemm/cpu --sizes 1024  time them against the installed libraries
  rung trace gemm/cuda/02           run a CUDA kernel without a GPU, with counters
  rung explain gemm/cuda/02         what bounds it, and which rung removes that
  rung emu program.cu               run a CUDA program without a GPU

Exit codes: 0 right, 1 something was wrong, 2 bad usage, 3 not available here.
Run 'rung COMMAND --help' for the options of a command.)";

}  // namespace

Option* Option::type_name(const std::string& name) {
  option_.type_name(name);
  return this;
}

Option* Option::required() {
  option_.required();
  return this;
}

Option* Option::expected(int count) {
  option_.expected(count);
  return this;
}

Option* Option::delimiter(char between) {
  option_.delimiter(between);
  return this;
}

Option* Option::take_all() {
  option_.take_all();
  return this;
}

Option* Option::one_at_a_time() {
  option_.allow_extra_args(false);
  return this;
}

Option* Option::capture_default_str() {
  option_.capture_default_str();
  return this;
}

Option* Option::hidden() {
  option_.group("");
  return this;
}

Option* Option::may_be_empty() {
  may_be_empty_ = true;
  return this;
}

Option* Option::offers(std::function<std::vector<std::string>()> words) {
  words_ = std::move(words);
  return this;
}

std::vector<std::string> Option::words() const {
  return words_ ? words_() : std::vector<std::string>();
}

void Option::check() const {
  if (may_be_empty_) return;
  for (const std::string& value : option_.results()) {
    if (value.empty()) {
      throw UsageError(fmt::format("{}: '' is empty; a value is needed", option_.get_name()));
    }
  }
}

Option* Options::add_option(const std::string& names, std::string& value, const std::string& help) {
  return &options_.emplace_back(*app_.add_option(names, value, help));
}

Option* Options::add_option(const std::string& names, std::vector<std::string>& values,
                            const std::string& help) {
  return &options_.emplace_back(*app_.add_option(names, values, help));
}

void Options::add_flag(const std::string& names, bool& value, const std::string& help) {
  app_.add_flag(names, value, help);
}

void Options::add_flag_callback(const std::string& names, std::function<void()> given,
                                const std::string& help) {
  app_.add_flag_callback(names, std::move(given), help);
}

void Options::check() const {
  for (const Option& option : options_) option.check();
}

std::vector<std::string> Options::words_of(const CLI::Option& option) const {
  const auto found =
      std::ranges::find_if(options_, [&](const Option& known) { return known.is(option); });
  return found == options_.end() ? std::vector<std::string>() : found->words();
}

void Options::footer(const std::string& text) { app_.footer(text); }

void Options::prepare(std::function<std::vector<std::string>(const std::vector<std::string>&)> by) {
  prepare_ = std::move(by);
}

std::vector<std::string> Options::prepared(std::vector<std::string> words) {
  for (std::string& word : words) {
    if (word == "--") break;
    for (Alias& alias : aliases_) {
      if (word != alias.old && !word.starts_with(alias.old + "=")) continue;
      word.replace(0, alias.old.size(), alias.name);
      alias.is_written = true;
      break;
    }
  }
  return prepare_ ? prepare_(words) : words;
}

void Options::add_alias(const std::string& old, const std::string& name) {
  aliases_.push_back({old, name});
}

Options::Kind Options::kind_of(const std::string& word) const {
  if (!word.starts_with("--")) return Kind::unknown;
  const CLI::Option* option = app_.get_option_no_throw(word.substr(0, word.find('=')));
  if (option == nullptr) return Kind::unknown;
  return option->get_items_expected_max() > 0 ? Kind::value : Kind::flag;
}

namespace {

/// Calls `call`. A UsageError that begins with an option names it as the user wrote it.
template <class Call>
auto with_written_names(const std::vector<Options::Alias>& aliases, const Call& call) {
  try {
    return call();
  } catch (const UsageError& error) {
    const std::string message = error.what();
    for (const Options::Alias& alias : aliases) {
      if (alias.is_written && message.starts_with(alias.name + ":")) {
        throw UsageError(alias.old + message.substr(alias.name.size()));
      }
    }
    throw;
  }
}

// The positional arguments of the command that was given.
std::string expected_arguments(const CLI::App& app) {
  if (app.got_subcommand("trace")) return "RUNG: expected one, such as gemm/cuda/02; see --help";
  if (app.got_subcommand("explain")) {
    return "RUNG: expected one, such as gemm/cuda/02; see --help";
  }
  if (app.got_subcommand("diff")) {
    return "RUNG: expected two, such as gemm/cuda/02 gemm/cuda/03; see --help";
  }
  if (app.got_subcommand("tune")) {
    return "SELECTOR: expected at least one, such as gemm/cuda/11; see --help";
  }
  if (app.got_subcommand("report")) return "FILE: expected one, such as gemm.json; see --help";
  if (app.got_subcommand("dist")) return "--ranks: expected a number of ranks; see --help";
  if (app.got_subcommand("check") || app.got_subcommand("new")) {
    return "FILE: expected one, such as my_gemm.cu; see --help";
  }
  if (app.got_subcommand("run")) return "FILE: expected one, such as scan.cu; see --help";
  if (app.got_subcommand("layout")) return "INSTRUCTION: expected one, such as wgmma; see --help";
  if (app.got_subcommand("referee")) {
    return "TASK: expected a task and a candidate, such as gemm mine.cu; see --help";
  }
  if (app.got_subcommand("emu")) return "FILE: expected one, such as program.cu; see --help";
  return "SELECTOR: expected at least one, such as gemm/cpu; see --help";
}

// An argument that the given command does not know; of an option, with the one that may be meant.
std::string unknown_argument(const std::string& argument, const CLI::App& app) {
  std::vector<std::string> known = {"--help"};
  const auto commands = app.get_subcommands();
  const CLI::App& command = commands.empty() ? app : *commands.front();
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  const std::string name = argument.substr(0, argument.find('='));
  const std::vector<std::string_view> names(known.begin(), known.end());
  const std::string meant = name.starts_with("--") ? did_you_mean(name, names) : "";
  return fmt::format("{}: unknown argument{} --help", argument,
                     meant.empty() ? "; see" : meant + " See");
}

// Rewrites CLI11's messages in the form of all others.
std::string one_line(const CLI::ParseError& error, const CLI::App& app,
                     std::span<const Command> commands) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const auto extras = app.remaining(true);
    if (!extras.empty() && !extras.front().starts_with('-') && app.get_subcommands().empty()) {
      std::vector<std::string_view> names;
      for (const Command& command : commands) names.push_back(command.name);
      return fmt::format("'{}' is not one of {}{}", extras.front(), fmt::join(names, ", "),
                         did_you_mean(extras.front(), names));
    }
    if (!extras.empty()) return unknown_argument(extras.front(), app);
  }
  const std::string message = error.what();
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) return expected_arguments(app);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    // The value of an unknown option counts as a positional argument too many.
    for (const std::string& extra : app.remaining(true)) {
      if (extra.starts_with('-')) return unknown_argument(extra, app);
    }
    const std::string option = message.substr(0, message.find(':'));
    return option.starts_with('-') ? option + ": expected a value; see --help"
                                   : expected_arguments(app);
  }
  return message.substr(0, message.find('\n'));
}

/// `options` are those of a command, and null for the program's own.
Described described(const CLI::App& app, const std::string& summary, const Options* options) {
  Described result{app.get_name(), summary, app.get_footer(), {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    Described::Option& added = result.options.emplace_back();
    added.is_positional = option->get_positional();
    added.help = option->get_description();
    if (options != nullptr) added.words = options->words_of(*option);
    if (added.is_positional) {
      added.names = {option->get_name()};
      continue;
    }
    for (const std::string& name : option->get_snames()) added.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) added.names.push_back("--" + name);
    if (option->get_items_expected_max() > 0) added.value = option->get_type_name();
  }
  return result;
}

/// A command with its arguments.
struct Known {
  Options* options;
  Action action;
};

void write_manual(const std::string& folder, std::span<const Command> commands, const CLI::App& app,
                  const std::map<const CLI::App*, Known>& known) {
  std::vector<Described> all;
  for (const Command& command : commands) {
    if (command.add == nullptr) throw ElsewhereError("--write-manual");
    const CLI::App* const sub = app.get_subcommand(command.name);
    all.push_back(described(*sub, command.summary, known.at(sub).options));
  }
  write_manual(folder, described(app, description, nullptr), all);
}

/// The word, in single quotes if a shell would not take it as it is.
std::string quoted(const std::string& word) {
  const std::string plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=,./:@%";
  if (!word.empty() && word.find_first_not_of(plain) == word.npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

std::string& parsed_line() {
  static std::string line;
  return line;
}

}  // namespace

const std::string& command_line() { return parsed_line(); }

Action parse(std::span<const Command> commands, int argc, char** argv) {
  parsed_line() = "rung";
  for (int i = 1; i < argc; ++i) parsed_line() += " " + quoted(argv[i]);
  CLI::App app(description);
  app.name("rung");
  app.footer(footer);
  app.set_version_flag("--version", "rung " + std::string(version));
  app.require_subcommand(0, 1);
  std::string manual;  // for packages
  app.add_option("--write-manual", manual, "Write man pages and shell completion into FOLDER")
      ->group("");

  std::deque<Options> options;
  std::map<const CLI::App*, Known> known;
  for (const Command& command : commands) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    if (command.add == nullptr) {
      if (argc > 1 && argv[1] == std::string_view(command.name)) throw ElsewhereError(command.name);
      continue;
    }
    Options& added = options.emplace_back(*sub);
    known[sub] = {&added, command.add(added)};
  }
  std::vector<std::string> words(argv + 1, argv + argc);
  std::vector<Options::Alias> aliases;
  for (const auto& [sub, of] : known) {
    if (words.empty() || sub->get_name() != words.front()) continue;
    words = of.options->prepared({words.begin() + 1, words.end()});
    aliases = of.options->aliases();
    words.insert(words.begin(), sub->get_name());
    break;
  }
  try {
    app.parse(
        std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes the last first
  } catch (const CLI::Success& success) {                         // --help, --version
    std::ostringstream text;
    app.exit(success, text, text);
    fmt::print("{}", folded_help(text.str(), help_width()));
    return [] { return exit_right; };
  } catch (const CLI::ParseError& error) {
    return with_written_names(
        aliases, [&]() -> Action { throw UsageError(one_line(error, app, commands)); });
  }
  if (!manual.empty()) {
    write_manual(manual, commands, app, known);
    return [] { return exit_right; };
  }
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) {
    fmt::print(stderr, "{}\n", brief);
    throw UsageError("expected a command; see rung --help");
  }
  if (!known.contains(chosen.front())) throw ElsewhereError(chosen.front()->get_name());
  const auto& [given, action] = known.at(chosen.front());
  with_written_names(aliases, [&] { given->check(); });
  return [aliases, action] { return with_written_names(aliases, action); };
}

}  // namespace rung
