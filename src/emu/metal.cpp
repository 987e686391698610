#include "emu/metal.hpp"

#include <fmt/format.h>

#include <fstream>
#include <regex>

#include "emu/device_code.hpp"
#include "emu/toolchain.hpp"

namespace rung::emu {

namespace fs = std::filesystem;

std::string metal_source(std::string_view text, std::string_view name) {
  // A variable or an array in threadgroup memory, and an argument of which the dispatch says the
  // length.
  static const std::regex storage(
      R"((^|[;{}\n])([ \t\n]*)threadgroup +([A-Za-z_][A-Za-z0-9_:<>, ]*[ >]))"
      R"(([A-Za-z_][A-Za-z0-9_]*)(\[|;))");
  static const std::regex argument(R"(\[\[ *threadgroup *\()");
  std::string changed =
      std::regex_replace(std::string(text), storage, "$1$2RUNG_METAL_THREADGROUP $3$4$5");
  changed = std::regex_replace(changed, argument, "[[RUNG_METAL_THREADGROUP_ARGUMENT(");
  return fmt::format("#line 1 \"{}\"\n{}", name, changed);
}

std::string compile_metal(const std::string& source, const std::vector<std::string>& options,
                          const fs::path& folder) {
  const fs::path emu = find_installation().library.parent_path();
  const fs::path unit = folder / "unit.cpp", ptx = folder / "unit.ptx";
  std::ofstream(unit) << source;
  // As in cmake/MetalRungs.cmake.
  std::vector<std::string> command = {find_clang(),
                                      "--target=nvptx64-nvidia-cuda",
                                      "-march=sm_80",
                                      "-Xclang",
                                      "-target-feature",
                                      "-Xclang",
                                      "+ptx70",
                                      "-x",
                                      "c++",
                                      "-std=c++14",
                                      "-nostdinc",
                                      "-fno-exceptions",
                                      "-fno-rtti",
                                      "-Xclang",
                                      "-fconvergent-functions",
                                      "-D__METAL_VERSION__=320",
                                      "-I" + (emu / "metal").string(),
                                      "-I" + (emu / "kernels").string(),
                                      "-Wall",
                                      "-Wno-unused-const-variable",
                                      "-Wno-duplicate-decl-specifier",
                                      "-gline-tables-only",
                                      "-O3",
                                      "-ffp-contract=fast",
                                      "-S"};
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), {unit.string(), "-o", ptx.string()});
  run_compiler(command);
  return read_file(ptx);
}

}  // namespace rung::emu
