#include "manual.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "rung/version.hpp"

namespace rung {
namespace {

void write_page(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::system_error(errno, std::generic_category(), path.string());
}

/// The text as roff shows it: no line is a request, and dashes are those of the keyboard.
std::string roff(const std::string& text) {
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins_line = i == 0 || text[i - 1] == '\n';
    if (begins_line && (text[i] == '.' || text[i] == '\'')) escaped += "\\&";
    if (text[i] == '\\') {
      escaped += "\\\\";
    } else if (text[i] == '-') {
      escaped += "\\-";
    } else {
      escaped += text[i];
    }
  }
  return escaped;
}

std::string heading(const std::string& page, const std::string& summary) {
  return fmt::format(".TH {} 1 \"\" \"rung {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n", page,
                     version, roff(page), roff(summary));
}

std::string option_entry(const Described::Option& option) {
  const std::string value = option.value.empty() || option.is_positional
                                ? ""
                                : fmt::format(" \\fI{}\\fR", roff(option.value));
  return fmt::format(".TP\n\\fB{}\\fR{}\n{}\n",
                     roff(fmt::format("{}", fmt::join(option.names, ", "))), value,
                     roff(option.help));
}

std::string options_section(const Described& command, bool positional, const char* title) {
  std::string entries;
  for (const Described::Option& option : command.options) {
    if (option.is_positional == positional) entries += option_entry(option);
  }
  return entries.empty() ? "" : fmt::format(".SH {}\n{}", title, entries);
}

/// The text after the options: its lines as they are.
std::string footer_section(const Described& command) {
  if (command.footer.empty()) return "";
  return fmt::format(".SH NOTES\n.nf\n{}\n.fi\n", roff(command.footer));
}

std::string command_page(const Described& command) {
  std::string positionals;
  for (const Described::Option& option : command.options) {
    if (option.is_positional) positionals += fmt::format(" \\fI{}\\fR", roff(option.names.front()));
  }
  return heading("rung-" + command.name, command.summary) +
         fmt::format(".SH SYNOPSIS\n\\fBrung {}\\fR [\\fIOPTION\\fR]...{}\n", command.name,
                     positionals) +
         options_section(command, true, "ARGUMENTS") + options_section(command, false, "OPTIONS") +
         footer_section(command) + ".SH SEE ALSO\n\\fBrung\\fR(1)\n";
}

std::string program_page(const Described& program, const std::vector<Described>& all) {
  std::string list, pages;
  for (const Described& command : all) {
    list += fmt::format(".TP\n\\fB{}\\fR\n{}\n", command.name, roff(command.summary));
    pages += fmt::format("{}\\fBrung\\-{}\\fR(1)", pages.empty() ? "" : ", ", command.name);
  }
  return heading("rung", program.summary) +
         ".SH SYNOPSIS\n\\fBrung\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]...\n.SH COMMANDS\n" + list +
         options_section(program, false, "OPTIONS") + footer_section(program) +
         fmt::format(".SH SEE ALSO\n{}\n", pages);
}

std::vector<std::string> flags(const Described& command) {
  std::vector<std::string> names;
  for (const Described::Option& option : command.options) {
    if (!option.is_positional) names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

std::vector<std::string> names_of(const std::vector<Described>& all) {
  std::vector<std::string> names;
  for (const Described& command : all) names.push_back(command.name);
  return names;
}

/// A list of words, in a variable that completion functions share because several commands take it.
class WordLists {
 public:
  /// The name of the variable with these words.
  std::string name_of(const std::vector<std::string>& words) {
    auto found = std::ranges::find(lists_, words);
    if (found == lists_.end()) found = lists_.insert(lists_.end(), words);
    return fmt::format("_rung_words_{}", found - lists_.begin());
  }

  std::string assignments() const {
    std::string text;
    for (std::size_t i = 0; i < lists_.size(); ++i) {
      text += fmt::format("_rung_words_{}=\"{}\"\n", i, fmt::join(lists_[i], " "));
    }
    return text;
  }

 private:
  std::vector<std::vector<std::string>> lists_;
};

/// The arms of a case statement over "COMMAND:OPTION" that set the words of the option's value.
std::string bash_values(const Described& command, WordLists& lists) {
  std::string cases;
  for (const Described::Option& option : command.options) {
    if (option.value.empty() || option.is_positional) continue;
    for (const std::string& name : option.names) {
      const std::string words = option.words.empty() ? "" : "$" + lists.name_of(option.words);
      cases += fmt::format("    {}:{}) words=\"{}\" ;;\n", command.name, name, words);
    }
  }
  return cases;
}

/// The arm of a case statement over commands that sets the command's options and the words of its arguments.
std::string bash_command(const Described& command, WordLists& lists) {
  std::string words;
  for (const Described::Option& option : command.options) {
    if (option.is_positional && !option.words.empty()) words += "$" + lists.name_of(option.words);
  }
  return fmt::format("    {}) flags=\"{}\" words=\"{}\" ;;\n", command.name,
                     fmt::join(flags(command), " "), words);
}

std::string bash_completion(const Described& program, const std::vector<Described>& all) {
  std::string command_cases, value_cases;
  WordLists lists;
  for (const Described& command : all) {
    command_cases += bash_command(command, lists);
    value_cases += bash_values(command, lists);
  }
  return fmt::format(R"(# bash completion for rung
{}
_rung() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
  local command=${{COMP_WORDS[1]}} flags words
  [[ $COMP_CWORD -eq 1 ]] && command=
  case $command in
{}    *) flags="{}" words="{}" ;;
  esac
  case $command:$previous in
{}  esac
  [[ $current == -* ]] && words=$flags
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -o default -F _rung rung
)",
                     lists.assignments(), command_cases, fmt::join(flags(program), " "),
                     fmt::join(names_of(all), " "), value_cases);
}

/// Text between quotes of zsh's _arguments, in which brackets and colons have a meaning.
std::string zsh_text(const std::string& text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == '\'') {
      escaped += "'\\''";
      continue;
    }
    if (letter == '[' || letter == ']' || letter == ':' || letter == '\\') escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

/// The words that zsh offers for a value, or files.
std::string zsh_action(const Described::Option& option) {
  return option.words.empty() ? "_files" : fmt::format("({})", fmt::join(option.words, " "));
}

/// The arm of a case statement over commands: the command's options and arguments.
std::string zsh_command(const Described& command) {
  std::string text = fmt::format("    {}) _arguments", command.name);
  std::string words;
  for (const Described::Option& option : command.options) {
    if (option.is_positional) {
      if (!option.words.empty()) words = fmt::format("{}", fmt::join(option.words, " "));
      continue;
    }
    for (const std::string& name : option.names) {
      const std::string value =
          option.value.empty() ? ""
                               : fmt::format(":{}:{}", zsh_text(option.value), zsh_action(option));
      text += fmt::format(" \\\n      '{}[{}]{}'", name, zsh_text(option.help), value);
    }
  }
  const std::string files =
      words.empty()
          ? "_files"
          : fmt::format("{{_alternative \"words:word:({})\" \"files:file:_files\"}}", words);
  return text + fmt::format(" \\\n      '*: :{}' ;;\n", files);
}

std::string zsh_completion(const std::vector<Described>& all) {
  std::string list, cases;
  for (const Described& command : all) {
    list += fmt::format("    '{}:{}'\n", command.name, zsh_text(command.summary));
    cases += zsh_command(command);
  }
  return fmt::format(R"(#compdef rung
local -a commands=(
{})
if (( CURRENT == 2 )); then
  _describe command commands
else
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{}  esac
fi
)",
                     list, cases);
}

std::string fish_text(std::string text) {
  for (std::size_t at = 0; (at = text.find_first_of("\\'", at)) != std::string::npos; at += 2) {
    text.insert(at, 1, '\\');
  }
  return text;
}

std::string fish_completion(const std::vector<Described>& all) {
  std::string lines = "# fish completion for rung\n";
  for (const Described& command : all) {
    lines += fmt::format("complete -c rung -n __fish_use_subcommand -a {} -d '{}'\n", command.name,
                         fish_text(command.summary));
    for (const Described::Option& option : command.options) {
      const std::string begin =
          fmt::format("complete -c rung -n '__fish_seen_subcommand_from {}'", command.name);
      if (option.is_positional) {
        if (!option.words.empty()) {
          lines += fmt::format("{} -a '{}'\n", begin, fmt::join(option.words, " "));
        }
        continue;
      }
      lines += begin;
      for (const std::string& name : option.names) {
        lines += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      const std::string words =
          option.words.empty() ? "" : fmt::format(" -fa '{}'", fmt::join(option.words, " "));
      lines += fmt::format("{}{} -d '{}'\n", option.value.empty() ? "" : " -r", words,
                           fish_text(option.help));
    }
  }
  return lines;
}

}  // namespace

void write_manual(const std::string& folder, const Described& program,
                  const std::vector<Described>& all) {
  const std::filesystem::path root = folder;
  write_page(root / "man1/rung.1", program_page(program, all));
  for (const Described& command : all) {
    write_page(root / "man1" / fmt::format("rung-{}.1", command.name), command_page(command));
  }
  write_page(root / "rung.bash", bash_completion(program, all));
  write_page(root / "_rung", zsh_completion(all));
  write_page(root / "rung.fish", fish_completion(all));
}

}  // namespace rung
