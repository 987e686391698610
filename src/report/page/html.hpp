#pragma once
// Pieces of a page. Text goes in as it is, and is escaped here.

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

/// What may be wider than a phone, and is scrolled by itself, by keyboard as well.
std::string scrollable(std::string_view name, std::string_view html);

/// Numbers as <data>, with all their digits.
std::string table(std::string_view caption, const DataTable& table);
/// The picture, how to read it, and its table.
std::string figure(const Figure& figure);

}  // namespace rung::html
