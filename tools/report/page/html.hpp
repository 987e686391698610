#pragma once
// HTML building blocks. Escapes its arguments, which are plain text.

#include <string>
#include <string_view>
#include <vector>

#include "tools/report/figure.hpp"

namespace rung::html {

using svg::escape;

/// "<name>text</name>"
std::string element(std::string_view name, std::string_view text);
std::string paragraph(std::string_view text);
std::string link(std::string_view target, std::string_view text);

/// A link to another page in the same directory.
std::string link_to(std::string_view page, std::string_view text);

/// A region with its own scroll bar, usable by keyboard, for contents that may be wider than a
/// phone.
std::string scrollable(std::string_view name, std::string_view html);

/// Numbers are <data> elements with all digits.
std::string table(std::string_view caption, const DataTable& table);
/// A table that readers can sort and filter by a script of the site's pages (tables.js).
std::string sortable_table(std::string_view caption, const DataTable& table);
/// The picture, its explanation, and its table.
std::string figure(const Figure& figure);

}  // namespace rung::html
