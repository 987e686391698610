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

void write(const std::filesystem::path& path, const std::string& text) {
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

std::string bash_completion(const Described& program, const std::vector<Described>& all) {
  std::string cases;
  for (const Described& command : all) {
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command.name, fmt::join(flags(command), " "));
  }
  return fmt::format(R"(# bash completion for rung
_rung() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words
  case ${{COMP_WORDS[1]}} in
{}    *) words="{} {}" ;;
  esac
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 || $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  fi
}}
complete -o default -F _rung rung
)",
                     cases, fmt::join(names_of(all), " "), fmt::join(flags(program), " "));
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

std::string zsh_completion(const std::vector<Described>& all) {
  std::string list, cases;
  for (const Described& command : all) {
    list += fmt::format("    '{}:{}'\n", command.name, zsh_text(command.summary));
    cases += fmt::format("    {}) _arguments", command.name);
    for (const Described::Option& option : command.options) {
      if (option.is_positional) continue;
      for (const std::string& name : option.names) {
        cases += fmt::format(" \\\n      '{}[{}]{}'", name, zsh_text(option.help),
                             option.value.empty() ? "" : ":" + zsh_text(option.value) + ":_files");
      }
    }
    cases += " \\\n      '*: :_files' ;;\n";
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
      if (option.is_positional) continue;
      lines += fmt::format("complete -c rung -n '__fish_seen_subcommand_from {}'", command.name);
      for (const std::string& name : option.names) {
        lines += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      lines +=
          fmt::format("{} -d '{}'\n", option.value.empty() ? "" : " -r", fish_text(option.help));
    }
  }
  return lines;
}

}  // namespace

void write_manual(const std::string& folder, const Described& program,
                  const std::vector<Described>& all) {
  const std::filesystem::path root = folder;
  write(root / "man1/rung.1", program_page(program, all));
  for (const Described& command : all) {
    write(root / "man1" / fmt::format("rung-{}.1", command.name), command_page(command));
  }
  write(root / "rung.bash", bash_completion(program, all));
  write(root / "_rung", zsh_completion(all));
  write(root / "rung.fish", fish_completion(all));
}

}  // namespace rung
