// json_fuzz CASES SEED FILE...: every mutation of a results file of rung bench must become a page
// or a one-line error that names the file. It must not cause a crash, another exception, a picture
// outside its folder, or a coordinate that is not a number. On a failure, prints the seed and text
// of the case and exits with 1; repeat it alone with that seed and CASES = 1.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <regex>
#include <set>

#include "core/json/reader.hpp"
#include "fuzz/json_mutations.hpp"
#include "tools/analysis/bench_file.hpp"
#include "tools/analysis/measured_runs.hpp"
#include "tools/analysis/resources.hpp"
#include "tools/report/page/page.hpp"
#include "tools/report/utf8.hpp"

namespace rung::fuzz {
namespace {

/// The outcome of a case, and a description of what is wrong with it.
struct Outcome {
  bool is_page = false;
  std::string violation;
};

std::string wrong_in_page(const std::string& page) {
  static const std::regex coordinate("(x|y|x1|y1|x2|y2|cx|cy|points|viewBox)=\"[^\"]*(nan|inf)");
  if (valid_utf8(page) != page) return "not UTF-8";
  return std::regex_search(page, coordinate) ? "a coordinate is not a number" : "";
}

std::string wrong_in_pictures(const std::vector<PictureFile>& pictures) {
  static const std::regex plain("[A-Za-z0-9_-]+[.]svg");
  std::set<std::string> names;
  for (const PictureFile& picture : pictures) {
    if (!std::regex_match(picture.name, plain)) return "a picture is called " + picture.name;
    if (!names.insert(picture.name).second) return "two pictures are called " + picture.name;
  }
  return "";
}

std::string wrong_in_message(std::string_view message, std::string_view file) {
  if (!message.starts_with(file)) return fmt::format("names no file: {}", message);
  return message.find('\n') != message.npos ? "a message of several lines" : "";
}

Outcome report(const std::string& text) {
  try {
    Results results;
    results.add(bench_files(text, "case.json").front());
    Outcome outcome{true, wrong_in_page(report_page(results, {}))};
    if (outcome.violation.empty()) {
      outcome.violation = wrong_in_pictures(report_pictures(results, {}));
    }
    return outcome;
  } catch (const json::ReadError& error) {
    return {false, wrong_in_message(error.what(), "case.json")};
  }
}

template <class Parse>
std::string wrong_in_reader(std::string_view file, const Parse& parse) {
  try {
    parse();
  } catch (const json::ReadError& error) {
    return wrong_in_message(error.what(), file);
  }
  return "";
}

Outcome run_case(const std::string& text) {
  Outcome outcome = report(text);
  if (outcome.violation.empty()) {
    outcome.violation =
        wrong_in_reader("case.json", [&] { analysis::parse_results(text, "case.json"); });
  }
  if (outcome.violation.empty()) {
    outcome.violation =
        wrong_in_reader("cuda_resources.json", [&] { analysis::parse_resources(text); });
  }
  return outcome;
}

/// The file with at most eight of its results: more make cases slower, but not harder.
Json read_seed(const std::string& path) {
  const BenchFile file = bench_files(json::read_text(path), path).front();
  const auto some_of = [](const std::vector<json::Value>& values) {
    Json array = Json::array();
    for (const json::Value& value : values) array.push_back(value.json());
    while (array.size() > 8) array.erase(array.size() / 2);
    return array;
  };
  Json document = file.head().json();
  document.erase("common");
  document["results"] = some_of(file.results());
  if (document.contains("random")) document["random"]["draws"] = some_of(file.draws());
  return document;
}

/// A case in two has the form of JSON Lines, if a document still has results.
std::string text_of(const Json& document, Random& random) {
  const bool has_results = document.is_object() && document.contains("results") &&
                           document["results"].is_array() && !document["results"].empty();
  const bool as_lines = has_results && below(random, 2) == 0 &&
                        std::ranges::all_of(document["results"], &Json::is_object);
  return as_lines ? lines_of(document) : document.dump();
}

int run(std::size_t cases, std::uint64_t seed, const std::vector<std::string>& files) {
  std::vector<Json> seeds;
  for (const std::string& file : files) seeds.push_back(read_seed(file));
  std::size_t pages = 0;
  for (std::uint64_t i = seed; i < seed + cases; ++i) {
    Random random(i);
    const Json mutated = mutate(seeds[below(random, seeds.size())], random);
    const std::string text = mutate_text(text_of(mutated, random), random);
    Outcome outcome;
    try {
      outcome = run_case(text);
    } catch (const std::exception& error) {
      outcome.violation = error.what();
    }
    if (!outcome.violation.empty()) {
      fmt::print(stderr, "seed {}: {}\n{}\n", i, outcome.violation, text);
      return 1;
    }
    pages += outcome.is_page ? 1 : 0;
  }
  fmt::print("{} cases: {} pages, {} refused\n", cases, pages, cases - pages);
  const bool is_telling = cases < 100 || (pages > cases / 10 && pages < cases);
  return is_telling ? 0 : 1;  // a mutator that always or never breaks a file tests nothing
}

}  // namespace
}  // namespace rung::fuzz

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: json_fuzz CASES SEED FILE...\n", stderr);
    return 2;
  }
  return rung::fuzz::run(std::strtoull(argv[1], nullptr, 10), std::strtoull(argv[2], nullptr, 10),
                         {argv + 3, argv + argc});
}
