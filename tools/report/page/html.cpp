#include "tools/report/page/html.hpp"

#include <fmt/format.h>

namespace rung::html {
namespace {

std::string cell_text(const Cell& cell) {
  if (!cell.link.empty()) return link_to(cell.link, cell.text);
  if (!cell.value) return escape(cell.text);
  return fmt::format("<data value=\"{}\">{}</data>", *cell.value, escape(cell.text));
}

std::string row_of(const std::vector<Cell>& cells) {
  std::string html = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    html += i == 0 ? fmt::format("<th scope=\"row\">{}</th>", cell_text(cells[i]))
                   : fmt::format("<td>{}</td>", cell_text(cells[i]));
  }
  return html + "</tr>\n";
}

}  // namespace

std::string element(std::string_view name, std::string_view text) {
  return fmt::format("<{}>{}</{}>\n", name, escape(text), name);
}

std::string paragraph(std::string_view text) { return element("p", text); }

std::string link(std::string_view target, std::string_view text) {
  return fmt::format("<a href=\"#{}\">{}</a>", escape(target), escape(text));
}

std::string link_to(std::string_view page, std::string_view text) {
  return fmt::format("<a href=\"{}\">{}</a>", escape(page), escape(text));
}

std::string scrollable(std::string_view name, std::string_view html) {
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n{}</div>\n",
      escape(name), html);
}

namespace {

std::string table_of(std::string_view caption, const DataTable& table, std::string_view tag) {
  std::string html = fmt::format("<{}>\n<caption>{}</caption>\n<thead><tr>", tag, escape(caption));
  for (const std::string& heading : table.headings) {
    html += fmt::format("<th scope=\"col\">{}</th>", escape(heading));
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) html += row_of(row);
  return scrollable(caption, html + "</tbody>\n</table>\n");
}

}  // namespace

std::string table(std::string_view caption, const DataTable& table) {
  return table_of(caption, table, "table");
}

std::string sortable_table(std::string_view caption, const DataTable& table) {
  return table_of(caption, table, "table class=\"sortable\"");
}

std::string figure(const Figure& figure) {
  return fmt::format(
      "<figure id=\"{}\">\n{}<figcaption><strong>{}.</strong> {}\n<details><summary>As a "
      "table</summary>\n{}</details>"
      "</figcaption>\n</figure>\n",
      escape(figure.id), figure.picture.in_page(), escape(figure.title), escape(figure.note),
      table(figure.title, figure.table));
}

}  // namespace rung::html
