#pragma once
// Runs `rung emu` on a program of this folder.

#include <nlohmann/json.hpp>
#include <string>

namespace rung {

struct EmuOutput {
  int exit_code = -1;
  std::string out, err;
  nlohmann::ordered_json json;  // the output of --json; null if there was no output
};

/// Runs `program`, a path that is absolute or relative to tests/emu. The command line is `options`,
/// `program`, --, `arguments`.
EmuOutput run_emu(const std::string& program, const std::string& options = "",
                  const std::string& arguments = "");

/// Runs a program of programs/. Expects exit code 0, hence no hazards, and this output.
EmuOutput expect_output(const std::string& program, const std::string& expected,
                        const std::string& options = "", const std::string& arguments = "");

}  // namespace rung
