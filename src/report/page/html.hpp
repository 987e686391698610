#pragma once
// HTML building blocks. Arguments are plain text, which is escaped here.

#include <string>
#include <string_view>
#include <vector>

#include "report/figure.hpp"

namespace rung::html {

using svg::escape;

/// "<name>text</name>"
std::string element(std::string_view name, std::string_view text);
std::string paragraph(std::string_view text);
std::string link(std::string_view target, std::string_view text);

/// To another page of the same folder.
std::string link_to(std::string_view page, std::string_view text);

/// A region that may be wider than a phone, and scrolls separately, also by keyboard.
std::string scrollable(std::string_view name, std::string_view html);

/// Numbers as <data>, with all their digits.
std::string table(std::string_view caption, const DataTable& table);
/// The same, which the script of a folder's pages lets a reader sort and filter (tables.js).
std::string sortable_table(std::string_view caption, const DataTable& table);
/// The picture, its explanation, and its table.
std::string figure(const Figure& figure);

}  // namespace rung::html
