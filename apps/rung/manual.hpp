#pragma once
// Man pages and shell completion, from what the parser knows.

#include <string>
#include <vector>

namespace rung {

/// One command, or the program itself.
struct Described {
  struct Option {
    std::vector<std::string> names;  // "-h", "--help"; of a positional "SELECTOR"
    std::string value;               // what stands for its value; empty for a flag
    std::string help;
    std::vector<std::string> words;  // that a shell offers as its value; empty for a file
    bool is_positional = false;
  };

  std::string name, summary, footer;
  std::vector<Option> options;
};

/// Writes into a folder: man1/rung.1 and man1/rung-COMMAND.1; rung.bash, _rung (zsh) and rung.fish.
/// Throws std::system_error if a file cannot be written.
void write_manual(const std::string& folder, const Described& program,
                  const std::vector<Described>& commands);

}  // namespace rung
