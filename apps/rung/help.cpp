#include "help.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <sstream>
#include <string_view>

namespace rung {
namespace {

constexpr std::size_t least_width = 40, usual_width = 80, most_width = 100;

/// `line`, followed by the words of `text`, in lines that begin with `indent` blanks.
std::string filled(std::string line, std::string_view text, std::size_t indent, std::size_t width) {
  std::string lines;
  bool is_first = true;  // of its line
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    if (!is_first && line.size() + 1 + word.size() > width) {
      lines += line + "\n";
      line.assign(indent, ' ');
      is_first = true;
    }
    if (!is_first) line += ' ';
    line += word;
    is_first = false;
  }
  return lines + line + "\n";
}

/// The column of an option's text, after its name and at least two blanks; npos if the line is not an
/// option's.
std::size_t text_column(std::string_view line) {
  if (!line.starts_with("  ") || line.starts_with("   ") || line.find("  ", 2) == line.npos) {
    return line.npos;
  }
  return line.find_first_not_of(' ', line.find("  ", 2));
}

/// A line of prose, which may continue a paragraph: not indented, no item of a list.
bool is_prose(std::string_view line) {
  return !line.empty() && line.front() != ' ' && !line.starts_with("- ");
}

}  // namespace

std::size_t terminal_width(int descriptor) {
  winsize size = {};
  if (isatty(descriptor) != 0 && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return std::max<std::size_t>(size.ws_col, least_width);
  }
  std::size_t columns = usual_width;
  if (const char* const given = std::getenv("COLUMNS")) {
    const std::string_view text = given;
    if (std::from_chars(text.data(), text.data() + text.size(), columns).ec != std::errc()) {
      columns = usual_width;
    }
  }
  return std::max(columns, least_width);
}

std::size_t help_width() { return std::min(terminal_width(STDOUT_FILENO), most_width); }

std::string folded_help(const std::string& help, std::size_t width) {
  std::string folded, paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) folded += filled("", paragraph, 0, width);
    paragraph.clear();
  };
  std::istringstream lines(help);
  std::size_t option_column = std::string::npos;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("Usage:")) end_paragraph();
    if (is_prose(line)) {
      paragraph += (paragraph.empty() ? "" : " ") + line;
      if (line.ends_with(':')) end_paragraph();
      continue;
    }
    end_paragraph();
    const std::size_t column = text_column(line);
    const std::size_t begin = line.find_first_not_of(' ');
    // A text of several lines goes on in the column in which it began.
    const bool goes_on = column == line.npos && begin == option_column;
    option_column = column != line.npos ? column : goes_on ? option_column : line.npos;
    if (line.size() <= width || option_column == line.npos || option_column + 20 > width) {
      folded += line + "\n";
    } else {
      folded +=
          filled(line.substr(0, option_column), line.substr(option_column), option_column, width);
    }
  }
  end_paragraph();
  return folded;
}

}  // namespace rung
