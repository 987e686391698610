#include <fmt/format.h>

#include <map>
#include <tuple>

#include "tools/report/page/html.hpp"
#include "tools/report/page/sections.hpp"

namespace rung {
namespace {

using ProblemKey =
    std::tuple<std::string, std::string, std::string, std::int64_t, std::int64_t, std::int64_t>;

ProblemKey key_of_problem(const Result& r) { return {r.device, r.dtype, r.layout, r.m, r.n, r.k}; }

}  // namespace

std::vector<Figure> error_figures(const Results& results, const std::string& prefix) {
  std::map<ProblemKey, std::vector<const Result*>> problems;
  for (const Result& entry : results.entries) {
    if (entry.errors && entry.timed()) problems[key_of_problem(entry)].push_back(&entry);
  }
  std::vector<Figure> figures;
  for (const auto& [problem, entries] : problems) {
    const std::string id =
        figures.empty() ? prefix : fmt::format("{}-{}", prefix, figures.size() + 1);
    if (auto figure = error_by_rate(id, entries)) figures.push_back(std::move(*figure));
  }
  return figures;
}

std::string error_section(const Results& results) {
  const std::vector<Figure> figures = error_figures(results, "errors-by-rate");
  if (figures.empty()) return "";
  std::string html =
      "<section id=\"errors\">\n<h2>Errors</h2>\n" +
      html::paragraph(
          "Errors of a sample of the elements of C against exact sums, on the elements "
          "that were timed. Peers compute in their own arithmetic.") +
      "<div class=\"figures\">\n";
  for (const Figure& figure : figures) html += html::figure(figure);
  return html + "</div>\n</section>\n";
}

}  // namespace rung
