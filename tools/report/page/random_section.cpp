#include <fmt/format.h>

#include <map>

#include "tools/report/page/html.hpp"
#include "tools/report/page/sections.hpp"

namespace rung {

std::vector<Figure> random_figures(const Results& results, const std::string& prefix) {
  std::map<std::string, std::vector<RandomDraw>> devices;
  for (const RandomDraw& draw : results.random) devices[draw.device].push_back(draw);
  std::vector<Figure> figures;
  for (const auto& [device, draws] : devices) {
    const std::string id =
        figures.empty() ? prefix : fmt::format("{}-{}", prefix, figures.size() + 1);
    if (auto figure = random_ratios(id, draws)) figures.push_back(std::move(*figure));
  }
  return figures;
}

std::string random_section(const Results& results) {
  const std::vector<Figure> figures = random_figures(results, "random-ratios");
  if (figures.empty()) return "";
  std::string html =
      "<section id=\"random\">\n<h2>Random shapes</h2>\n" +
      html::paragraph(
          "Nobody has tuned for these shapes: m, n and k are log-uniform, half of them in "
          "multiples "
          "of 64, three in ten in multiples of 8. The library and its peers are interleaved, and a "
          "sample of each result is verified.") +
      "<div class=\"figures\">\n";
  for (const Figure& figure : figures) html += html::figure(figure);
  return html + "</div>\n</section>\n";
}

}  // namespace rung
