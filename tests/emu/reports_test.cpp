// The reports of a program: merged over its launches, suppressed, and written for CI.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "emu/reports/conclusion.hpp"
#include "emu/reports/remedy.hpp"
#include "emu/reports/source_files.hpp"

namespace rung::emu {
namespace {

namespace fs = std::filesystem;

Json party(const std::string& access, const std::string& file, int line) {
  return {{"block", {0, 0, 0}},
          {"thread", {1, 0, 0}},
          {"access", access},
          {"source", file + ":" + std::to_string(line)},
          {"instruction", "st.shared.u32 (PTX line 9)"},
          {"file", "/project/src/" + file},
          {"line", line}};
}

Json hazard(const std::string& kind, int first, int other, std::uint64_t count = 1) {
  Json json = {{"kind", kind},
               {"kernel", "reduce<int>"},
               {"message", kind + ": at " + std::to_string(first)},
               {"address", "s + 0"},
               {"count", count},
               {"first", party("write", "sum.cu", first)}};
  if (other != 0) json["other"] = party("read", "sum.cu", other);
  return json;
}

Json launch(const std::vector<Json>& hazards, const std::string& name = "reduce<int>") {
  return {{"name", name}, {"seconds", 0.5}, {"hazards", hazards}};
}

Json leak(int line, std::uint64_t bytes) {
  return {{"kind", "leak"},
          {"kernel", ""},
          {"message", "leak: one"},
          {"address", ""},
          {"count", 1},
          {"bytes", bytes},
          {"first", party("cudaMalloc", "main.cu", line)}};
}

TEST(Reports, LaunchesOfAKernelAreMerged) {
  Reports reports;
  reports.add_launch(launch({hazard("shared-memory race", 5, 7, 3)}));
  reports.add_launch(launch({}));
  // The same two lines, found the other way round.
  Json turned = hazard("shared-memory race", 5, 7, 2);
  std::swap(turned["first"], turned["other"]);
  reports.add_launch(launch({turned}));
  reports.add_launch(launch({hazard("shared-memory race", 5, 7), hazard("out of bounds", 5, 0)}));
  ASSERT_EQ(reports.all().size(), 2u);
  const Report& race = reports.all()[0];
  EXPECT_EQ(race.count, 6u);
  EXPECT_EQ(race.launches, (std::vector<std::size_t>{1, 3, 4}));
  EXPECT_EQ(describe(race), "shared-memory race: at 5 (6 times, in launches 1 and 3-4)");
  EXPECT_EQ(describe(reports.all()[1]), "out of bounds: at 5");
  EXPECT_EQ(reports.kernels().size(), 1u);
  EXPECT_EQ(reports.kernels()[0].launches, 4u);
}

TEST(Reports, InstructionsOfALineAreMerged) {
  Reports reports;
  Json unrolled = hazard("shared-memory race", 5, 7);
  unrolled["other"]["instruction"] = "ld.shared.f32 (PTX line 12)";
  Json write = unrolled;
  write["other"]["access"] = "write";
  reports.add_launch(launch({hazard("shared-memory race", 5, 7), unrolled, write}));
  EXPECT_EQ(reports.all().size(), 2u);
  EXPECT_EQ(reports.all()[0].count, 2u);
}

TEST(Reports, APairOfOperationsIsOneReportWhicheverRanFirst) {
  Json pair = hazard("unordered operations", 5, 7);
  pair["first"]["instruction"] = "kernel fill";
  pair["other"]["instruction"] = "copy";
  Json turned = pair;
  std::swap(turned["first"], turned["other"]);
  turned["other"]["access"] = "read";  // the bytes that conflict first differ, too
  Json another = pair;
  another["other"]["instruction"] = "kernel add";
  Reports reports;
  for (const Json& each : {pair, turned, another}) reports.add_hazard(each);
  ASSERT_EQ(reports.all().size(), 2u);
  EXPECT_EQ(reports.all()[0].count, 2u);
}

TEST(Reports, KernelsAreNotMerged) {
  Reports reports;
  Json other = hazard("shared-memory race", 5, 7);
  other["kernel"] = "reduce<float>";
  reports.add_launch(launch({hazard("shared-memory race", 5, 7)}));
  reports.add_launch(launch({other}, "reduce<float>"));
  EXPECT_EQ(reports.all().size(), 2u);
}

// The remedy of a single hazard, whose parties are in the blocks given.
std::string remedy_of(Json hazard, int block = 0, int other_block = 0) {
  hazard["first"]["block"] = {block, 0, 0};
  if (hazard.contains("other")) hazard["other"]["block"] = {other_block, 0, 0};
  Reports reports;
  reports.add_launch(launch({std::move(hazard)}));
  return remedy(reports.all().front());
}

TEST(Remedies, OfRaces) {
  const Json race = hazard("shared-memory race", 7, 5);
  EXPECT_EQ(remedy_of(race),
            "put __syncthreads() between sum.cu:5 and sum.cu:7; in a loop, also after sum.cu:7");
  EXPECT_EQ(remedy_of(hazard("shared-memory race", 5, 5)),
            "put __syncthreads() between the two accesses; in a loop, at the end of its body");
  Json of_a_warp = race;
  of_a_warp["first"]["thread"] = {32, 0, 0};
  of_a_warp["other"]["thread"] = {63, 0, 0};
  EXPECT_EQ(remedy_of(of_a_warp),
            "put __syncthreads() (or __syncwarp(), if only threads of one warp come here) between "
            "sum.cu:5 and sum.cu:7; in a loop, also after sum.cu:7");
  Json writes = race;
  writes["other"]["access"] = "write";
  EXPECT_EQ(remedy_of(writes), "give each thread its own element, or use an atomic");
  EXPECT_EQ(remedy_of(hazard("global-memory race", 7, 5), 0, 1).find("blocks run in any order: "),
            0u);
  Json metal = race;
  metal["first"]["file"] = "/project/sum.metal";
  EXPECT_EQ(remedy_of(metal).find("put threadgroup_barrier(mem_flags::mem_threadgroup) between"),
            0u);
  Json asynchronous = race;
  asynchronous["message"] = "shared-memory race: not ordered with the asynchronous write";
  EXPECT_EQ(remedy_of(asynchronous), "");
}

TEST(Remedies, FollowTheReport) {
  Reports reports;
  reports.add_launch(launch({hazard("out of bounds", 5, 0), hazard("trap", 6, 0)}));
  EXPECT_EQ(reports_text(reports, {}),
            "out of bounds: at 5\n"
            "  to do: compare the index with the number of elements before the access, as in if (i "
            "< n)\n"
            "trap: at 6\n");
}

TEST(Reports, ManyLaunchesAreCutShort) {
  Reports reports;
  for (int i = 0; i < 40; ++i) {
    reports.add_launch(
        launch(i % 2 == 0 ? std::vector<Json>{hazard("trap", 1, 0)} : std::vector<Json>{}));
  }
  EXPECT_EQ(describe(reports.all()[0]),
            "trap: at 1 (20 times, in launches 1, 3, 5, 7, 9, 11, 13, 15 and 12 more)");
}

TEST(Reports, LeaksOfOneLineAreMerged) {
  Reports reports;
  reports.add_hazard(leak(3, 100));
  reports.add_hazard(leak(4, 8));
  reports.add_hazard(leak(3, 24));
  judge(reports, {});
  ASSERT_EQ(reports.all().size(), 2u);
  EXPECT_EQ(describe(reports.all()[0]),
            "leak: 124 bytes in 2 allocations from cudaMalloc at main.cu:3 were never freed");
  EXPECT_EQ(describe(reports.all()[1]), "leak: one");
  EXPECT_EQ(reports.failing(), 0u);
  ReportOptions strict;
  strict.leak_check = true;
  judge(reports, strict);
  EXPECT_EQ(reports.failing(), 2u);
}

TEST(Reports, ExitCodes) {
  Reports fine, same, wrong;
  same.add_launch(launch({hazard("same value", 5, 5)}));
  wrong.add_launch(launch({hazard("global-memory race", 5, 5)}));
  for (Reports* reports : {&fine, &same, &wrong}) judge(*reports, {});
  ReportOptions options;
  EXPECT_EQ(judged_exit_code(0, fine, options), 0);
  EXPECT_EQ(judged_exit_code(0, same, options), 0);
  EXPECT_EQ(judged_exit_code(0, wrong, options), 1);
  EXPECT_EQ(judged_exit_code(7, wrong, options), 7);
  options.error_exit_code = 42;
  EXPECT_EQ(judged_exit_code(0, same, options), 0);
  EXPECT_EQ(judged_exit_code(0, wrong, options), 42);
  EXPECT_EQ(judged_exit_code(7, wrong, options), 42);
  options.error_exit_code = 0;
  EXPECT_EQ(judged_exit_code(0, wrong, options), 0);
  // Device code that was refused is no hazard, but wrong as well.
  fine.add_failure("refused");
  EXPECT_EQ(judged_exit_code(0, fine, {}), 1);
}

std::string error_of(const std::string& text) {
  try {
    parse_suppressions(text, "file");
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "none";
}

TEST(Suppressions, AreParsed) {
  const auto parsed = parse_suppressions(
      "# a comment\n\n{\n  old sum\n  rung:shared-memory-race\n  fun:reduce<*>\n"
      "  src:sum.cu:5\n  src:sum.cu:*\n}\r\n{\nname\nrung:*\n}",
      "file");
  ASSERT_EQ(parsed.size(), 2u);
  EXPECT_EQ(parsed[0].name, "old sum");
  EXPECT_EQ(parsed[0].kind, "shared-memory-race");
  EXPECT_EQ(parsed[0].kernel, "reduce<*>");
  EXPECT_EQ(parsed[0].sources, (std::vector<std::string>{"sum.cu:5", "sum.cu:*"}));
  EXPECT_EQ(parsed[1].name, "name");
}

TEST(Suppressions, ErrorsNameTheLine) {
  EXPECT_EQ(error_of("nonsense"), "file:1: 'nonsense': expected {");
  EXPECT_EQ(error_of("{\n}"), "file:2: '}': expected a name");
  EXPECT_EQ(error_of("{\nname\nmemcheck:x\n}"), "file:3: 'memcheck:x': expected rung:KIND");
  EXPECT_EQ(error_of("{\nname\nrung:trap\n"), "file:3: the end of the file: expected }");
  EXPECT_EQ(error_of("{\nname\nrung:trap\nobj:x\n}"),
            "file:4: 'obj:x': expected fun:KERNEL once, src:FILE:LINE, or }");
  EXPECT_EQ(error_of("{\nname\nrung:trap\nfun:a\nfun:b\n}"),
            "file:5: 'fun:b': expected fun:KERNEL once, src:FILE:LINE, or }");
  EXPECT_EQ(error_of("{\nname\nrung:trap\nsrc:a\nsrc:a\nsrc:a\n}"),
            "file:6: 'src:a': expected at most two lines of src:");
  EXPECT_THROW(read_suppressions("/there/is/none"), std::invalid_argument);
}

bool is_suppressed(const std::string& lines) {
  Reports reports;
  reports.add_launch(launch({hazard("shared-memory race", 5, 17)}));
  ReportOptions options;
  options.suppressions = parse_suppressions("{\nname\n" + lines + "\n}", "file");
  judge(reports, options);
  const Report& report = reports.all()[0];
  EXPECT_EQ(report.fails, report.suppressed_by.empty());
  return report.suppressed_by == "name";
}

TEST(Suppressions, Match) {
  EXPECT_TRUE(is_suppressed("rung:shared-memory-race"));
  EXPECT_TRUE(is_suppressed("rung:*-race"));
  EXPECT_FALSE(is_suppressed("rung:global-memory-race"));
  EXPECT_FALSE(is_suppressed("rung:shared"));
  EXPECT_TRUE(is_suppressed("rung:*\nfun:reduce<*>"));
  EXPECT_TRUE(is_suppressed("rung:*\nfun:*e*e<?nt>*"));
  EXPECT_FALSE(is_suppressed("rung:*\nfun:reduce"));
  EXPECT_TRUE(is_suppressed("rung:*\nsrc:sum.cu:5"));
  EXPECT_TRUE(is_suppressed("rung:*\nsrc:sum.cu:17"));  // of either party
  EXPECT_TRUE(is_suppressed("rung:*\nsrc:sum.cu:17\nsrc:sum.cu:5"));
  EXPECT_FALSE(is_suppressed("rung:*\nsrc:sum.cu:5\nsrc:sum.cu:5"));
  EXPECT_FALSE(is_suppressed("rung:*\nsrc:sum.cu:7"));
  EXPECT_TRUE(is_suppressed("rung:*\nsrc:sum.cu"));
  EXPECT_TRUE(is_suppressed("rung:*\nsrc:*.cu:1?"));
  EXPECT_FALSE(is_suppressed("rung:*\nsrc:*.cpp"));
}

TEST(Suppressions, GeneratedOnesMatch) {
  for (const Json& one : {hazard("shared-memory race", 5, 17), hazard("out of bounds", 5, 0)}) {
    Reports reports;
    reports.add_launch(launch({one}));
    ReportOptions options;
    options.suppressions = parse_suppressions(suppression_for(reports.all()[0]), "generated");
    judge(reports, options);
    EXPECT_EQ(reports.failing(), 0u);
    EXPECT_EQ(reports_summary(reports, options),
              "rung emu: suppressed by <insert_a_suppression_name_here>: 1 report\n");
    EXPECT_EQ(reports_text(reports, options), "");
  }
  Reports leaks;
  leaks.add_hazard(leak(3, 100));
  EXPECT_EQ(suppression_for(leaks.all()[0]),
            "{\n   <insert_a_suppression_name_here>\n   rung:leak\n   fun:cudaMalloc\n"
            "   src:main.cu:3\n}\n");
}

ProgramRun run_in(const fs::path& root) {
  ProgramRun run;
  run.program = "a<b>.cu";
  run.command = {"a", "1"};
  run.exit_code = 3;
  run.root = root;
  return run;
}

TEST(OutputFormats, Junit) {
  Reports reports;
  reports.add_launch(launch({hazard("shared-memory race", 5, 7), hazard("same value", 9, 9)}));
  reports.add_launch(launch({}, "copy"));
  reports.add_hazard(leak(3, 100));
  judge(reports, {});
  const std::string xml = to_junit(reports, run_in("/project"));
  const auto expect = [&](const std::string& part) {
    EXPECT_NE(xml.find(part), std::string::npos) << part << "\nis not in\n" << xml;
  };
  expect("<testsuite name=\"a&lt;b&gt;.cu\" tests=\"4\" failures=\"2\" errors=\"0\"");
  expect("<testcase classname=\"a&lt;b&gt;.cu\" name=\"reduce&lt;int&gt;\" file=\"src/sum.cu\"");
  expect(
      "<failure type=\"shared-memory race\" message=\"shared-memory race: at 5\">"
      "shared-memory race: at 5</failure>");
  expect("<system-out>same value: at 9</system-out>");
  expect("name=\"copy\" time=\"0.500000\">\n    </testcase>");
  expect(
      "name=\"device memory is freed\" file=\"src/main.cu\" time=\"0.000000\">\n"
      "      <system-out>leak: one</system-out>");
  expect("<failure type=\"exit code\" message=\"ended with exit code 3\">");
}

TEST(OutputFormats, Sarif) {
  Reports reports;
  reports.add_launch(launch({hazard("shared-memory race", 5, 7), hazard("same value", 9, 9)}));
  reports.add_launch(launch({hazard("shared-memory race", 5, 7), hazard("trap", 11, 0)}));
  ReportOptions options;
  options.suppressions = parse_suppressions("{\nmeant\nrung:trap\n}", "file");
  judge(reports, options);
  const Json sarif = to_sarif(reports, run_in("/project"));
  EXPECT_EQ(sarif.at("version"), "2.1.0");
  ASSERT_EQ(sarif.at("runs").size(), 1u);
  const Json& run = sarif.at("runs").at(0);
  const Json& rules = run.at("tool").at("driver").at("rules");
  ASSERT_EQ(rules.size(), 3u);
  const Json& results = run.at("results");
  ASSERT_EQ(results.size(), 3u);
  for (const Json& result : results) {
    EXPECT_EQ(rules.at(result.at("ruleIndex").get<std::size_t>()).at("id"), result.at("ruleId"));
  }
  const Json& race = results.at(0);
  EXPECT_EQ(race.at("ruleId"), "shared-memory-race");
  EXPECT_EQ(race.at("level"), "error");
  EXPECT_EQ(race.at("occurrenceCount"), 2);
  const Json& place = race.at("locations").at(0).at("physicalLocation");
  EXPECT_EQ(place.at("artifactLocation").at("uri"), "src/sum.cu");
  EXPECT_EQ(place.at("artifactLocation").at("uriBaseId"), "%SRCROOT%");
  EXPECT_EQ(place.at("region").at("startLine"), 5);
  EXPECT_EQ(race.at("locations").at(0).at("logicalLocations").at(0).at("name"), "reduce<int>");
  EXPECT_EQ(race.at("relatedLocations").at(0).at("physicalLocation").at("region").at("startLine"),
            7);
  EXPECT_FALSE(race.contains("suppressions"));
  EXPECT_EQ(results.at(1).at("level"), "note");
  EXPECT_EQ(results.at(2).at("suppressions").at(0).at("justification"), "meant");
  EXPECT_EQ(run.at("originalUriBaseIds").at("%SRCROOT%").at("uri"), "file:///project/");
  EXPECT_EQ(run.at("invocations").at(0).at("exitCode"), 3);
}

TEST(OutputFormats, FilesAreNamedFromTheRoot) {
  EXPECT_EQ(relative_name("/project/a/b.cu", "/project"), "a/b.cu");
  EXPECT_EQ(relative_name("/project/a/../b.cu", "/project"), "b.cu");
  EXPECT_EQ(relative_name("/projects/b.cu", "/project"), "/projects/b.cu");
  EXPECT_EQ(relative_name("", "/project"), "");
  EXPECT_EQ(uri_of("a b/ü%.cu"), "a%20b/%C3%BC%25.cu");
  EXPECT_EQ(uri_of("/a/b.cu"), "file:///a/b.cu");
  const fs::path folder = fs::temp_directory_path() / "rung_reports_test";
  fs::create_directories(folder / "top/.git");
  fs::create_directories(folder / "top/build");
  EXPECT_EQ(report_root(folder / "top/build"), fs::canonical(folder / "top"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace rung::emu
