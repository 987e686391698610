#include "tools/learn/exercise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>
#include <stdexcept>

#include "tools/learn/text.hpp"

namespace rung::learn {

std::vector<std::string_view> exercise_folders();  // files.cpp

namespace {

int read_int(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    throw std::invalid_argument(fmt::format("'{}' is not a size", text));
  }
  return value;
}

/// Parses "N" or "MxNxK".
Size read_size(std::string_view text) {
  const std::size_t first = text.find('x'), second = text.rfind('x');
  if (first == text.npos) return {1, read_int(text), 1};
  return {read_int(text.substr(0, first)), read_int(text.substr(first + 1, second - first - 1)),
          read_int(text.substr(second + 1))};
}

Goal read_goal(const std::string& text) {
  std::istringstream words(text);
  Goal goal;
  std::string relation;
  if (!(words >> goal.metric >> relation >> goal.bound) || (relation != "<=" && relation != ">=")) {
    throw std::invalid_argument(fmt::format("'{}' is not METRIC <= VALUE", text));
  }
  goal.at_most = relation == "<=";
  return goal;
}

/// Splits the text into "key: value" statements. A line indented by two spaces continues the
/// previous one.
std::vector<std::string> statements(std::string_view text) {
  std::vector<std::string> found;
  for (const std::string_view line : lines(text)) {
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with("  ") && !found.empty()) {
      found.back() += " " + std::string(line.substr(2));
    } else {
      found.emplace_back(line);
    }
  }
  return found;
}

std::vector<Hint> read_hints(std::string_view text) {
  std::vector<Hint> hints;
  for (const std::string& statement : statements(text)) {
    constexpr std::string_view word = "hint ";
    const std::size_t colon = statement.find(": ");
    if (!statement.starts_with(word) || colon == statement.npos) continue;
    std::istringstream findings(statement.substr(word.size(), colon - word.size()));
    for (std::string when; findings >> when;) hints.push_back({when, statement.substr(colon + 2)});
  }
  return hints;
}

void read_statement(Exercise& exercise, const std::string& statement) {
  const std::size_t colon = statement.find(": ");
  if (colon == statement.npos) {
    throw std::invalid_argument(fmt::format("'{}' has no colon", statement));
  }
  const std::string key = statement.substr(0, colon), value = statement.substr(colon + 2);
  if (key == "title") {
    exercise.title = value;
  } else if (key == "rung") {
    exercise.rung = value;
  } else if (key == "kernel") {
    exercise.kernel = value;
  } else if (key == "target") {
    exercise.target = value;
  } else if (key == "sizes") {
    std::istringstream words(value);
    for (std::string word; words >> word;) exercise.sizes.push_back(read_size(word));
  } else if (key == "counted") {
    exercise.counted = read_size(value);
  } else if (key == "goal") {
    exercise.goals.push_back(read_goal(value));
  } else if (key == "picture") {
    exercise.picture = value;
  } else if (key == "caption") {
    exercise.caption = value;
  } else if (!key.starts_with("hint ")) {
    throw std::invalid_argument(fmt::format("'{}' is no statement of an exercise", key));
  }
}

constexpr std::string_view metal_folder = "course/metal/";

/// `folder`: "course/04_shared_tile".
Exercise read_exercise(std::string_view folder) {
  const std::string_view name = folder.substr(folder.rfind('/') + 1);
  Exercise exercise;
  exercise.number = name.substr(0, 2);
  exercise.slug = name.substr(3);
  const std::string_view text = embedded_file(fmt::format("{}/exercise.txt", folder));
  for (const std::string& statement : statements(text)) read_statement(exercise, statement);
  exercise.hints = read_hints(text);
  if (folder.starts_with(metal_folder)) exercise.language = Language::metal;
  exercise.solution = embedded_file(fmt::format("{}/solution{}", folder, exercise.suffix()));
  return exercise;
}

constexpr std::string_view todo_mark = "//@ todo: ", start_mark = "//@ | ", end_mark = "//@ end";

std::string_view without_indent(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

/// The position of a text that must occur exactly once.
std::size_t only_place(const std::string& text, const std::string& part, const std::string& title) {
  const std::size_t at = text.find(part);
  if (part.empty() || at == text.npos || text.find(part, at + 1) != text.npos) {
    throw std::invalid_argument(
        fmt::format("attempt '{}': its text is not exactly once in the solution", title));
  }
  return at;
}

}  // namespace

std::vector<std::string> Exercise::hints_for(std::string_view finding) const {
  static const std::vector<Hint> of_cuda = read_hints(embedded_file("course/hints.txt")),
                                 of_metal = read_hints(embedded_file("course/metal/hints.txt"));
  const std::vector<Hint>& common = language == Language::metal ? of_metal : of_cuda;
  std::vector<std::string> found;
  const auto add = [&](const std::vector<Hint>& of, std::string_view when) {
    for (const Hint& hint : of) {
      if (hint.when == when) found.push_back(hint.text);
    }
  };
  add(hints, finding);
  add(common, finding);
  const std::string_view kind = finding.substr(0, finding.find('/'));
  if (kind != finding) add(hints, kind);
  if (kind == "not_stored") add(hints, "wrong");  // a missing result is also a wrong one
  if (found.empty()) add(common, kind);
  return found;
}

std::vector<std::string> Exercise::hinted() const {
  const auto is_goal = [&](const std::string& key) {
    return std::ranges::find(goals, key, &Goal::metric) != goals.end();
  };
  std::vector<std::string> found;
  const auto add = [&](const std::string& key) {
    if (std::ranges::find(found, key) == found.end()) found.push_back(key);
  };
  for (const Hint& hint : hints) {
    if (!is_goal(hint.when)) add(hint.when);
  }
  for (const Goal& goal : goals) {
    if (!hints_for(goal.metric).empty()) add(goal.metric);
  }
  return found;
}

std::string Exercise::folder() const {
  return fmt::format("{}{}_{}", language == Language::metal ? metal_folder : "course/", number,
                     slug);
}

const std::vector<Exercise>& exercises(Language language) {
  static const auto all = [] {
    std::map<Language, std::vector<Exercise>> read;
    for (const std::string_view folder : exercise_folders()) {
      const Exercise exercise = read_exercise(folder);
      read[exercise.language].push_back(exercise);
    }
    return read;
  }();
  return all.at(language);
}

const Exercise* find_exercise(std::string_view name, Language language) {
  const std::vector<Exercise>& known = exercises(language);
  const auto found = std::find_if(known.begin(), known.end(), [&](const Exercise& exercise) {
    return name == exercise.number || "0" + std::string(name) == exercise.number ||
           name == exercise.slug || name == exercise.number + "_" + exercise.slug;
  });
  return found == known.end() ? nullptr : &*found;
}

std::string start_text(const Exercise& exercise) {
  std::string text;
  bool is_left_out = false;
  for (const std::string_view line : lines(exercise.solution)) {
    const std::string_view mark = without_indent(line);
    const std::string indent(line.size() - mark.size(), ' ');
    if (mark.starts_with(todo_mark)) {
      is_left_out = true;
      text += fmt::format("{}// TODO: {}\n", indent, mark.substr(todo_mark.size()));
    } else if (mark.starts_with(start_mark)) {
      text += fmt::format("{}{}\n", indent, mark.substr(start_mark.size()));
    } else if (mark == end_mark) {
      is_left_out = false;
    } else if (!is_left_out) {
      text += fmt::format("{}\n", line);
    }
  }
  return text;
}

std::string solution_text(const Exercise& exercise) {
  std::string text;
  for (const std::string_view line : lines(exercise.solution)) {
    if (!without_indent(line).starts_with("//@ ")) text += fmt::format("{}\n", line);
  }
  return text;
}

std::string covered_solution(const Exercise& exercise) {
  std::string text;
  bool is_covered = false;
  for (const std::string_view line : lines(exercise.solution)) {
    const std::string_view mark = without_indent(line);
    if (mark.starts_with(todo_mark)) is_covered = true;
    if (mark == end_mark) is_covered = false;
    if (mark.starts_with("//@ ")) continue;
    const std::string_view indent = line.substr(0, line.size() - mark.size());
    text += is_covered ? fmt::format("{}…\n", indent) : fmt::format("{}\n", line);
  }
  return text;
}

std::vector<Paragraph> task(const Exercise& exercise) {
  constexpr std::string_view comment = "//";
  std::vector<Paragraph> paragraphs(1);
  for (const std::string_view line : lines(exercise.solution)) {
    if (!line.starts_with(comment)) break;
    const std::string_view text = line.substr(std::min(comment.size() + 1, line.size()));
    Paragraph& last = paragraphs.back();
    if (text.empty()) {
      if (!last.text.empty()) paragraphs.emplace_back();
      continue;
    }
    last.is_drawn = last.is_drawn || text.starts_with("  ");
    last.text += fmt::format("{}\n", text);
  }
  return paragraphs;
}

std::vector<Attempt> attempts(const Exercise& exercise) {
  const std::string solution = solution_text(exercise);
  const std::string_view text = embedded_file(exercise.folder() + "/attempts.txt");
  std::vector<Attempt> found;
  std::string from, to;
  std::string* part = nullptr;
  for (const std::string_view line : lines(text)) {
    constexpr std::string_view word = "attempt ";
    if (part == nullptr && line.starts_with(word)) {
      const std::size_t colon = line.find(": ");
      found.push_back({std::string(line.substr(word.size(), colon - word.size())),
                       std::string(line.substr(colon + 2)), solution});
    } else if (line == "<<<") {
      from.clear();
      to.clear();
      part = &from;
    } else if (line == "===") {
      part = &to;
    } else if (line == ">>>") {
      Attempt& attempt = found.back();
      attempt.text.replace(only_place(attempt.text, from, attempt.title), from.size(), to);
      part = nullptr;
    } else if (part != nullptr) {
      *part += fmt::format("{}\n", line);
    }
  }
  return found;
}

std::string to_string(const Size& size, bool is_vector) {
  return is_vector ? fmt::format("{}", size.n) : fmt::format("{}x{}x{}", size.m, size.n, size.k);
}

}  // namespace rung::learn
