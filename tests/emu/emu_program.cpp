#include "emu_program.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace rung {
namespace {

std::string take_file(const std::string& path) {
  std::string text;
  {
    std::ifstream file(path);
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  std::filesystem::remove(path);
  return text;
}

}  // namespace

EmuOutput run_emu(const std::string& program, const std::string& options,
                  const std::string& arguments) {
  const std::string stem =
      (std::filesystem::temp_directory_path() / ("rung_emu_" + std::to_string(getpid()))).string();
  const std::string path = (std::filesystem::path(RUNG_EMU_PROGRAMS) / program).string();
  const std::string command = std::string("'") + RUNG_PROGRAM + "' emu " + options + " --json " +
                              stem + ".json '" + path + "' -- " + arguments + " </dev/null >" +
                              stem + ".out 2>" + stem + ".err";
  const int status = std::system(command.c_str());
  EmuOutput output;
  if (WIFEXITED(status)) output.exit_code = WEXITSTATUS(status);
  output.out = take_file(stem + ".out");
  output.err = take_file(stem + ".err");
  output.json = nlohmann::ordered_json::parse(take_file(stem + ".json"), nullptr, false);
  if (output.json.is_discarded()) output.json = nullptr;
  return output;
}

EmuOutput expect_output(const std::string& program, const std::string& expected,
                        const std::string& options, const std::string& arguments) {
  EmuOutput output = run_emu("programs/" + program, options, arguments);
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_EQ(output.out, expected) << output.err;
  return output;
}

}  // namespace rung
