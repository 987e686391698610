#include "tools/report/page/exercise_page.hpp"

#include <fmt/format.h>

#include "tools/report/page/html.hpp"
#include "tools/report/page/sections.hpp"

namespace rung {
namespace {

std::string drawing(const std::string& name, const std::string& text) {
  return html::scrollable(name, "<pre>" + html::escape(text) + "</pre>\n");
}

std::string task(const ExercisePage& page) {
  std::string html;
  for (const ExercisePage::Part& part : page.task) {
    html += part.is_drawn ? drawing("Drawing", part.text) : html::paragraph(part.text);
  }
  return html + drawing("Commands", page.commands);
}

std::string goals(const ExercisePage& page) {
  const bool is_checked = !page.goals.empty() && !page.goals.front().value.empty();
  DataTable table{{"counted on the virtual GPU", "goal"}, {}};
  if (is_checked) table.headings.insert(table.headings.end(), {"your file", "met"});
  for (const ExercisePage::Goal& goal : page.goals) {
    table.rows.push_back({goal.what, goal.bound});
    if (is_checked) {
      table.rows.back().emplace_back(goal.value);
      table.rows.back().emplace_back(goal.is_met ? "yes" : "no");
    }
  }
  return html::table("Goals, besides right results", table);
}

/// Each hint is nested in the previous one, which must be opened first.
std::string one_by_one(const std::vector<std::string>& hints) {
  std::string html;
  for (std::size_t i = hints.size(); i > 0; --i) {
    html = fmt::format("<details class=\"hint\"><summary>Hint {} of {}</summary>\n{}{}</details>\n",
                       i, hints.size(), html::paragraph(hints[i - 1]), html);
  }
  return html;
}

std::string hints(const ExercisePage& page) {
  std::string html;
  for (const ExercisePage::Hints& of : page.hints) {
    html += html::element("h3", of.when) + one_by_one(of.texts);
  }
  return html;
}

std::string words(const ExercisePage& page) {
  std::string html = "<dl class=\"words\">\n";
  for (const auto& [word, meaning] : page.words) {
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", html::escape(word), html::escape(meaning));
  }
  return html + "</dl>\n";
}

std::string pictures(const ExercisePage& page) {
  std::string html = html::paragraph("The solution at work on the virtual GPU.");
  for (const Figure& picture : page.pictures) html += html::figure(picture);
  return html;
}

std::string moving(const ExercisePage& page) {
  return html::paragraph(
             "Lines that you are to write show as “…” in the solution: watch what it accesses, not "
             "how it is written.") +
         steppers(page.steps);
}

std::string solution(const ExercisePage& page) {
  return fmt::format("<details><summary>Show the solution</summary>\n{}</details>\n",
                     source_section(page.solution.name, page.solution.text));
}

struct Section {
  const char *id, *title;
  std::string html;
};

std::vector<Section> sections(const ExercisePage& page) {
  std::vector<Section> all;
  const auto add = [&](const char* id, const char* title, bool is_there, const auto& html) {
    if (is_there) all.push_back({id, title, html(page)});
  };
  add("found", "Your file", !page.found.empty(),
      [](const ExercisePage& of) { return html::paragraph(of.found); });
  add("task", "Task", true, task);
  add("goals", "Goals", !page.goals.empty(), goals);
  add("picture", "Picture", !page.pictures.empty(), pictures);
  add("steps", "Steps of a warp", !page.steps.empty(), moving);
  add("hints", "Hints", !page.hints.empty(), hints);
  add("start", "The file to complete", true,
      [](const ExercisePage& of) { return source_section(of.start.name, of.start.text); });
  add("solution", "Solution", true, solution);
  add("words", "Words", !page.words.empty(), words);
  return all;
}

}  // namespace

std::string exercise_page(const ExercisePage& page) {
  std::string contents, navigation = "<nav aria-label=\"Contents\">\n<ul>\n";
  for (const Section& section : sections(page)) {
    navigation += fmt::format("<li>{}</li>\n", html::link(section.id, section.title));
    contents += fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", section.id,
                            section.title, section.html);
  }
  return whole_page(page.title, navigation + "</ul>\n</nav>\n",
                    contents + (page.steps.empty() ? "" : stepper_script()));
}

}  // namespace rung
