// Hazard reports and exit codes of `rung emu`, and of programs that rung-nvcc has compiled.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "emu_program.hpp"

namespace rung {
namespace {

namespace fs = std::filesystem;

class ReportsOfPrograms : public testing::Test {
 protected:
  ReportsOfPrograms()
      : folder_(fs::temp_directory_path() / ("rung_reports_" + std::to_string(getpid()))) {
    fs::create_directory(folder_);
  }
  ~ReportsOfPrograms() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string read(const std::string& name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }
  /// The exit code of a command in the folder, whose output goes to the files "out" and "err".
  int run(const std::string& command) const {
    const std::string all = "cd '" + folder_.string() + "' && (" + command + ") >out 2>err";
    const int status = std::system(all.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  fs::path folder_;
};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++found;
  return found;
}

void expect_in(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in:\n" << text;
}

TEST_F(ReportsOfPrograms, SameValuesAreToldAndDoNotFail) {
  const EmuOutput same = run_emu("faulty/same_value.cu");
  EXPECT_EQ(same.exit_code, 0);
  expect_in(same.err,
            "\nsame value: write by thread (32,0,0) of block (0,0,0) at same_value.cu:6,");
  expect_in(same.err, "rung emu: 1 write of the same value does not fail the program\n");
  EXPECT_EQ(same.json.at("reports").at(0).at("fails"), false);
  const EmuOutput wrong = run_emu("faulty/same_value.cu", "-DWRONG");
  EXPECT_EQ(wrong.exit_code, 1);
  expect_in(wrong.err, "global-memory race: ");
}

TEST_F(ReportsOfPrograms, LaunchesAreMergedAndNamesReadable) {
  const std::string options = "--gen-suppressions --error-exitcode 77 --junit " +
                              path("junit.xml") + " --sarif " + path("hazards.sarif");
  const EmuOutput output = run_emu("faulty/race_in_launches.cu", options);
  EXPECT_EQ(output.exit_code, 77);
  EXPECT_EQ(count(output.err, "shared-memory race: "), 1u) << output.err;
  expect_in(output.err, " buffer + 128: ");
  expect_in(output.err, " times, in launches 1-3)\n");
  expect_in(output.err,
            "leak: 768 bytes in 3 allocations from cudaMalloc at race_in_launches.cu:14 were never "
            "freed\n");
  expect_in(output.err,
            "   rung:shared-memory-race\n   fun:sums::reverse<float, 64>\n"
            "   src:race_in_launches.cu:");
  const auto& reports = output.json.at("reports");
  EXPECT_EQ(reports.at(0).at("kernel"), "sums::reverse<float, 64>");
  EXPECT_EQ(reports.at(0).at("launches"), (std::vector<int>{1, 2, 3}));
  // Each launch keeps its own hazards.
  for (const auto& kernel : output.json.at("kernels")) EXPECT_FALSE(kernel.at("hazards").empty());
  expect_in(read("junit.xml"), "name=\"sums::reverse&lt;float, 64&gt;\"");
  expect_in(read("junit.xml"), "message=\"ended with exit code 5\"");
  const auto sarif = nlohmann::ordered_json::parse(read("hazards.sarif"));
  const auto& place = sarif.at("runs").at(0).at("results").at(0).at("locations").at(0);
  const std::string uri = place.at("physicalLocation").at("artifactLocation").at("uri");
  EXPECT_EQ(fs::path(uri).filename(), "race_in_launches.cu");
  EXPECT_GT(place.at("physicalLocation").at("region").at("startLine"), 5);

  // With the printed suppressions, the run ends with the program's own exit code.
  const std::size_t begin = output.err.find("{\n");
  write("all.supp", output.err.substr(begin, output.err.rfind("}\n") + 2 - begin));
  const EmuOutput quiet =
      run_emu("faulty/race_in_launches.cu",
              "--leak-check --error-exitcode 77 --suppressions " + path("all.supp"));
  EXPECT_EQ(quiet.exit_code, 5) << quiet.err;
  EXPECT_EQ(count(quiet.err, "shared-memory race: "), 0u);
  EXPECT_EQ(count(quiet.err, "leak: "), 0u);
  expect_in(quiet.err, "rung emu: suppressed by <insert_a_suppression_name_here>: ");
}

// Most launches share records, unless a record of each is requested.
TEST_F(ReportsOfPrograms, ManyLaunchesAreCountedAndNumbered) {
  const std::string program = RUNG_EMU_PROGRAMS "/faulty/race_in_late_launches.cu";
  EXPECT_EQ(run("'" RUNG_PROGRAM "' emu '" + program + "'"), 1);
  expect_in(read("err"), " times, in launches 100 and 102)\n");
  expect_in(read("err"), "add_one     1     64    300 ");
  EXPECT_EQ(run("'" RUNG_PROGRAM "' emu --launches 50 '" + program + "'"), 1);  // its own
  expect_in(read("err"), "add_one     1     64     50 ");
  expect_in(read("err"), "add_one: 250 launches skipped after 50");
  const EmuOutput each = run_emu("faulty/race_in_late_launches.cu");
  expect_in(each.err, " times, in launches 100 and 102)\n");
  EXPECT_EQ(each.json.at("kernels").size(), 300u);

  ASSERT_EQ(run(RUNG_NVCC " '" + program + "' -o program"), 0) << read("err");
  EXPECT_EQ(run("./program"), 0);
  expect_in(read("err"), " times, in launches 100 and 102)\n");
}

TEST_F(ReportsOfPrograms, EndsWithoutDestructorsAreReportedLikeOthers) {
  const std::string program = RUNG_EMU_PROGRAMS "/faulty/ends_early.cu";
  ASSERT_EQ(run(RUNG_NVCC " '" + program + "' -o program"), 0) << read("err");
  for (const std::string end : {"exit", "_exit", "_Exit", "quick_exit"}) {
    EXPECT_EQ(run("'" RUNG_PROGRAM "' emu '" + program + "' -- " + end), 4) << end;
    expect_in(read("err"), " times, in launches 100 and 102)\n");
    expect_in(read("err"), "add_one     1     64    300 ");
    EXPECT_EQ(count(read("err"), "leak: 4 bytes"), 1u) << read("err");
    // Without `rung emu`.
    EXPECT_EQ(run("./program " + end), 4) << end;
    EXPECT_EQ(count(read("err"), " times, in launches 100 and 102)\n"), 2u) << read("err");
    EXPECT_EQ(run("RUNG_EMU_ERROR_EXITCODE=9 ./program " + end), 9) << end;
  }
}

TEST_F(ReportsOfPrograms, WrongOptionsAreRefusedBeforeTheRun) {
  write("wrong.supp", "{\nname\n}\n");
  const auto refused = [&](const std::string& options, const std::string& message) {
    const EmuOutput output = run_emu("faulty/leak.cu", options);
    EXPECT_EQ(output.exit_code, 2);
    expect_in(output.err, message);
  };
  refused("--suppressions " + path("none.supp"),
          "--suppressions: " + path("none.supp") + ": No such");
  refused("--suppressions " + path("wrong.supp"), "wrong.supp:3: '}': expected rung:KIND");
  refused("--error-exitcode 256", "--error-exitcode");
  refused("--junit " + path("same") + " --sarif " + path("same"), "--junit");
}

TEST_F(ReportsOfPrograms, ProgramsOfRungNvccReportThemselves) {
  ASSERT_EQ(run(RUNG_NVCC " " RUNG_EMU_PROGRAMS "/faulty/race_in_launches.cu -o program"), 0)
      << read("err");
  // Run alone, the program reports hazards and keeps its own exit code.
  EXPECT_EQ(run("./program"), 5);
  EXPECT_EQ(count(read("err"), "shared-memory race: "), 1u) << read("err");
  EXPECT_EQ(count(read("err"), "leak: "), 0u);
  EXPECT_EQ(run("RUNG_EMU_LEAK_CHECK=1 RUNG_EMU_ERROR_EXITCODE=9 RUNG_EMU_GEN_SUPPRESSIONS=1 "
                "RUNG_EMU_JUNIT=junit-%p.xml RUNG_EMU_SARIF=program.sarif ./program"),
            9);
  const std::string err = read("err");
  EXPECT_EQ(count(err, "leak: "), 1u) << err;
  EXPECT_TRUE(nlohmann::ordered_json::parse(read("program.sarif"), nullptr, false).is_object());
  std::size_t junits = 0;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    const std::string name = entry.path().filename().string();
    junits += name.starts_with("junit-") && name.find('%') == name.npos ? 1 : 0;
  }
  EXPECT_EQ(junits, 1u);
  const std::size_t begin = err.find("{\n");
  write("all.supp", err.substr(begin, err.rfind("}\n") + 2 - begin));
  EXPECT_EQ(run("RUNG_EMU_LEAK_CHECK=1 RUNG_EMU_ERROR_EXITCODE=9 "
                "RUNG_EMU_SUPPRESSIONS=:all.supp ./program"),
            5);
  EXPECT_EQ(run("RUNG_EMU_ERROR_EXITCODE=x ./program"), 2);
  expect_in(read("err"), "RUNG_EMU_ERROR_EXITCODE: 'x' is not an integer from 0 to 255");
  EXPECT_EQ(run("RUNG_EMU_GPU=x ./program"), 2);
  expect_in(read("err"), "rung emu: RUNG_EMU_GPU: 'x' is not one of");
  EXPECT_EQ(run("RUNG_EMU_SUPPRESSIONS=/nowhere ./program"), 2);
  expect_in(read("err"), "rung emu: RUNG_EMU_SUPPRESSIONS: /nowhere: No such file");
  EXPECT_EQ(run("RUNG_EMU_REPORT=/nowhere/report ./program"), 5);
  EXPECT_EQ(count(read("err"), "RUNG_EMU_REPORT: '/nowhere/report' cannot be written: No"), 1u);
  for (const std::string flag :
       {"LEAK_CHECK", "GEN_SUPPRESSIONS", "CHECK", "LINES", "STEPS", "ALLOW_UNCHECKED_ERRORS"}) {
    EXPECT_EQ(run("RUNG_EMU_" + flag + "=yes ./program"), 2) << flag;
    EXPECT_EQ(read("err"), "rung emu: RUNG_EMU_" + flag + ": 'yes' is neither 0 nor 1\n");
  }
}

}  // namespace
}  // namespace rung
