#include "tools/report/page/site.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "core/embed.hpp"
#include "core/rung.hpp"
#include "tools/report/numbers.hpp"
#include "tools/report/page/html.hpp"
#include "tools/report/page/sections.hpp"
#include "tools/report/plots/plots.hpp"

RUNG_EMBED(rung_tables_script, RUNG_TABLES_SCRIPT)

namespace rung {
namespace {

constexpr const char* index_name = "index.html";

std::string table_script() {
  return fmt::format("<script>\n{}</script>\n", RUNG_EMBEDDED(rung_tables_script));
}

/// A page's file name for a study: "gemm-f32-2t.html". Unique for each study.
class StudyNames {
 public:
  explicit StudyNames(const std::vector<Study>& studies) {
    std::set<std::string> taken;
    for (const Study& study : studies) {
      const std::string stem = stem_of(study.name());
      std::string name = stem;
      for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}-{}", stem, i);
      names_.push_back(name + ".html");
    }
  }

  const std::string& operator[](std::size_t study) const { return names_[study]; }

 private:
  static std::string stem_of(const std::string& name) {
    std::string stem = "study";
    bool is_gap = true;
    for (const char c : name) {
      const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
      if (is_plain && is_gap) stem += '-';
      if (is_plain) stem += c;
      is_gap = !is_plain;
    }
    return stem;
  }

  std::vector<std::string> names_;
};

/// "← gemm/cuda/04_thread_tile", "Index", "gemm/cuda/06_bank_free →"
struct Neighbours {
  std::string before, before_name, after, after_name;
};

std::string navigation(const Neighbours& neighbours) {
  std::string html = "<nav aria-label=\"Pages\">\n<ul>\n";
  const auto item = [&](const std::string& to, const std::string& text) {
    if (!to.empty()) html += fmt::format("<li>{}</li>\n", html::link_to(to, text));
  };
  item(index_name, "Index");
  item(neighbours.before, "← " + neighbours.before_name);
  item(neighbours.after, neighbours.after_name + " →");
  return html + "</ul>\n</nav>\n";
}

/// The measurement of a rung that the index shows: the first one in `studies`.
const Result* best_known(const RungInfo& rung, const std::vector<Study>& studies,
                         const Study*& of) {
  for (const Study& study : studies) {
    for (const Result* result : study.ladder()) {
      if (result->rung != rung.id) continue;
      of = &study;
      return result;
    }
  }
  return nullptr;
}

Cell ratio_cell(const Result& result, const Study& study) {
  const std::vector<std::string> peers = study.peers();
  std::optional<double> least;
  std::string name;
  for (const std::string& peer : peers) {
    const auto ratio = ratio_to(result, peer);
    if (!ratio || (least && *least <= *ratio)) continue;
    least = ratio;
    name = peer;
  }
  if (!least) return "–";
  return {fmt::format("{}× {}", format_ratio(least), name), least};
}

std::string rungs_section(const std::vector<const RungInfo*>& rungs,
                          const std::vector<Study>& studies) {
  DataTable table{{"rung", "idea", "measured at", "time", "rate", "of the ceiling", "vs best peer"},
                  {}};
  for (const RungInfo* rung : rungs) {
    Cell name(rung->id);
    name.link = rung_page(rung->id);
    std::vector<Cell> row = {name, Cell(rung->idea)};
    const Study* study = nullptr;
    if (const Result* result = best_known(*rung, studies, study)) {
      row.emplace_back(study->name() + ", " + size_name(*result));
      row.push_back({format_time(*result->seconds), result->seconds});
      row.push_back(
          {fmt::format("{} {}", format_three(result->rate()), study->unit()), result->rate()});
      row.push_back(result->ceiling_ratio
                        ? Cell(format_percent(*result->ceiling_ratio), result->ceiling_ratio)
                        : Cell("–"));
      row.push_back(ratio_cell(*result, *study));
    } else {
      row.resize(table.headings.size(), Cell("–"));
    }
    table.rows.push_back(std::move(row));
  }
  return "<section id=\"rungs\">\n<h2>Rungs</h2>\n" +
         html::sortable_table(
             "Each rung with the first of its measurements; its name leads to its "
             "page, with the source and the counters of its lines",
             table) +
         "</section>\n";
}

std::string contents_section(const std::vector<Study>& studies, const StudyNames& names,
                             const std::vector<std::pair<std::string, std::string>>& others) {
  std::string html = "<section id=\"studies\">\n<h2>Measurements</h2>\n<ul class=\"pages\">\n";
  for (std::size_t i = 0; i < studies.size(); ++i) {
    html += fmt::format("<li>{} <span class=\"soft\">{}</span></li>\n",
                        html::link_to(names[i], studies[i].name()),
                        html::escape(studies[i].first().device));
  }
  for (const auto& [to, text] : others) {
    html += fmt::format("<li>{}</li>\n", html::link_to(to, text));
  }
  return html + "</ul>\n</section>\n";
}

/// The ladder of the first study that has one.
std::string picture_section(const std::vector<Study>& studies) {
  for (const Study& study : studies) {
    const auto figure = ladder_bars("ladder", study);
    if (figure) return "<section id=\"picture\">\n" + html::figure(*figure) + "</section>\n";
  }
  return "";
}

PageFile page(const std::string& name, const std::string& title, const std::string& header,
              const std::string& contents) {
  return {name, whole_page(title, header, contents + table_script())};
}

}  // namespace

std::vector<PageFile> report_site(const Results& results, const Traces& traces) {
  const std::vector<Study> studies = studies_of(results);
  const std::vector<const RungInfo*> rungs = measured_rungs(results);
  const StudyNames names(studies);
  std::vector<PageFile> pages;
  std::vector<std::pair<std::string, std::string>> others;
  const auto add_other = [&](const char* name, const char* title, const std::string& section) {
    if (section.empty()) return;
    others.emplace_back(name, title);
    pages.push_back(page(name, title, navigation({}), section));
  };
  for (std::size_t i = 0; i < studies.size(); ++i) {
    Neighbours next;
    if (i > 0) next.before = names[i - 1], next.before_name = studies[i - 1].name();
    if (i + 1 < studies.size()) next.after = names[i + 1], next.after_name = studies[i + 1].name();
    pages.push_back(page(names[i], studies[i].name(), navigation(next),
                         study_section(studies[i], i + 1, results, traces)));
  }
  add_other("shapes.html", "Shapes", shapes_section(studies));
  add_other("errors.html", "Errors", error_section(results));
  add_other("random.html", "Random shapes", random_section(results));
  add_other("machine.html", "Machine", machine_section(results));
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    Neighbours next;
    if (i > 0) next.before = rung_page(rungs[i - 1]->id), next.before_name = rungs[i - 1]->id;
    if (i + 1 < rungs.size()) {
      next.after = rung_page(rungs[i + 1]->id);
      next.after_name = rungs[i + 1]->id;
    }
    pages.push_back(page(rung_page(rungs[i]->id), rungs[i]->id, navigation(next),
                         rung_section(*rungs[i], rungs, studies, traces, RungLinks::pages)));
  }
  pages.push_back(page(index_name, report_title(studies, results), "",
                       picture_section(studies) + contents_section(studies, names, others) +
                           rungs_section(rungs, studies) + summary_section(studies, results) +
                           method_section()));
  return pages;
}

}  // namespace rung
