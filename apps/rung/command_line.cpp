#include "command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

#include "choices.hpp"
#include "help.hpp"
#include "manual.hpp"
#include "rung/version.hpp"

namespace rung {

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

Option* Option::may_be_empty() {
  may_be_empty_ = true;
  return this;
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

void Options::footer(const std::string& text) { app_.footer(text); }

void Options::prepare(std::function<std::vector<std::string>(const std::vector<std::string>&)> by) {
  prepare_ = std::move(by);
}

std::vector<std::string> Options::prepared(const std::vector<std::string>& words) const {
  return prepare_ ? prepare_(words) : words;
}

namespace {

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

Described described(const CLI::App& app, const std::string& summary) {
  Described result{app.get_name(), summary, app.get_footer(), {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    Described::Option& added = result.options.emplace_back();
    added.is_positional = option->get_positional();
    added.help = option->get_description();
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

void write_manual(const std::string& folder, const Program& program, const CLI::App& app) {
  std::vector<Described> commands;
  for (const Command& command : program.commands) {
    commands.push_back(described(*app.get_subcommand(command.name), command.summary));
  }
  write_manual(folder, described(app, program.description), commands);
}

}  // namespace

Action parse(const Program& program, int argc, char** argv) {
  CLI::App app(program.description);
  app.name("rung");
  app.footer(program.footer);
  app.set_version_flag("--version", "rung " + std::string(version));
  app.require_subcommand(0, 1);
  std::string manual;  // for packages
  app.add_option("--write-manual", manual, "Write man pages and shell completion into FOLDER")
      ->group("");

  std::deque<Options> options;
  struct Known {
    const Options* options;
    Action action;
  };
  std::map<const CLI::App*, Known> known;
  for (const Command& command : program.commands) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    Options& added = options.emplace_back(*sub);
    known[sub] = {&added, command.add(added)};
  }
  std::vector<std::string> words(argv + 1, argv + argc);
  for (const auto& [sub, of] : known) {
    if (words.empty() || sub->get_name() != words.front()) continue;
    words = of.options->prepared({words.begin() + 1, words.end()});
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
    throw UsageError(one_line(error, app, program.commands));
  }
  if (!manual.empty()) {
    write_manual(manual, program, app);
    return [] { return exit_right; };
  }
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) throw UsageError("expected a command; see rung --help");
  const auto& [given, action] = known.at(chosen.front());
  given->check();
  return action;
}

}  // namespace rung
