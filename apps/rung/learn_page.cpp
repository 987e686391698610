#include "learn_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "emu/compile/link/device_code.hpp"
#include "emu/compile/toolchain.hpp"
#include "tools/learn/glossary.hpp"
#include "tools/learn/kernel_form.hpp"
#include "tools/learn/metrics.hpp"
#include "tools/learn/picture.hpp"
#include "tools/learn/trial.hpp"
#include "tools/report/maps/access_map.hpp"
#include "tools/report/maps/tile_picture.hpp"
#include "tools/report/page/exercise_page.hpp"

namespace rung {
namespace {

std::string counted_problem(const learn::Exercise& exercise) {
  const bool is_vector = learn::kernel_form(exercise.kernel).is_vector;
  return fmt::format("{} = {}", is_vector ? "n" : "m x n x k",
                     learn::to_string(exercise.counted, is_vector));
}

Stepped stepped_solution(const learn::Exercise& exercise, const std::string& source) {
  return {"The solution", counted_problem(exercise), learn::solution_name(exercise), source,
          learn::Trial(learn::compile_solution(exercise)).steps(exercise.counted)};
}

/// The steps of the learner's file. Empty if it does not compile or its launch is invalid.
std::vector<Stepped> stepped_file(const learn::Exercise& exercise, const CheckedFile& checked,
                                  const std::string& source) {
  if (!checked.result.code) return {};
  try {
    return {{"Your file", counted_problem(exercise), checked.path.filename().string(), source,
             learn::Trial(*checked.result.code).steps(exercise.counted)}};
  } catch (const std::invalid_argument&) {
    return {};
  }
}

std::vector<ExercisePage::Goal> goals_of(const learn::Exercise& exercise,
                                         const CheckedFile* checked) {
  std::vector<ExercisePage::Goal> goals;
  for (const learn::Goal& goal : exercise.goals) {
    goals.push_back({learn::metric(goal.metric).description,
                     fmt::format("{} {:.4g}", goal.at_most ? "≤" : "≥", goal.bound), "", false});
  }
  if (checked == nullptr || checked->result.goals.size() != goals.size()) return goals;
  for (std::size_t i = 0; i < goals.size(); ++i) {
    const learn::GoalResult& counted = checked->result.goals[i];
    goals[i].value = fmt::format("{:.4g}", counted.value);
    goals[i].is_met = counted.is_met();
  }
  return goals;
}

std::vector<ExercisePage::Hints> hints_of(const learn::Exercise& exercise) {
  std::vector<ExercisePage::Hints> hints;
  for (const std::string& finding : exercise.hinted()) {
    hints.push_back({learn::occasion(finding), exercise.hints_for(finding)});
  }
  return hints;
}

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// True if the text contains the word, in its singular or plural.
bool has_word(const std::string& text, const std::string& word) {
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    std::size_t end = at + word.size();
    if (end < text.size() && text[end] == 's') ++end;
    const bool begins = at == 0 || !is_letter(text[at - 1]);
    if (begins && (end == text.size() || !is_letter(text[end]))) return true;
  }
  return false;
}

/// The glossary's words in the task and the goals, with their meanings.
std::vector<std::pair<std::string, std::string>> words_of(const ExercisePage& page) {
  std::string text;
  for (const ExercisePage::Part& part : page.task) text += part.text + "\n";
  for (const ExercisePage::Goal& goal : page.goals) text += goal.what + "\n";
  text = lower_case(text);
  std::vector<std::pair<std::string, std::string>> words;
  for (const learn::Entry& entry : learn::glossary()) {
    if (!has_word(text, lower_case(entry.word))) continue;
    const std::size_t meaning = std::min(entry.text.find(": "), entry.text.size() - 2) + 2;
    words.emplace_back(entry.word, entry.text.substr(meaning));
  }
  return words;
}

std::string commands_of(const learn::Exercise& exercise) {
  const std::string command = learn_command(exercise);
  std::string text;
  const auto add = [&](const std::string& what, const std::string& does) {
    text += fmt::format("{:<32}  # {}\n", what, does);
  };
  add(command, fmt::format("write {}{}", exercise.number, exercise.suffix()));
  add(command + " --check", "verify it, count, give a hint; one more each time");
  add("rung explain " + exercise.rung, "the rung that the solution is");
  return text;
}

std::string verdict_of(const learn::CheckResult& result) {
  if (result.is_solved()) return "Solved: right, without hazards, and all goals are met.";
  return "To mend first: " + result.findings.front().text;
}

}  // namespace

std::string learn_command(const learn::Exercise& exercise) {
  const bool is_metal = exercise.language == learn::Language::metal;
  return fmt::format("rung learn {}{}", exercise.number, is_metal ? " --metal" : "");
}

Figure draw_picture(const learn::Exercise& exercise) {
  const learn::Picture picture = learn::picture_of(exercise);
  const auto* tile = std::get_if<TileMap>(&picture);
  const auto* drawn = std::get_if<DrawnAccess>(&picture);
  Figure figure = tile != nullptr
                      ? draw_tile_map("drawn", *tile)
                      : access_map("drawn", drawn->access, drawn->what + " at " + drawn->where);
  figure.note = exercise.caption + " " + figure.note;
  return figure;
}

std::string learn_page(const learn::Exercise& exercise, const CheckedFile* checked) {
  ExercisePage page;
  page.title = fmt::format("Exercise {}: {}", exercise.number, exercise.title);
  page.commands = commands_of(exercise);
  for (const learn::Paragraph& part : learn::task(exercise)) {
    if (part.text.starts_with("Exercise ")) continue;  // the title
    page.task.push_back({part.text, part.is_drawn});
  }
  page.goals = goals_of(exercise, checked);
  page.hints = hints_of(exercise);
  page.words = words_of(page);
  page.start = {exercise.number + exercise.suffix(), learn::start_text(exercise)};
  page.solution = {learn::solution_name(exercise), learn::solution_text(exercise)};
  const std::string covered = learn::covered_solution(exercise);
  const std::string own = checked != nullptr ? emu::read_file(checked->path) : "";
  try {
    page.pictures = {draw_picture(exercise)};
    if (checked != nullptr) {
      page.found = verdict_of(checked->result);
      page.steps = stepped_file(exercise, *checked, own);
    }
    page.steps.push_back(stepped_solution(exercise, covered));
  } catch (const emu::MissingTool&) {
    page.pictures.clear();
  }
  return exercise_page(page);
}

}  // namespace rung
