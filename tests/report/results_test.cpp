// Results files read back: grouping into studies, and how missing or invalid data is reported.

#include "tools/report/bench_results.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/json/reader.hpp"
#include "occurrences.hpp"
#include "tools/analysis/bench_file.hpp"
#include "tools/report/page/page.hpp"
#include "tools/report/page/sections.hpp"
#include "tools/report/plots/plots.hpp"
#include "tools/report/study.hpp"
#include "tools/report/table.hpp"
#include "tools/report/utf8.hpp"

namespace rung {
namespace {

Json entry(const std::string& rung, int size, double gflops, const std::string& dtype = "f32") {
  return {{"rung", rung},
          {"op", "gemm"},
          {"dtype", dtype},
          {"m", size},
          {"n", size},
          {"k", size},
          {"layout", "nn"},
          {"device", "gpu Some (sm_90)"},
          {"threads", 4},
          {"operands", "warm"},
          {"verified", true},
          {"seconds", {{"median", 1 / gflops}}},
          {"gflops", gflops},
          {"gbps", 1.0},
          {"ceiling", {{"name", "f32 multiply-add"}, {"gflops", 100.0}, {"ratio", gflops / 100}}},
          {"peers", {{"cublas", {{"seconds", 2 / gflops}, {"ratio", 2.0}}}}}};
}

Json bench(const Json& entries) {
  return {{"machine", {{"model", "<cpu> & co"}}}, {"results", entries}};
}

Results results() {
  Json skipped = entry("gemm/cuda/02_shared_tile", 512, 1);
  skipped.update(
      {{"seconds", nullptr}, {"gflops", nullptr}, {"gbps", nullptr}, {"verified", false}});
  skipped["skipped"] = "too slow";
  Json library = entry("library", 512, 40);
  library["chose"] = "gemm/cuda/01_coalesced";
  Json oblong = library;
  oblong["k"] = 16;
  oblong["peers"]["cublas"]["ratio"] = 0.5;
  Results results;
  results.add("a.json",
              bench({entry("gemm/cuda/00_naive", 512, 10), entry("gemm/cuda/01_coalesced", 512, 30),
                     skipped, oblong, library}));
  results.add("b.json", bench({entry("gemm/cuda/01_coalesced", 4096, 50),
                               entry("gemm/cuda/01_coalesced", 512, 7, "f64")}));
  return results;
}

TEST(Studies, AreOfOneTypeEach) {
  const Results all = results();
  const std::vector<Study> studies = studies_of(all);
  ASSERT_EQ(studies.size(), 2u);
  EXPECT_EQ(studies[0].name(), "gemm f32");
  EXPECT_EQ(studies[1].name(), "gemm f64");
  const auto ladder = studies[0].ladder();
  ASSERT_EQ(ladder.size(), 2u);  // the size with the most timed rungs, not the largest size
  EXPECT_EQ(ladder[1]->rung, "gemm/cuda/01_coalesced");
  EXPECT_EQ(ladder[1]->gflops, 30);
  const auto library = studies[0].library();
  ASSERT_EQ(library.size(), 2u);  // square shapes come first
  EXPECT_EQ(size_name(*library[0]), "512³");
  EXPECT_EQ(size_name(*library[1]), "512×512×16");
  EXPECT_DOUBLE_EQ(*mean_ratio(library, "cublas"), 1);
  EXPECT_EQ(studies[0].peers(), std::vector<std::string>{"cublas"});
}

TEST(Studies, ThreadsOfTheHostDoNotDivideThoseOfAGpu) {
  Json other = entry("gemm/cuda/00_naive", 256, 5);
  other["threads"] = 8;
  Results all = results();
  all.add("c.json", bench(Json::array({other})));
  EXPECT_EQ(studies_of(all).size(), 2u);
}

/// A result of the library in a mode, on elements of a family, with the errors of the library and
/// of cublas.
Json measured(const std::string& math, const std::string& family, double gflops, double largest) {
  Json json = entry("library", 512, gflops);
  json.update({{"math", math}, {"family", family}});
  json["errors"] = {{"largest", largest}, {"normwise", 1e-7}};
  json["peers"]["cublas"]["errors"] = {{"largest", 25.0}, {"normwise", 4e-7}};
  return json;
}

std::vector<Figure> error_figures_of(const Json& entries) {
  Results results;
  results.add("a.json", bench(entries));
  return error_figures(results, "errors");
}

TEST(ErrorFigures, OnePointForEachModeFamilyAndPeer) {
  const auto figures =
      error_figures_of({measured("standard", "uniform", 40, 20),
                        measured("split", "uniform", 150, 9), measured("split", "normal", 150, 0)});
  ASSERT_EQ(figures.size(), 1u);
  const auto& rows = figures[0].table.rows;
  ASSERT_EQ(rows.size(), 5u);  // cublas has two
  EXPECT_EQ(rows[1][0].text, "mode split");
  EXPECT_EQ(rows[1][1].text, "uniform");
  EXPECT_EQ(rows[1][3].value, 9);
  EXPECT_EQ(rows[3][0].text, "cublas");
  EXPECT_EQ(rows[3][2].value, 75);  // half of the library's rate in the last measurement
  EXPECT_EQ(rows[3][3].value, 25);
}

TEST(ErrorFigures, NothingToCompareIsNoFigure) {
  EXPECT_TRUE(error_figures_of(Json::array({measured("standard", "symmetric", 40, 20)})).empty());
  EXPECT_TRUE(error_figures_of(Json::array({entry("library", 512, 40)})).empty());
}

TEST(Studies, ModesAndFamiliesAreApart) {
  Results all;
  all.add("a.json",
          bench({measured("standard", "symmetric", 40, 20), entry("library", 512, 41),
                 measured("split", "symmetric", 150, 9), measured("standard", "wide", 40, 20)}));
  const std::vector<Study> studies = studies_of(all);
  ASSERT_EQ(studies.size(), 3u);
  EXPECT_EQ(studies[0].name(), "gemm f32");
  EXPECT_EQ(studies[0].entries().size(), 2u);
  EXPECT_EQ(studies[1].name(), "gemm f32, mode split");
  EXPECT_EQ(studies[2].name(), "gemm f32, elements wide");
}

std::string problem_of(const Json& json) {
  try {
    Results().add("x.json", json);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

/// The error message for an entry with one member replaced.
std::string problem_with(const std::string& member, const Json& value) {
  Json broken = entry("gemm/cuda/00_naive", 256, 5);
  broken[Json::json_pointer(member)] = value;
  return problem_of(bench(Json::array({broken})));
}

TEST(Results, WhatIsMissingIsNamed) {
  EXPECT_EQ(problem_of(Json::array()), "x.json: an array, not an object");
  EXPECT_EQ(problem_of({{"comparison", 1}}), "x.json: no 'machine'");
  EXPECT_EQ(problem_of({{"machine", Json::object()}, {"results", 1}}),
            "x.json: results: a number, not an array");
  Json broken = entry("gemm/cuda/00_naive", 256, 5);
  broken.erase("gflops");
  EXPECT_EQ(problem_of(bench(Json::array({broken}))), "x.json: results[0]: no 'gflops'");
}

TEST(Results, WhatIsNoMeasurementIsNamed) {
  EXPECT_EQ(problem_with("/peers/cublas", 1),
            "x.json: results[0]: peers: cublas: a number, not an object");
  EXPECT_EQ(problem_with("/peers/cublas", nullptr),
            "x.json: results[0]: peers: cublas: null, not an object");
  EXPECT_EQ(problem_with("/gflops", "fast"), "x.json: results[0]: gflops: text, not a number");
  EXPECT_EQ(problem_with("/gflops", nullptr),
            "x.json: results[0]: null is not allowed for 'gflops'");
  EXPECT_EQ(problem_with("/seconds/median", 0),
            "x.json: results[0]: seconds: median: 0 is not from 1e-30 to 1e+30");
  EXPECT_EQ(problem_with("/peers/cublas/ratio", -2),
            "x.json: results[0]: peers: cublas: ratio: -2 is not from 1e-30 to 1e+30");
  EXPECT_EQ(problem_with("/errors", {{"largest", -1}, {"normwise", 0}}),
            "x.json: results[0]: errors: largest: -1 is not from 0 to 1.79769e+308");
  EXPECT_EQ(problem_with("/errors", {{"largest", 1}}), "x.json: results[0]: errors: no 'normwise'");
  EXPECT_EQ(problem_with("/threads", 1e300),
            "x.json: results[0]: threads: 1e+300 is not from 1 to 1.04858e+06");
  EXPECT_EQ(problem_with("/k", 1.5), "x.json: results[0]: k: 1.5 is not a whole number");
  EXPECT_EQ(problem_with("/k", nullptr), "x.json: results[0]: null is not allowed for 'k'");
  EXPECT_EQ(problem_with("/op", "../../x"), "x.json: results[0]: op: not one of gemm, dot, sum");
}

TEST(Results, AFileWithAnErrorAddsNothing) {
  Results results;
  EXPECT_THROW(results.add("x.json", bench({entry("gemm/cuda/00_naive", 256, 5), nullptr})),
               json::ReadError);
  EXPECT_TRUE(results.sources.empty());
  EXPECT_TRUE(results.entries.empty());
}

/// A rung and the library at one size, as the bench writes them to a .jsonl file.
std::string lines_of_two() {
  Json library = entry("library", 256, 8);
  library["chose"] = "gemm/cuda/00_naive";
  return lines_of(bench({entry("gemm/cuda/00_naive", 256, 0.12345678901), library}));
}

TEST(Lines, HaveAHeaderAndAMeasurementEach) {
  const std::string text = lines_of_two();
  EXPECT_EQ(count(text, "\n"), 3u);
  const Json header = Json::parse(text.substr(0, text.find('\n')));
  EXPECT_EQ(header.at("machine").at("model"), "<cpu> & co");
  EXPECT_EQ(header.at("common").at("m"), 256);  // of both
  EXPECT_FALSE(header.at("common").contains("rung"));
  EXPECT_NE(text.find("\"gflops\":0.12345679,"), std::string::npos) << text;
}

TEST(Lines, AreReadAsTheDocumentIs) {
  Results results;
  results.add(bench_files(lines_of_two(), "x.jsonl").front());
  ASSERT_EQ(results.entries.size(), 2u);
  EXPECT_EQ(results.entries[0].rung, "gemm/cuda/00_naive");
  EXPECT_EQ(results.entries[0].m, 256);
  EXPECT_EQ(results.entries[0].device, "gpu Some (sm_90)");
  EXPECT_DOUBLE_EQ(*results.entries[0].gflops, 0.12345679);
  EXPECT_EQ(results.entries[1].chose, "gemm/cuda/00_naive");
  EXPECT_EQ(results.sources[0].file, "x.jsonl");
  Results same;
  same.add(bench_files(bench(Json::array({entry("gemm/cuda/00_naive", 256, 1)})).dump(), "x.json")
               .front());
  EXPECT_EQ(same.entries.size(), 1u);  // a document on one line is no header
}

std::string problem_of_lines(const std::string& text) {
  try {
    Results().add(bench_files(text, "x.jsonl").front());
  } catch (const json::ReadError& error) {
    return error.what();
  }
  return "";
}

TEST(Lines, ErrorsNameFileLineAndField) {
  const std::string header = "{\"machine\": {}}\n";
  Json broken = entry("gemm/cuda/00_naive", 256, 5);
  const std::string right = broken.dump() + "\n";
  broken["gflops"] = "fast";
  EXPECT_EQ(problem_of_lines(header + right), "");
  EXPECT_EQ(problem_of_lines(header + right + broken.dump()),
            "x.jsonl: line 3: gflops: text, not a number");
  EXPECT_EQ(problem_of_lines(header + right + "\n1\n"), "x.jsonl: line 4: a number, not an object");
  EXPECT_EQ(problem_of_lines(header + right + "{\"rung\": nan}\n"),
            "x.jsonl: not JSON: line 3, column 11");
  EXPECT_EQ(problem_of_lines("{}\n" + right), "x.jsonl: no 'machine'");
  EXPECT_EQ(problem_of_lines("{\"machine\": {}, \"common\": 1}\n" + right),
            "x.jsonl: common: a number, not an object");
}

std::string not_json(const std::string& text) {
  try {
    json::parse(text, "x.json");
  } catch (const json::ReadError& error) {
    return error.what();
  }
  return "";
}

TEST(Json, WhatCannotBeReadIsNamed) {
  EXPECT_EQ(not_json("{\n\"a\": nan}"), "x.json: not JSON: line 2, column 7");
  EXPECT_EQ(not_json(""), "x.json: not JSON: line 1, column 1");
  EXPECT_EQ(not_json("[\"\xC3\"]"), "x.json: not JSON: line 1, column 4");
  EXPECT_EQ(not_json("[1e999]"), "x.json: a number is too large");
  EXPECT_EQ(not_json(std::string(33, '[') + std::string(33, ']')), "x.json: more than 32 levels");
  EXPECT_EQ(not_json(std::string(32, '[') + std::string(32, ']')), "");
  Json wide = Json::object();
  for (int i = 0; i < 4096; ++i) wide.push_back({std::to_string(i), i});
  EXPECT_EQ(not_json(wide.dump()), "");
  wide["more"] = 1;
  EXPECT_EQ(not_json(wide.dump()), "x.json: more than 4096 members of one object");
  EXPECT_THROW(json::read_text("/"), json::ReadError);  // opens, but cannot be read
}

TEST(Utf8, IsCutBetweenCharacters) {
  EXPECT_EQ(first_characters("éaß", 2), "éa");
  EXPECT_EQ(first_characters("éaß", 9), "éaß");
  EXPECT_EQ(count_characters("éaß"), 3u);
  EXPECT_EQ(cut("ééééé", 4), "é...");
  EXPECT_EQ(cut("éééé", 4), "éééé");
  EXPECT_EQ(valid_utf8("a\xC3z\xED\xA0\x80\xF4\x8F\xBF\xBF\xC0\x80"),
            "a\uFFFDz\uFFFD\uFFFD\uFFFD\U0010FFFF\uFFFD\uFFFD");
}

TEST(Studies, ManyEqualResultsAreOne) {
  // A quadratic algorithm would take hours here.
  constexpr int copies = 120'000;
  const Json row = entry("gemm/cuda/01_coalesced", 512, 30);
  Json library = entry("library", 512, 40);
  library["chose"] = "gemm/cuda/01_coalesced";
  Results results;
  results.add("a.json", bench({entry("gemm/cuda/00_naive", 512, 10), row, library}));
  for (int i = 0; i < copies; ++i) results.entries.push_back(results.entries[1 + i % 2]);
  EXPECT_EQ(studies_of(results).front().ladder().size(), 2u);
  const std::string page = report_page(results, {});
  EXPECT_LT(page.size(), 1'000'000u);
  // The same number of results, with different names and sizes.
  for (Result& result : results.entries) {
    const auto number = static_cast<std::int64_t>(&result - results.entries.data());
    if (!result.is_library()) result.rung = "rung" + std::to_string(number);
    if (result.is_library()) result.n = result.m = result.k = 1'000'000 + number;
  }
  EXPECT_NE(report_page(results, {}).find("rung60001"), std::string::npos);
}

TEST(Page, TellsWhatWasNotTimedAndEscapesWhatItShows) {
  const std::string page = report_page(results(), {});
  EXPECT_NE(page.find("gemm/cuda/02_shared_tile at 512³: skipped: too slow"), std::string::npos);
  EXPECT_NE(page.find("&lt;cpu&gt; &amp; co"), std::string::npos);
  EXPECT_EQ(page.find("<cpu>"), std::string::npos);
}

TEST(Page, OfNothingIsAPage) {
  EXPECT_NE(report_page({}, {}).find("no results"), std::string::npos);
}

TEST(Pictures, AreNamedAfterTheirStudy) {
  std::vector<std::string> names;
  for (const PictureFile& file : report_pictures(results(), {})) names.push_back(file.name);
  EXPECT_EQ(names, (std::vector<std::string>{"gemm-f32-ladder.svg", "gemm-shapes.svg"}));
}

TEST(Pictures, RatesOfALadderAreInTheUnitOfTheirSize) {
  const auto ladder = [](double rate) {
    Results results;
    results.add("a.json", bench({entry("gemm/cuda/00_naive", 512, rate / 100),
                                 entry("gemm/cuda/01_coalesced", 512, rate)}));
    return report_pictures(results, {}).front().contents;
  };
  EXPECT_NE(ladder(9876).find("01_coalesced: 9876 GFLOP/s"), std::string::npos) << ladder(9876);
  EXPECT_NE(ladder(51733).find("01_coalesced: 51.7 TFLOP/s"), std::string::npos) << ladder(51733);
  EXPECT_EQ(ladder(51733).find("GFLOP/s"), std::string::npos);
}

TEST(Pictures, StayInTheirFolderAndApart) {
  Json outside = entry("gemm/cuda/00_naive", 512, 10, "../../../x");
  Json second = entry("gemm/cuda/01_coalesced", 512, 30, "../../../x");
  Json transposed = outside, transposed_second = second;
  transposed["layout"] = transposed_second["layout"] = "nt";
  Results results;
  results.add("a.json", bench({outside, second, transposed, transposed_second}));
  std::vector<std::string> names;
  for (const PictureFile& file : report_pictures(results, {})) names.push_back(file.name);
  EXPECT_EQ(names, (std::vector<std::string>{"gemm-_________x-ladder.svg",
                                             "gemm-_________x-ladder-2.svg"}));
}

Json draw(const std::string& dtype, const std::string& layout, double ratio) {
  return {{"dtype", dtype}, {"layout", layout},  {"m", 64},    {"n", 64},
          {"k", 64},        {"flops", 524288.0}, {"bytes", 4}, {"ratio", ratio}};
}

Results random_results(const Json& draws) {
  Json file = bench(Json::array());
  file["random"] = {{"device", "gpu Some (sm_90)"}, {"draws", draws}};
  Results results;
  results.add("random.json", file);
  return results;
}

TEST(RandomRatios, AreDrawnByTypeWithALineAtOne) {
  Json regretted = draw("bf16-bf16", "nt", 4);
  regretted["regret"] = 1.5;
  const Results results = random_results(
      {draw("f32", "nn", 0.5), draw("f32", "tn", 2), regretted, draw("f32", "nn", 2)});
  const auto figure = random_ratios("random", results.random);
  ASSERT_TRUE(figure);
  const std::string svg = figure->picture.file();
  EXPECT_EQ(count(svg, "f32 nn 64×64×64: "), 2u) << svg;
  EXPECT_EQ(count(svg, "f32 tn 64×64×64: 2.00"), 1u);
  EXPECT_EQ(count(svg, "bf16-bf16 nt 64×64×64: 4.00"), 1u);
  EXPECT_EQ(count(svg, ">f32</text>"), 1u);  // in the legend
  EXPECT_NE(svg.find("FLOP per byte"), std::string::npos);

  const DataTable& table = figure->table;
  ASSERT_EQ(table.rows.size(), 3u);  // by type and layout
  EXPECT_EQ(table.rows[0][0].text, "f32 nn");
  EXPECT_EQ(table.rows[0][1].value, 2);
  EXPECT_DOUBLE_EQ(*table.rows[0][2].value, 1);      // geometric mean
  EXPECT_DOUBLE_EQ(*table.rows[0][3].value, 1.25);   // median
  EXPECT_DOUBLE_EQ(*table.rows[0][4].value, 0.575);  // 5th percentile
  EXPECT_EQ(table.rows[0][5].value, 0.5);
  EXPECT_EQ(table.rows[0][6].value, 1);
  EXPECT_FALSE(table.rows[0][7].value);  // no regret
  EXPECT_EQ(table.rows[1][0].text, "f32 tn");
  EXPECT_EQ(table.rows[2][7].value, 1.5);
}

TEST(RandomRatios, AreInAPageOnlyIfThereAreSome) {
  const std::string with = report_page(random_results(Json::array({draw("f32", "nn", 0.5)})), {});
  EXPECT_NE(with.find("<section id=\"random\">"), std::string::npos);
  EXPECT_NE(with.find("href=\"#random\""), std::string::npos);
  EXPECT_NE(with.find("<title>Rung: Some (sm_90)</title>"), std::string::npos);
  Json alone = draw("f32", "nn", 1);
  alone["ratio"] = nullptr;  // no peer was available
  for (const Results& without : {random_results(Json::array({alone})), results()}) {
    const std::string page = report_page(without, {});
    EXPECT_EQ(page.find("id=\"random\""), std::string::npos);
    EXPECT_EQ(page.find("#random"), std::string::npos);
    for (const PictureFile& picture : report_pictures(without, {})) {
      EXPECT_EQ(picture.name.find("random"), std::string::npos);
    }
  }
  const auto pictures = report_pictures(random_results(Json::array({draw("f32", "nn", 0.5)})), {});
  ASSERT_EQ(pictures.size(), 1u);
  EXPECT_EQ(pictures[0].name, "gemm-random.svg");
}

TEST(RandomRatios, AreReadFromLines) {
  const Json run = {{"device", "gpu Some (sm_90)"}, {"seed", 7}, {"max_size", 64}};
  const std::string text = line_of({{"machine", Json::object()}, {"random", run}}) +
                           line_of(draw("f32", "nn", 0.5)) +
                           line_of({{"record", "plan"}, {"rung", "gemm/cuda/11_split_k"}});
  Results results;
  results.add(bench_files(text, "random.jsonl").front());
  ASSERT_EQ(results.random.size(), 1u);
  EXPECT_EQ(results.random[0].seed, 7);
  EXPECT_EQ(results.random[0].ratio, 0.5);
}

TEST(Lines, MayBeThoseOfSeveralRuns) {
  const std::string two = lines_of_two() + "\n" + lines_of_two();
  const std::vector<BenchFile> runs = bench_files(two, "x.jsonl");
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].results().size(), 2u);
  EXPECT_EQ(runs[1].results().size(), 2u);
  EXPECT_EQ(bench_files(lines_of_two(), "x.jsonl").size(), 1u);
  try {
    bench_files(two + "{", "x.jsonl");
    FAIL() << "was read";
  } catch (const json::ReadError& error) {
    EXPECT_NE(std::string(error.what()).find("line 8"), std::string::npos) << error.what();
  }
}

TEST(RandomRatios, AreReadWithCare) {
  const auto error_of = [](const char* field, const Json& value) {
    Json changed = draw("f32", "nn", 1);
    changed[field] = value;
    try {
      random_results(Json::array({changed}));
    } catch (const json::ReadError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  for (const auto& [field, value] : std::vector<std::pair<const char*, Json>>{
           {"dtype", 3}, {"m", 0}, {"k", "64"}, {"bytes", 0}, {"flops", -1.0}, {"ratio", "high"}}) {
    const std::string error = error_of(field, value);
    EXPECT_EQ(error.find("random.json: "), 0u) << field << ": " << error;
    EXPECT_NE(error.find(field), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace rung
