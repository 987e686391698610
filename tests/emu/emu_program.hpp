#pragma once
// Runs `rung emu` on a program of this folder.

#include <nlohmann/json.hpp>
#include <string>

namespace rung {

struct EmuOutput {
  int exit_code = -1;
  std::string out, err;
  nlohmann::ordered_json json;  // what --json wrote; null if nothing
};

/// `program` lies in tests/emu, if its path is not absolute; `options` stand before it, `arguments`
/// after --.
EmuOutput run_emu(const std::string& program, const std::string& options = "",
                  const std::string& arguments = "");

}  // namespace rung
