#include "tools/report/markdown.hpp"

#include <map>

#include "tools/report/markdown/tables.hpp"

namespace rung {

bool takes_several_files(std::string_view kind) {
  return kind == "summary" || kind == "products" || kind == "headline" || kind == "random";
}

std::string markdown_table(std::string_view kind, const Results& results) {
  static const std::map<std::string_view, std::string (*)(const Results&)> tables = {
      {"machine", markdown::machine},   {"ladder", markdown::ladder},
      {"library", markdown::library},   {"reading", markdown::reading},
      {"summary", markdown::summary},   {"products", markdown::products},
      {"headline", markdown::headline}, {"random", markdown::random}};
  return tables.at(kind)(results);
}

}  // namespace rung
