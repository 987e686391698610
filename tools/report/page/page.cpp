#include "tools/report/page/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "core/embed.hpp"
#include "core/rung.hpp"
#include "tools/report/page/html.hpp"
#include "tools/report/page/sections.hpp"
#include "tools/report/page/stepper.hpp"

RUNG_EMBED(rung_page_style, RUNG_STYLE)

namespace rung {
namespace {

std::string navigation(const std::vector<Study>& studies, bool has_shapes, bool has_errors,
                       bool has_random, const std::vector<const RungInfo*>& rungs) {
  std::string html = "<nav aria-label=\"Contents\">\n<ul>\n";
  const auto item = [&](const std::string& target, const std::string& text) {
    html += fmt::format("<li>{}</li>\n", html::link(target, text));
  };
  item("summary", "Summary");
  for (std::size_t i = 0; i < studies.size(); ++i) {
    item(fmt::format("study{}", i + 1), studies[i].name());
  }
  if (has_shapes) item("shapes", "Shapes");
  if (has_errors) item("errors", "Errors");
  if (has_random) item("random", "Random shapes");
  item("machine", "Machine");
  item("method", "Method");
  html += "</ul>\n<details><summary>Rungs</summary>\n<ul>\n";
  for (const RungInfo* rung : rungs) item(rung_anchor(rung->id), rung->id);
  return html + "</ul>\n</details>\n</nav>\n";
}

/// Converts a text from a results file to a part of a file name, without separators and dots.
std::string file_stem(const std::string& text) {
  std::string stem = text;
  std::replace_if(
      stem.begin(), stem.end(),
      [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-'; }, '_');
  return stem.substr(0, 40);
}

/// "gemm-f32", "gemm-f32-2t"
std::string stem_of(const Study& study) {
  const Result& first = study.first();
  const std::string stem = file_stem(first.op + "-" + first.dtype);
  return study.on_gpu() ? stem : fmt::format("{}-{}t", stem, first.threads);
}

/// Pictures under unique file names: the second with the same name gets the suffix "-2".
class PictureFiles {
 public:
  void add(const Figure& figure) {
    const int count = ++uses_[figure.id];
    const std::string name = count == 1 ? figure.id : fmt::format("{}-{}", figure.id, count);
    files_.push_back({name + ".svg", figure.picture.file()});
  }

  std::vector<PictureFile> take() { return std::move(files_); }

 private:
  std::map<std::string, int> uses_;
  std::vector<PictureFile> files_;
};

}  // namespace

std::vector<const RungInfo*> measured_rungs(const Results& results) {
  std::set<std::string> ids;
  for (const Result& entry : results.entries) ids.insert(entry.rung);
  std::vector<const RungInfo*> rungs;
  for (const RungInfo& rung : catalog()) {
    if (ids.contains(rung.id)) rungs.push_back(&rung);
  }
  return rungs;
}

std::string report_title(const std::vector<Study>& studies, const Results& results) {
  std::set<std::string> devices;
  std::string text;
  const auto add = [&](const std::string& device) {
    const std::string name = device.substr(device.find(' ') + 1);
    if (devices.insert(name).second) text += (text.empty() ? "" : "; ") + name;
  };
  for (const Study& study : studies) add(study.first().device);
  for (const RandomDraw& draw : results.random) add(draw.device);
  return "Rung: " + (text.empty() ? "no results" : text);
}

std::string shapes_section(const std::vector<Study>& studies) {
  std::string html;
  std::size_t number = 0;
  for (const auto& group : by_device(studies)) {
    const auto figure = ratio_map(fmt::format("shapes{}", ++number), group);
    if (figure) html += html::figure(*figure);
  }
  if (html.empty()) return "";
  return "<section id=\"shapes\">\n<h2>Shapes</h2>\n<div class=\"figures\">\n" + html +
         "</div>\n</section>\n";
}

std::string whole_page(const std::string& title, const std::string& header,
                       const std::string& contents) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>{}</title>\n"
      "<link rel=\"icon\" href=\"data:,\">\n<style>\n{}{}{}</style>\n</head>\n<body>\n"
      "<a class=\"skip\" href=\"#main\">To the contents</a>\n<header>\n<h1>{}</h1>\n{}</header>\n"
      "<main id=\"main\">\n{}</main>\n</body>\n</html>\n",
      html::escape(title), svg::picture_style(), RUNG_EMBEDDED(rung_page_style),
      contents.find("class=\"stepper\"") == contents.npos ? "" : stepper_style(),
      html::escape(title), header, contents);
}

std::string report_page(const Results& results, const Traces& traces) {
  const std::vector<Study> studies = studies_of(results);
  const std::vector<const RungInfo*> rungs = measured_rungs(results);
  const std::string title = report_title(studies, results);
  std::string html = summary_section(studies, results);
  for (std::size_t i = 0; i < studies.size(); ++i) {
    html += study_section(studies[i], i + 1, results, traces);
  }
  const std::string errors = error_section(results);
  const std::string random = random_section(results);
  const std::string shapes = shapes_section(studies);
  html += shapes + errors + random + "<h2>Rungs</h2>\n";
  for (const RungInfo* rung : rungs)
    html += rung_section(*rung, rungs, studies, traces, RungLinks::sections);
  return whole_page(title,
                    navigation(studies, !shapes.empty(), !errors.empty(), !random.empty(), rungs),
                    html + machine_section(results) + method_section());
}

std::vector<PictureFile> report_pictures(const Results& results, const Traces& traces) {
  PictureFiles files;
  const std::vector<Study> studies = studies_of(results);
  for (const Study& study : studies) {
    for (const Figure& figure : study_figures(study, stem_of(study), results, traces)) {
      files.add(figure);
    }
  }
  for (const auto& group : by_device(studies)) {
    const auto figure = ratio_map(file_stem(group.front()->first().op) + "-shapes", group);
    if (figure) files.add(*figure);
  }
  for (const Figure& figure : error_figures(results, "gemm-errors")) files.add(figure);
  for (const Figure& figure : random_figures(results, "gemm-random")) files.add(figure);
  return files.take();
}

}  // namespace rung
